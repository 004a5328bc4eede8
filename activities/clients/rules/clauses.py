"""Clauses: who does what, in which tense, whether it is denied, wished, planned or over.

A clause begins at a subject and its verb; what stands before the first one is left alone. It is
shallow on purpose: where the words leave it open who did what, there is no clause.
"""

# ruff: noqa: SIM905 (word lists read best as text)

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnestic.activities.clients.rules.lexing import Word
from mnestic.activities.clients.rules.namesakes import is_name, name_at
from mnestic.activities.clients.rules.people import Cast
from mnestic.activities.clients.rules.subjects import Subject, Subjects
from mnestic.activities.clients.rules.verb_groups import VerbGroup, verb_at
from mnestic.activities.clients.rules.verbs import FORMS, OPAQUE
from mnestic.memory.language.dates import DateMention

_MARKS = frozenset(", ; : ( ) – — - . ! …".split()) | {"…"}  # noqa: RUF001
_LINKS = frozenset(
    "and but so because since while when whenever although though as until before after where or that "
    "which who then yet plus".split()
)
_TEACHING = frozenset({"learn", "discover"})  # what is learned is told as a whole
_WHOLE = _TEACHING | {"give"}  # and so is of what notice is given
_DROPPED_LINKS = frozenset("when whenever while until before after where that as or than".split())
_OPENERS = frozenset(
    "also now well yes no oh actually currently recently lately nowadays anyway honestly meanwhile luckily "
    "fortunately sadly unfortunately finally still today tonight yesterday originally basically personally "
    "btw hey hi hello lol haha wow later soon sometimes usually often just thanks days moment again too "
    "really ok okay yeah sorry correction wait".split()
)
_LEADING = frozenset(
    "to in at on for after before during since from these nowadays back last this".split()
)
_INVERTED = frozenset(
    "do does did am is are was were have has had can could will would should may might than as "
    "nor neither if unless whether how what why where which who whose whom".split()
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, its verb, and the rest of the clause with dates blanked out, each by a bar.

    `start` and `end` are characters of the message; `link` is the word that joins it to what is before;
    `phrase` is the rest from the verb on that is planned or wished.
    """

    subject: Subject
    verb: VerbGroup
    rest: str
    phrase: str
    start: int
    end: int
    link: str
    dates: tuple[DateMention, ...]


@dataclass(slots=True)
class _Head:
    subject: Subject
    verb: VerbGroup
    index: int
    link: str
    is_elided: bool = False


def clauses_of(
    words: Sequence[Word], *, text: str, cast: Cast, dates: Sequence[DateMention]
) -> list[Clause]:
    """The clauses of a sentence that state something by themselves.

    Args:
        words: Of the sentence.
        text: The whole message, masked.
        cast: Whom the message speaks of.
        dates: That the message names.
    """
    if not words:
        return []
    reader = _Reader(words, cast, dates)
    heads = reader.heads()
    clauses = []
    zone = words[0].start
    opaque = False
    for number, head in enumerate(heads):
        is_last = number + 1 == len(heads)
        following = len(words) if is_last else reader.begin(heads[number + 1].index)
        last = _last_word(words, following)
        if (
            head.verb.lemma in _WHOLE
            and words[last + 1 : last + 2]
            and words[last + 1].low == "that"
        ):
            last = _last_word(words, len(words))
        end = words[last].end
        is_filler = head.verb.lemma == "know" and head.subject.person == "second"
        governs = (head.verb.lemma in OPAQUE and not is_filler) or head.verb.mood == "modal"
        opaque = _stays_opaque(head, opaque)
        if not opaque and not governs and head.link not in _DROPPED_LINKS:
            clauses.append(_clause(head, words, text=text, dates=dates, zone=(zone, end)))
        opaque = opaque or (head.verb.lemma in OPAQUE | _TEACHING and not is_filler)
        zone = end
    return clauses


def _stays_opaque(head: _Head, opaque: bool) -> bool:
    """Somebody's thought goes on until the speaker takes up the word again."""
    return opaque and not (
        head.link in {"but", "and", ";", "so"}
        and head.subject.person == "first"
        and not head.is_elided
    )


def _clause(
    head: _Head,
    words: Sequence[Word],
    *,
    text: str,
    dates: Sequence[DateMention],
    zone: tuple[int, int],
) -> Clause:
    start, end = zone
    first = words[head.index].start
    own = tuple(
        date
        for date in dates
        if start <= date.start < end
        and (date.start >= first or _leads(date, words, start=start, dates=dates))
    )
    following, phrase = head.verb.following, head.verb.phrase
    begin = words[following].start if following < len(words) else end
    rest = _without_dates(text[begin:end], own, begin)
    planned = _without_dates(text[words[phrase].start : end], own, words[phrase].start)
    if head.link == "which":
        rest = rest.partition(",")[0]
    start = min([first, *(date.start for date in own)])
    return Clause(head.subject, head.verb, rest, planned, start, end, head.link, own)


def _leads(
    date: DateMention, words: Sequence[Word], *, start: int, dates: Sequence[DateMention]
) -> bool:
    """Whether a date begins its part of the sentence, as in "On Monday, I start"; else it is of other words."""
    segment: list[str] = []
    for word in words:
        if start <= word.start < date.start:
            is_dated = any(each.start <= word.start < each.end for each in dates)
            is_new = word.low in _MARKS or word.low in _LINKS
            segment = [] if is_new or is_dated else [*segment, word.low]
    return all(low in _OPENERS or low in _LEADING for low in segment)


def _without_dates(text: str, dates: Sequence[DateMention], begin: int) -> str:
    for date in dates:
        left, right = date.start - begin, min(date.end - begin, len(text))
        if 0 <= left < right:
            text = f"{text[:left]}|{' ' * (right - left - 1)}{text[right:]}"
    return text


def _last_word(words: Sequence[Word], index: int) -> int:
    """The last word before the next clause, its mark or link left out."""
    last = index - 1
    while last > 0 and (words[last].low in _LINKS or words[last].low in _MARKS):
        last -= 1
    return last


class _Reader:
    """Finds where the clauses of a sentence begin."""

    def __init__(self, words: Sequence[Word], cast: Cast, dates: Sequence[DateMention]) -> None:
        self._words, self._cast = words, cast
        self._subjects = Subjects(words, cast)
        inside = [(date.start, date.end) for date in dates]
        self._dated = {
            index
            for index, word in enumerate(words)
            if any(start <= word.start < end for start, end in inside)
        }

    def heads(self) -> list[_Head]:
        found: list[_Head] = []
        index = 0
        while index < len(self._words):
            head = self._head(index, found[-1] if found else None)
            if head is None:
                index += 1
            else:
                found.append(head)
                index = max(head.verb.following, index + 1)
        return found

    def _head(self, index: int, before: _Head | None) -> _Head | None:
        link = self._link(index)
        if link is None:
            return None
        word = self._words[index]
        if word.low in {"who", "which"} and index:
            return self._relative(index)
        if word.low in _LINKS or word.low in _MARKS:
            return None
        dropped = self._dropped(index, before, link)
        found = None if dropped else self._subjects.at(index)
        if found is None:
            return dropped or self._elided(index, before, link)
        subject, place = found
        if word.low == "it" and before is not None and before.verb.is_negated:
            subject = before.subject if before.subject.noun else subject  # "isn't blue, it's green"
        if link == "and" and before is not None:  # "I love Rome and I …": who goes with "I" is open
            subject = subject.alone()
        person = "noun" if subject.noun else subject.person
        verb = verb_at(self._words, place, person=person, is_plural=bool(subject.with_speaker))
        return None if verb is None else _Head(subject, verb, index, link)

    def _link(self, index: int) -> str | None:
        """What joins a clause that may begin here to the one before; None where none can begin."""
        if not index:
            return ""
        word, before = self._words[index], self._words[index - 1]
        if self._is_joint(index - 1):
            return before.low
        if before.low in _OPENERS or index - 1 in self._dated:
            begin = self.begin(index)
            return self._words[begin - 1].low if begin and self._is_joint(begin - 1) else ""
        if word.low in {"i", "we"} and before.low not in _INVERTED and self._is_led(index):
            return ""
        return None

    def begin(self, index: int) -> int:
        """Where the words begin that lead up to a clause, such as "since Monday"."""
        while index and (index - 1 in self._dated or self._words[index - 1].low in _OPENERS):
            index -= 1
        return index

    def _is_joint(self, index: int) -> bool:
        return index not in self._dated and (
            self._words[index].low in _LINKS or self._words[index].low in _MARKS
        )

    def _is_led(self, index: int) -> bool:
        """Whether only a phrase with a preposition stands between here and the last mark."""
        start = index
        while start and self._words[start - 1].low not in _MARKS and index - start < 6:  # noqa: PLR2004
            start -= 1
        return self._words[start].low in _LEADING and not any(
            word.low in _INVERTED for word in self._words[start:index]
        )

    def _relative(self, index: int) -> _Head | None:
        """A clause after "who" or "which", about the one or the thing just named."""
        place = index - 1
        if self._words[place].low == ",":
            place -= 1
        end = self._words[place].end
        names = [bond.subject for bond in self._cast.bonds if bond.end == end]
        if not names and is_name(self._words[place]) and self._words[index].low == "who":
            start = place
            while start and is_name(self._words[start - 1]):
                start -= 1
            name, _ = name_at(self._words, start)
            name_of_subject = self._cast.subject_of(name, at=self._words[start].start)
            names = [name_of_subject] if name_of_subject else []
        noun = "" if names else self._subjects.noun_before(place)
        if index + 1 >= len(self._words):
            return None
        verb = verb_at(self._words, index + 1, person="third")
        if verb is None:
            return None
        return _Head(Subject(tuple(names[:1]), noun), verb, index, "which")

    def _dropped(self, index: int, before: _Head | None, link: str) -> _Head | None:
        """As in "Sold my car" and "handed in my thesis": what is "my" tells that the speaker is the one."""
        low = self._words[index].low
        if before is not None or link or not any(form == "past" for _, form in FORMS.get(low, ())):
            return None
        verb = verb_at(self._words, index, person="first")
        lows = [word.low for word in self._words[index + 1 : index + 3]]
        owner = lows[1:] if lows[:1] == ["in"] else lows[:1]
        if verb is None or verb.tense != "past" or owner not in (["my"], ["our"]):
            return None
        subject = Subject((self._cast.speaker,), person="first", is_plural=owner == ["our"])
        return _Head(subject, verb, index, link)

    def _elided(self, index: int, before: _Head | None, link: str) -> _Head | None:
        """As in "… and work at Acme": the subject of the clause before goes on."""
        if before is None or link not in {"and", "but", "then", ","} or before.verb.lemma == "":
            return None
        word = self._words[index]
        object_word = self._words[min(before.verb.following, index)].low
        if object_word in {"the", "this", "your", "that", "these", "those"} and link == "and":
            return None  # "the self-acceptance and love theme"
        if link == "," or (
            word.low not in FORMS and word.low not in {"have", "has", "am", "is", "was"}
        ):
            return None
        verb = verb_at(
            self._words,
            index,
            person=before.subject.person,
            is_plural=bool(before.subject.with_speaker),
        )
        is_base = any(form == "base" for _, form in FORMS.get(word.low, ()))
        if verb is not None and is_base and before.verb.mood in {"used_to", "plan", "wish"}:
            verb = replace(verb, mood=before.verb.mood, tense=before.verb.tense)
        if (
            verb is None
            or not verb.lemma
            or (verb.tense != before.verb.tense and not self._is_now(index))
            or before.verb.mood != verb.mood
        ):
            return None
        return _Head(before.subject, verb, index, link, is_elided=True)

    def _is_now(self, index: int) -> bool:
        """As in "I studied law and now work as a solicitor"."""
        return self._words[index - 1].low in {"now", "currently"}

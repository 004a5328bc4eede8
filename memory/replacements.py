"""Replacements: whether a later text tells what an earlier one does, of the same thing, and is another by now.

*The bin goes out on Thursdays* is replaced by *The bin goes out on Fridays now*, but not by *The green bin goes out on
Fridays now*. It stands apart from revisions, which only come first: what is replaced is told no more, so one time,
number or name has to be in the place of another, and hardly a word else be different. Where the later one says that
it is so no more (*the key is not under the flowerpot any more*), nothing has to be in its place. It is English alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from mnestic.memory.date_words import MONTHS, WEEKDAYS
from mnestic.memory.numbers import CARDINAL, CARDINALS, ORDINAL
from mnestic.memory.revisions import FROM_ON, OF_CHANGE, is_revision
from mnestic.memory.sentences import split_sentences
from mnestic.memory.terms import terms_of

_BEGINNING = 1000  # characters that are looked at
_SHORTEST_STEM = 4  # characters
# Words in common, or a name, where the later text may leave a word of the earlier one out, as "home" of a home match.
_ENOUGH = 3
_LEAST = 2  # words that a denial shares with what it denies
_MORE = 3  # words and names from where another sentence tells something else

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = rf"(?:{ORDINAL} (?:of )?|\d{{1,2}} )?(?:{_MONTH})\b(?: (?:\d{{1,2}}\b(?!:)|{ORDINAL}))?(?:,? \d{{4}}\b)?|{'|'.join(WEEKDAYS)}"

Kind = Literal["word", "time", "number", "name"]

_CLAUSES = re.compile(r"[,;:\u2013\u2014()]+(?!\d)|\s-\s|\b(?:because|but)\b")
# When it began to be so is no value.
_BEGINS = re.compile(
    rf"\b(?:{FROM_ON}|(?:as of|as from|starting|effective)(?: in| from| on)? (?:{_DATE}))\b",
    re.IGNORECASE,
)
_ONSET = re.compile(
    rf"{_BEGINS.pattern}|\b(?:today|yesterday|this (?:week|month|year|morning)|recently|finally|again)\b",
    re.IGNORECASE,
)
# What comes beside what there was, or is asked, or may be.
_NO_CHANGE = re.compile(
    r"\?|\b(?:also|too|as well|additional(?:ly)?|in addition|on top of|besides|another|second|both|extra|an? new"
    r"|if|whether|maybe|perhaps|would|could|might|should|(?-i:may))\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|never|no|no longer|any ?more|stopped)\b|n['\u2019]t\b", re.IGNORECASE
)
# "I can't eat any more pizza" ends nothing.
_NO_MORE = re.compile(r"\b(?:no longer|anymore)\b|\bany (?:more|longer)\W*$", re.IGNORECASE)
_NOW = re.compile(
    rf"\b(?:now|nowadays|instead|took over|takes over|new|{FROM_ON})\b|{_BEGINS.pattern}",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:changed|moved|switched|migrated|replaced|updated|renamed|upgraded|raised|increased|reduced|lowered"
    r"|extended|postponed|rescheduled)\b",
    re.IGNORECASE,
)
_TO = re.compile(r"\b(?:to|until)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"(?:he|she|they|it)\b", re.IGNORECASE)  # whoever that is
_MANY = re.compile(
    r"\b(?:speaks?|supports?|includes?|offers?|accepts?|sells?|buys?|bought|follows?|manages?|manager|ha[sd]|have|owns?"
    r"|knows?|likes?|loves?|plays?|eats?|drinks?|reads?|visits?|visited|covers?|contains?|uses?)\b",
    re.IGNORECASE,
)
_KINDS_OF_TIME = (
    re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})s?\b", re.IGNORECASE),
    re.compile(rf"\b(?:{_MONTH})\b", re.IGNORECASE),
    re.compile(
        rf"\b\d{{1,2}}[:.]\d\d|\b\d{{1,2}} ?[ap]m\b|\b(?:noon|midnight)\b"
        rf"|(?<=at )(?:half past |quarter (?:past|to) )?{CARDINAL}\b(?![:.]\d| ?[ap]m)",
        re.IGNORECASE,
    ),
)
_ENDING = re.compile(r"(?:ments?|ions?|ing|ed|es|e|s)$")
_TAKER = re.compile(
    r"^(?:(?:and|so)\s+)?(?P<name>[A-Z][\w'-]+)(?= (?:took|takes|has taken|will take) over\b)"
)
_TOKEN = re.compile(r"[^\W_](?:[^\s,;!?()\"\u201c\u201d]*[^\W_])?")
_UNIT = re.compile(r"(?<=\d )[a-z%]+(?: (?:an?|per|each) [a-z]+)?")
_TIME = re.compile(
    rf"\b(?:{_DATE}|(?:{'|'.join(WEEKDAYS)})s?|noon|midnight|\d{{1,2}}[:.]\d\d(?: ?[ap]m)?|\d{{1,2}} ?[ap]m"
    rf"|(?<=at )(?:(?:half past|quarter (?:past|to)) )?{CARDINAL})\b",
    re.IGNORECASE,
)
# What has nothing of this names no time; in lower case, which takes a tenth of the time.
_MAY_BE_TIME = re.compile(rf"\d|day|noon|midnight|at |{_MONTH}")
_JOINT = re.compile(r"\s*(?:(?:and|of|an?|the|per|&)\s+)*")
_PREPOSITION = re.compile(
    r"\b(in|at|on|with|for|from|to|of|by)\s+(?:the\s+|an?\s+)?$", re.IGNORECASE
)
_OWN = re.compile(r"\b(?:I|me|my|mine|I'm)\b", re.IGNORECASE)


class _Word(NamedTuple):
    """What kind of word one is, in which row of words with nothing but articles and *and* between them, and after what."""

    kind: Kind
    row: int
    preposition: str


class _Clause(NamedTuple):
    """A clause by its terms, in their order, and its sentence by number.

    `times` is how many weekdays, months and times of day it names. `has_taker`: somebody takes over in it; `has_many`:
    of what it tells there may be several, as of languages that somebody speaks; `denies`: it says what is not so.
    """

    terms: Mapping[str, _Word]
    sentence: int
    times: tuple[int, ...]
    has_taker: bool
    has_many: bool
    denies: bool


class Told:
    """What a text tells, by its clauses; each part of it is worked out once, when it is first needed."""

    def __init__(self, text: str) -> None:
        self._whole, self._text = text, text[:_BEGINNING]

    @property
    def may_replace(self) -> bool:
        """Whether it says that something has changed, or is so no more."""
        return bool(self.changes or self.denials)

    def prepare(self) -> None:
        """Works out ahead what it says has changed, or is so no more."""
        _ = self.changes, self.denials

    @cached_property
    def changes(self) -> tuple[_Clause, ...]:
        """The clauses that say that something has changed."""
        return tuple(
            clause
            for place, part in self._telling
            if _is_change(part) and (clause := _clause(part, place)).terms
        )

    @cached_property
    def denials(self) -> tuple[_Clause, ...]:
        """The clauses that say that something is so no more."""
        return tuple(
            clause
            for place, part in self._telling
            if _NO_MORE.search(part) and not _PRONOUN.match(part)
            if (clause := _clause(part, place)).denies
        )

    @cached_property
    def _telling(self) -> Sequence[tuple[int, str]]:
        """The parts of sentences that may say either, each with its sentence's number."""
        return [
            (place, part)
            for place, sentence in enumerate(split_sentences(self._text))
            if is_revision(sentence) or _BEGINS.search(sentence)  # else no part of it does
            if not _NO_CHANGE.search(sentence)
            for part in _parts(sentence)
        ]

    @cached_property
    def clauses(self) -> tuple[_Clause, ...]:
        """All clauses."""
        return tuple(
            clause
            for place, sentence in enumerate(split_sentences(self._text))
            for part in _parts(sentence)
            if (clause := _clause(part, place)).terms
        )

    @cached_property
    def terms(self) -> frozenset[str]:
        """All terms."""
        return frozenset(map(_stem, terms_of(self._text)))

    @cached_property
    def begins_later(self) -> bool:
        """Whether it tells from when on something is so, as in *from June on*."""
        return _BEGINS.search(self._whole) is not None

    @cached_property
    def is_own(self) -> bool:
        """Whether it speaks of whoever tells it."""
        return _OWN.search(self._text) is not None


def replaces(new: Told, old: Told, *, by_same: bool) -> bool:
    """Whether a later text, which says that something changed, tells something else in the place of an earlier one, or denies it.

    Args:
        new: The later text.
        old: The earlier one.
        by_same: Whether the same person said both, so that *my* is the same one's.
    """
    if not by_same and (new.is_own or old.is_own):
        return False
    added = [(change, kind) for change in new.changes if (kind := _added(change, old.terms))]
    if not added and not new.denials:
        return False
    return any(
        (
            any(_is_in_place(change, kind, said, whole=new.terms) for change, kind in added)
            or any(_is_denied(said, by=denial) for denial in new.denials)
        )
        and not _tells_more(old, said, new.terms)
        for said in old.clauses
    )


def _added(change: _Clause, before: frozenset[str]) -> Kind | None:
    """The kind of the one value that a clause has, and no other word, more than what was said before."""
    added = {term: word for term, word in change.terms.items() if term not in before}
    kinds = {word.kind for word in added.values()}
    if len(kinds) != 1 or "word" in kinds:
        return None
    (kind,) = kinds
    if kind == "time":
        return kind
    row, *others = {word.row for word in added.values()}
    is_unit = kind == "number" and any(one.isalpha() and one not in CARDINALS for one in added)
    # A name or a number with more words behind it says of what it is, unless somebody takes over.
    is_last = change.has_taker or row == max(word.row for word in change.terms.values())
    is_one_of_many = kind == "name" and change.has_many
    return None if others or is_unit or is_one_of_many or not is_last else kind


def _is_in_place(change: _Clause, kind: Kind, said: _Clause, *, whole: frozenset[str]) -> bool:
    """Whether a clause says the same with another value of a kind, and has no other value that is gone."""
    terms = said.terms
    if kind not in {word.kind for word in terms.values()}:
        return False
    if kind == "time" and change.times != said.times:
        return False
    if kind == "name" and not change.has_taker and not _stands_alike(change, said):
        return False
    gone = [word.kind for term, word in terms.items() if term not in whole]
    common = [word.kind for term, word in terms.items() if term in change.terms]
    words, left = common.count("word"), gone.count("word")
    is_sure = "name" in common or words >= _ENOUGH
    return words > 0 and left <= int(is_sure) and {*gone} <= {kind, "word"}


def _is_denied(said: _Clause, *, by: _Clause) -> bool:
    """Whether a clause is what another says to be so no more: that has no other words, and hardly fewer."""
    if said.denies or len(by.terms) < _LEAST or not by.terms.keys() <= said.terms.keys():
        return False
    left = [word.kind for term, word in said.terms.items() if term not in by.terms]
    return not left or (left == ["word"] and len(by.terms) >= _ENOUGH)


def _stands_alike(change: _Clause, said: _Clause) -> bool:
    """Whether the last name follows the same preposition as one of the other's, or what it changed to: *is Petra* and *is in Rome* do not."""
    *_, last = (word.preposition for word in change.terms.values() if word.kind == "name")
    others = {word.preposition for word in said.terms.values() if word.kind == "name"}
    return last in others or "to" in {last, *others}


def _tells_more(old: Told, said: _Clause, whole: frozenset[str]) -> bool:
    """Whether the rest of a text tells something else: whom a clause names, or what other sentences say."""
    for clause in old.clauses:
        left = [word.kind for term, word in clause.terms.items() if term not in whole]
        if clause.sentence == said.sentence:
            if clause is not said and not clause.denies and {"name", "word"} <= {*left}:
                return True
        elif left.count("word") + left.count("name") >= _MORE:
            return True
    return False


def _is_change(part: str) -> bool:
    """Whether a clause says that something has changed to what it tells; *postponed on Monday* does not."""
    if (
        _NEGATED.search(part)
        or _PRONOUN.match(part)
        or not (is_revision(part) or _BEGINS.search(part))
    ):
        return False
    return (
        _NOW.search(part) is not None
        or not (verb := _VERB.search(part))
        or bool(_TO.search(part, verb.end()))
    )


def _parts(sentence: str) -> Iterator[str]:
    return filter(None, map(str.strip, _CLAUSES.split(sentence)))


def _clause(part: str, sentence: int) -> _Clause:
    taker = _TAKER.match(part)
    plain = _ONSET.sub(" ", part)
    may_be_time = _MAY_BE_TIME.search(plain.lower()) is not None
    spans: dict[Kind, list[tuple[int, int]]] = {}
    if may_be_time:  # else it has no digit either
        spans["time"] = [match.span() for match in _TIME.finditer(plain)]
        spans["number"] = [match.span() for match in _UNIT.finditer(plain)]
    terms: dict[str, _Word] = {}
    row, end, preposition = 0, 0, ""
    for match in _TOKEN.finditer(plain):
        token = match.group().removesuffix("'s").removesuffix("\u2019s")
        is_next = plain[end : match.start()] in ("", " ")
        if not is_next and _JOINT.fullmatch(plain, end, match.start()) is None:
            row += 1
            before = _PREPOSITION.search(plain, end, match.start())
            preposition = before[1].casefold() if before else ""
        if told := _telling(token):
            is_name = end > 0 or (taker is not None and token == taker["name"])
            within = (kind for kind, those in spans.items() if _is_within(match.start(), those))
            kind = next(within, None) or _kind(token, is_name=is_name)
            for stem in told:
                terms.setdefault(stem, _Word(kind, row, preposition))
        if told or end == 0:
            end = match.end()
    times = tuple(len(each.findall(plain)) if may_be_time else 0 for each in _KINDS_OF_TIME)
    has_many, denies = (each.search(part) is not None for each in (_MANY, _NEGATED))
    return _Clause(terms, sentence, times, taker is not None, has_many, denies)


def _is_within(place: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _kind(token: str, *, is_name: bool) -> Kind:
    has_digit = not token.isalpha() and any(char.isdigit() for char in token)
    if has_digit or token.casefold() in CARDINALS:
        return "number"
    return "name" if token[0].isupper() and is_name else "word"


@lru_cache(10_000)
def _telling(token: str) -> tuple[str, ...]:
    """The terms of a word that tell something else than that something changed, as stems."""
    return tuple(_stem(term) for term in terms_of(token) if term not in OF_CHANGE)


@lru_cache(10_000)
def _stem(term: str) -> str:
    """What the forms of an English word have in common, such as *deployed* and *deployment*; a name has no forms."""
    stem = _ENDING.sub("", term)
    return stem if len(stem) >= _SHORTEST_STEM else term

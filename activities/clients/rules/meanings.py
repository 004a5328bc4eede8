"""Meanings: the claims that a clause makes by the patterns of its verb.

It joins patterns (what is said), verdicts (whether it is so) and phrases (of what), and knows none of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from mnestic.activities.clients.rules.clauses import Clause
from mnestic.activities.clients.rules.lexicon import (
    ACTIVITIES,
    COUNTED,
    LANGUAGES,
    NO_ALLERGENS,
    NO_PLEASURES,
    NOT_NAMES,
    NOWHERE,
)
from mnestic.activities.clients.rules.patterns import BY_VERB, HABIT, Pattern, Reading
from mnestic.activities.clients.rules.people import Cast
from mnestic.activities.clients.rules.phrases import food, phrase, phrases, proper_name, verb_phrase
from mnestic.activities.clients.rules.times import Times, times_of
from mnestic.activities.clients.rules.verbs import GERUNDS
from mnestic.activities.clients.rules.verdicts import Verdict, is_no_more, verdict_of
from mnestic.memory.knowledge.claims import ClaimKind, Span
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.language.numbers import number_of

_INSTEAD = re.compile(
    r"(?<!\bdoes)(?<!\bdo)(?<!\bdid)(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?<!\bcan)(?<!\bwould)(?<!\bhas)(?<!\bhave),?\s(?:and |but )?not (?:(?:in|at|on|to|for|as|the|an?) )*(?P<y>[^\W_][^,.;|()]{0,40})"
)
_RATHER = re.compile(r",?\s(?:but|rather)(?= (?:in|at|for|as)\b)")
# What will be so from a day on; of the rest, what is so today would seem to be over.
_LATER: Mapping[str, Verdict] = {"employer": "is", "job_title": "is", "lives_in": "planned"}
_NOW = re.compile(r"\b(?:now|nowadays|these days|any ?more)\b", re.IGNORECASE)
_BUT = re.compile(r"\b(?:but|no|not|nor|barely|hardly|scarcely|except)\b", re.IGNORECASE)
_WORDS = re.compile(r"\w+")
_LISTED = re.compile(r",\s*(?:and\s+)?|\s+and\s+")
_GOING = re.compile(r"([a-z]+ing)\b")
_ALONE = re.compile(r"(?:$|[,.|!;]|any ?more|any longer|now\b)")
_OPPOSITES = {"likes": "dislikes", "dislikes": "likes", "eats": "avoids"}
_NARROWS = re.compile(
    r" (?:with|that|which|who|derived|made|based|from|about|by|of|when|where|without|in which)\b"
)
_OF_OTHERS = re.compile(r"^(?!to\b)[^,.;|]{1,60}\bto [a-z]+")
_PLACES = frozenset({"lives_in", "lived_in", "born_in", "comes_from", "visited"})
_MEAT = frozenset("fish meat chicken beef pork lamb turkey bacon salmon steak seafood".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Setting:
    """What a clause is read in: when it was said, by whom, and whether it mends what was said before."""

    at: datetime
    cast: Cast
    is_correction: bool = False


def claim(  # noqa: PLR0917 - who, what and of what, as a claim is told
    clause: Clause,
    subject: str,
    predicate: str,
    value: str | None,
    *,
    kind: ClaimKind = "affirmed",
    begins: datetime | None = None,
    ends: datetime | None = None,
) -> Extracted:
    """A claim of a clause; its span is the clause."""
    return Extracted(
        kind=kind,
        subject=subject,
        predicate=predicate,
        object=value,
        valid_from=begins,
        valid_to=ends,
        span=Span(start=clause.start, end=clause.end),
    )


def meanings_of(clause: Clause, setting: Setting) -> Iterator[Extracted]:
    """The claims of a clause, by the first pattern that fits for each predicate."""
    is_about_somebody = bool(clause.subject.names) and not clause.subject.noun
    patterns = BY_VERB.get(clause.verb.lemma, [])
    if not is_about_somebody:
        patterns = [each for each in patterns if each[0].is_of_me and each[0].kind != "habit"]
    if not patterns and not is_about_somebody:
        return
    times = times_of(clause, setting.at)
    instead = _INSTEAD.search(clause.rest)
    read = clause.rest[: instead.start()] if instead else clause.rest
    seen: set[str] = set()
    for pattern, rest in patterns:
        match = None if pattern.predicate in seen else rest.match(read)
        if match:
            found = tuple(_Fact(pattern, match, clause, times, setting).claims())
            seen.update({pattern.predicate} if found else ())
            yield from found
    if is_about_somebody:
        yield from _activity(clause, times, setting)
        yield from () if seen else _intention(clause, times)


@dataclass(frozen=True, slots=True)
class _Fact:
    """A pattern that fits a clause."""

    pattern: Pattern
    match: re.Match[str]
    clause: Clause
    times: Times
    setting: Setting

    def claims(self) -> Iterator[Extracted]:
        verdict = self._verdict()
        if verdict == "denied":
            yield from self._rather()
        values = [] if verdict == "nothing" else self._values()
        if "dislikes" in {self.pattern.predicate, verdict == "denied" and self.pattern.denied}:
            values = [value for value in values if not self._is_narrowed(value)]
        for subject in self._subjects() if values else ():
            for value in values:
                if value != subject:
                    yield from self._said(verdict, subject, value)
            if verdict == "is":
                yield from self._more(subject, values)
                yield from self._instead(subject)

    def _is_narrowed(self, value: str | None) -> bool:
        """As in "no fan of remotes with tiny buttons": who dislikes some need not dislike all."""
        _, found, following = self.clause.rest.partition(value or "|")
        return bool(found) and _NARROWS.match(following) is not None

    def _verdict(self) -> Verdict:
        """What the clause says, given also what it is about."""
        found = verdict_of(self.pattern.kind, self.clause, self.times, at=self.setting.at)
        if found == "denied" and is_no_more(self.clause):
            return "ended"
        if found == "is" and self.clause.verb.tense == "future":
            found = _LATER.get(self.pattern.predicate, "nothing")
        is_open = found == "is" and (self._is_of_a_day() or self._is_count())
        return "nothing" if is_open or self._is_of_two() else found

    def _is_of_a_day(self) -> bool:
        """As in "I'm together with Anna today": who is a couple is one since a day, not on one."""
        has_begun = self.times.since or self.clause.verb.has_begun
        return self.pattern.predicate == "partner" and bool(self.times.on) and not has_begun

    def _is_count(self) -> bool:
        """As in "we are two": how many, and not how old."""
        is_bare = self.pattern.predicate == "age" and "old" not in self.match[0]
        return is_bare and self.clause.subject.is_plural

    def _is_of_two(self) -> bool:
        """As in "we gave notice": of what both have, a flat sooner than a job."""
        return self.clause.subject.is_plural and self.match[0] == "notice"

    def _subjects(self) -> tuple[str, ...]:
        """Of whom it is said; of the speaker in "she put me in charge" and "she calls me Mo"."""
        return (self.setting.cast.speaker,) if self.pattern.is_of_me else self.clause.subject.names

    def _values(self) -> list[str | None]:
        groups, pattern = self.match.groupdict(), self.pattern
        if pattern.object not in groups:
            return [pattern.object or None]
        if doing := groups.get("doing"):
            return [value] if (value := phrase(_gerund(doing))) else []
        text = groups[pattern.object] or groups.get("z")
        if text is None:
            return [None] if pattern.kind == "end" else []
        if pattern.reading == "deed":
            return [f"{self.clause.phrase.split()[0].casefold()} {text}"]
        if text == "me":
            return [self.setting.cast.speaker]
        return [
            value
            for value in read_values(text, pattern.reading, predicate=pattern.predicate)
            if pattern.kind != "self" or can_be(self.setting.cast.speaker, value)
        ]

    def _said(self, verdict: Verdict, subject: str, value: str | None) -> Iterator[Extracted]:
        clause, predicate, begins = self.clause, self.pattern.predicate, self.times.begins
        if verdict == "is":
            is_correction = self.setting.is_correction and self.pattern.kind != "event"
            kind: ClaimKind = "corrected" if is_correction else "affirmed"
            ends = self.times.ends
            yield claim(
                clause, subject, predicate, value, kind=kind, begins=self._began(), ends=ends
            )
            if other := _OPPOSITES.get(predicate):
                yield claim(clause, subject, other, value, kind="ended")
        elif verdict == "was" and self.pattern.past:
            yield claim(clause, subject, self.pattern.past, value, begins=begins)
        elif verdict in {"ended", "used_to", "denied"}:
            over = begins if verdict == "ended" else None
            yield claim(clause, subject, predicate, value, kind="ended", ends=over)
            other = {"denied": self.pattern.denied, "used_to": self.pattern.past}.get(verdict)
            if other:
                yield claim(clause, subject, other, value)
        elif verdict == "never":
            yield claim(clause, subject, predicate, value, kind="retracted")
        elif value and verdict in {"planned", "wished", "dropped"}:
            yield from self._intended(verdict, subject, value)

    def _began(self) -> datetime | None:
        """When it began, where the words say so; a day on which it was so says nothing of that."""
        if self.pattern.predicate == "expects":
            return None  # the day that is named is the end of it
        is_day = self.pattern.kind in {"event", "trip"} or self.clause.verb.has_begun
        if self.times.since or is_day or self.times.is_ahead(self.setting.at):
            return self.times.begins
        return None

    def _intended(self, verdict: Verdict, subject: str, value: str) -> Iterator[Extracted]:
        """What is planned, wished, or planned no more; a new job is a fact from the day it begins."""
        clause = self.clause
        begins = self.times.begins if self.times.is_ahead(self.setting.at) else None
        is_new = self.pattern.kind != "end" and self.pattern.predicate in {"employer", "lives_with"}
        if is_new and verdict == "planned":
            if begins:
                yield from self._from_a_day(subject, value, begins)
            return
        name = None if clause.verb.lemma == "like" else self._intention_name(value)
        if name is None or (verdict == "planned" and not (begins or self._is_plan())):
            return
        if verdict != "dropped":
            predicate = "plans" if verdict == "planned" else "wants"
            yield claim(clause, subject, predicate, name, begins=begins)
            return
        for predicate in ("plans", "wants"):
            yield claim(clause, subject, predicate, name, kind="ended")
        if name.startswith("trip to "):
            yield claim(clause, subject, "travel_date", None, kind="ended")

    def _from_a_day(self, subject: str, value: str, begins: datetime) -> Iterator[Extracted]:
        """As in "I start at Acme in May": so from that day on."""
        yield claim(self.clause, subject, self.pattern.predicate, value, begins=begins)
        yield from self._more(subject, [value])
        if self.pattern.predicate == "employer":
            day = str(self.times.since or self.times.on)
            yield claim(self.clause, subject, "starts_work_on", day)

    def _is_plan(self) -> bool:
        """Whether the words alone tell of a plan, without a day."""
        is_named = self.pattern.predicate in {"lives_in", "attended", "visited", "plans"}
        return is_named or bool(self.clause.verb.governor)

    def _intention_name(self, value: str) -> str | None:
        """How a plan is called: the same for each way to say it."""
        pattern = self.pattern
        is_event = pattern.predicate == "attended" and self.clause.verb.mood != "wish"
        if pattern.kind == "event" and not is_event and self.clause.verb.mood == "plain":
            return f"move to {value}" if pattern.predicate == "lives_in" else None
        if pattern.predicate == "lives_in":
            return f"move to {value}"
        if pattern.kind == "trip" or (
            pattern.kind in {"plan", "dropped"} and pattern.reading == "name"
        ):
            return f"trip to {value}"
        if pattern.kind in {"plan", "dropped"} or is_event:
            return value
        return verb_phrase(self.clause.phrase)

    def _more(self, subject: str, values: list[str | None]) -> Iterator[Extracted]:
        """What else the same words say."""
        for predicate, group in self.pattern.also:
            text = self.match[group]
            if not text:
                continue
            value = re.sub(r"^(?:the|an?) ", "", text).strip()
            begins = None if predicate in {"lived_in", "is_a"} else self._began()
            of_whom = values if predicate == "is_a" else [subject]
            for whose in of_whom:
                yield claim(self.clause, whose or subject, predicate, value, begins=begins)
        if self.pattern.predicate == "eats" and any(
            (value or "").casefold() in _MEAT for value in values
        ):
            for diet in ("vegetarian", "vegan"):
                yield claim(self.clause, subject, "diet", diet, kind="ended")

    def _rather(self) -> Iterator[Extracted]:
        """As in "I don't live in Bonn but in Cologne": the second is so."""
        found = _RATHER.search(self.clause.rest)
        match = found and self.match.re.match(self.clause.rest, found.end())
        if match and self.pattern.object in match.groupdict():
            text = match[self.pattern.object] or ""
            for value in read_values(text, self.pattern.reading, predicate=self.pattern.predicate):
                for subject in self._subjects():
                    yield claim(self.clause, subject, self.pattern.predicate, value)

    def _instead(self, subject: str) -> Iterator[Extracted]:
        """As in "In Ghent, not in Bruges": the second was never so."""
        match, predicate = _INSTEAD.search(self.clause.rest), self.pattern.predicate
        is_shaped = match and self.pattern.reading != "text"
        if (
            match and not is_shaped
        ):  # "the director who does not want …": it has to be such an object
            again = self.match.re.match(" " + self.clause.rest[match.start("y") :])
            is_shaped = again is not None
        if match and is_shaped and self.pattern.kind in {"state", "habit"}:
            for value in read_values(match["y"], self.pattern.reading, predicate=predicate):
                kind: ClaimKind = "ended" if _NOW.search(self.clause.rest) else "retracted"
                yield claim(self.clause, subject, predicate, value, kind=kind)


def read_values(text: str, reading: Reading, *, predicate: str) -> list[str]:
    """The objects in a text, read as the pattern asks."""
    if predicate == "languages_spoken":
        return [
            word.capitalize()
            for word in _WORDS.findall(_BUT.split(text)[0])
            if word.casefold() in LANGUAGES
        ]
    if predicate == "allergic_to":
        found = [COUNTED.get(each.casefold(), each) for each in phrases(text)]
        return [each for each in found if each.split()[-1].casefold() not in NO_ALLERGENS]
    if predicate == "age":
        return [str(number_of(text) or text)]
    if reading in {"list", "food"}:
        found = phrases(text) if reading == "list" else food(text)
        return [each for each in found if predicate != "likes" or _can_be_liked(each)]
    if reading == "verbatim":
        parts = (part.strip().removeprefix("the ") for part in _LISTED.split(text))
        return [part for part in parts if part]
    value = {"name": proper_name, "phrase": phrase}.get(reading, str.strip)(text)
    is_nowhere = predicate in _PLACES and value and value.casefold() in NOWHERE
    return [value] if value and not is_nowhere else []


def _can_be_liked(thing: str) -> bool:
    """Whether somebody who says so means it: nobody likes Mondays, or being stuck in traffic."""
    words = thing.casefold().split()
    return NO_PLEASURES.isdisjoint((words[0], words[-1]))


def can_be(speaker: str, name: str) -> bool:
    """Whether a speaker can be called so: one whose name is known has a part of it."""
    is_known = speaker[:1].isupper() and speaker.casefold() not in NOT_NAMES
    own, said = ({*each.casefold().split()} for each in (speaker, name))
    return not is_known or not own.isdisjoint(said)


def _gerund(doing: str) -> str:
    """The gerund of what follows "to", so that both ways to say it are one."""
    verb, _, rest = doing.partition(" ")
    stem = GERUNDS.get(verb) or (f"{verb[:-1]}ing" if verb.endswith("e") else f"{verb}ing")
    return f"{stem} {rest}".strip()


def _activity(clause: Clause, times: Times, setting: Setting) -> Iterator[Extracted]:
    """What somebody does as a pastime: only where the words say that it is done again and again."""
    verb, rest = clause.verb, clause.rest.lstrip()
    name = ACTIVITIES.get(verb.lemma)
    if verb.lemma == "go" and (found := _GOING.match(rest)):
        name = found[1] if found[1] in ACTIVITIES.values() else None
    if name is None or name == "smoking":
        return
    verdict = verdict_of("habit", clause, times, at=setting.at)
    if verdict == "denied" and is_no_more(clause):
        verdict = "ended"
    is_again = bool(HABIT.match(rest))
    is_whole = is_again or verb.lemma == "go" or bool(_ALONE.match(rest))
    for subject in clause.subject.names:
        if verdict in {"ended", "used_to"} and is_whole:
            yield claim(clause, subject, "hobby", name, kind="ended", ends=times.begins)
        elif verdict == "is" and (is_again or verb.has_begun or (times.since and is_whole)):
            begins = times.begins if times.since or verb.has_begun else None
            yield claim(clause, subject, "hobby", name, begins=begins)


def _intention(clause: Clause, times: Times) -> Iterator[Extracted]:
    """A wish or a plan of which no pattern knows."""
    verb = clause.verb
    is_denied = verb.is_negated and not is_no_more(clause)
    if verb.mood not in {"wish", "plan"} or (verb.mood == "wish" and is_denied):
        return
    if verb.mood == "plan" and not (verb.governor or times.begins):
        return
    if verb.lemma == "like":
        return  # "I'd like a coffee" is of the moment
    is_noun = verb.lemma == "want"
    if is_noun and _OF_OTHERS.search(clause.phrase):
        return  # "she wants cities and citizens to plant trees"
    name = phrase(clause.phrase) if is_noun else verb_phrase(clause.phrase)
    if name is None:
        return
    dropped = verb.is_negated or verb.is_past
    for subject in clause.subject.names:
        predicate = "plans" if verb.mood == "plan" else "wants"
        kind: ClaimKind = "ended" if dropped else "affirmed"
        begins = None if dropped else times.begins
        yield claim(clause, subject, predicate, name, kind=kind, begins=begins)

"""Update texts: a text, as far as it is compared with another that may say what has become of the same.

They stand apart from updates and new values, which compare two of them. Words of an ending, of a state and others are data, in
`update_texts.yaml`.
"""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import cache, cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.changes.change_words import (
    CLAUSES,
    change_words,
    is_event,
    is_revision,
    may_change,
    stems_of,
)
from mnestic.memory.language.changes.statements import Statements, words_in
from mnestic.memory.language.function_words import find_function_words, function_words
from mnestic.memory.language.query_words import Requested
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.terms import words_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("update_texts.yaml")
_BEGINNING = 1000  # characters that are looked at
_STATE_WORDS = 3  # that may stand between the words of a state and one that says something else: *moved* to the Pro *plan*
_FULL_NAME = re.compile(r"[A-Z][\w'\u2019-]+(?: [A-Z][\w'\u2019-]+)+")
_STATE = re.compile(r"\b(?:is|are|am)\b|['\u2019](?:s|re|m)\b|:\s", re.IGNORECASE)
_WAS_SO = re.compile(r"\b(?:used to|until|formerly)\b", re.IGNORECASE)
_ANY_OF_MANY = re.compile(r"^\W*(?:there\b|an?\b|some\b|one\b|another\b)", re.IGNORECASE)


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    what_ended_follows: list[str]
    what_ended_precedes: list[str]
    gives_up: list[str] = Field(default_factory=list)
    rejects: list[str]
    states: dict[str, list[str]]
    no_states: dict[str, list[str]] = Field(default_factory=dict)
    asides: list[str]
    latest: list[str]
    first: list[str]


class _Patterns(NamedTuple):
    """The words of all languages as patterns; `states` by predicate.

    `any` finds, in small letters, what says a change. It begins with one of `beginnings`, each a word or two, which are looked up first.
    """

    follows: re.Pattern[str]
    precedes: re.Pattern[str]
    gives_up: re.Pattern[str]
    rejects: re.Pattern[str]
    states: dict[str, re.Pattern[str]]
    asides: frozenset[str]
    latest: re.Pattern[str]
    first: re.Pattern[str]
    any: re.Pattern[str]
    beginnings: frozenset[str | tuple[str, str]]


class Ending(NamedTuple):
    """A word of an ending in a clause, with what stands before and after it.

    What has ended stands before it if it `precedes`, and else behind it. `gives_up` if that is a habit or a taste.
    """

    before: str
    after: str
    precedes: bool
    gives_up: bool


class UpdateText:
    """A text, as far as updates compare it for a query that asks for `requested`; each part is worked out when it is first needed."""

    def __init__(
        self,
        text: str,
        *,
        query_stems: AbstractSet[str],
        names: AbstractSet[str] = frozenset(),
        predicates: AbstractSet[str] = frozenset(),
        speaker: str = "",
        requested: Requested | None = None,
    ) -> None:
        self.text, self.speaker, self.requested = text[:_BEGINNING], speaker, requested
        self.query_stems, self.names, self._predicates = query_stems, names, predicates

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words."""
        return stems_of(self.text)

    @cached_property
    def value(self) -> frozenset[str]:
        """Its content words that the query does not have, among them what the query asks for."""
        return self.stems - self.query_stems

    def topic_with(self, new: "UpdateText") -> tuple[AbstractSet[str], AbstractSet[str]]:
        """The words of the query in it: those that a later text has too, and those that this lacks.

        A verb that only joins a thing to its value lacks nowhere: *CI runs on Jenkins*, *CI was migrated to Buildkite*.
        """
        topic = self.stems & self.query_stems
        shared, missing = topic & new.stems, topic - new.stems
        joining = missing & change_words().joining
        return shared, missing - joining if joining and shared and new.says_otherwise else missing

    @cached_property
    def statements(self) -> Statements:
        """Its clauses, with the kinds of their words."""
        return Statements(self.text)

    @cached_property
    def written_names(self) -> frozenset[str]:
        """The words with a capital within a sentence, in English; in other languages any noun may have one."""
        if find_function_words(words_of(self.text)):
            return frozenset()
        words = words_in(self.statements.clauses)
        return frozenset(term for term, word in words if word.kind == "name")

    @cached_property
    def full_names(self) -> tuple[frozenset[str], ...]:
        """The names of several words, each by its words."""
        return tuple(map(stems_of, _FULL_NAME.findall(self.text)))

    @cached_property
    def answer(self) -> frozenset[str]:
        """Of its value, what stands with or behind words of the query other than names, if it has any: *Gert* for *neighbour*."""
        asked, clauses = self.stems & self.query_stems - self.names, self.statements.clauses
        words = [one.from_rows_of(asked) for one in clauses]
        labelled = (
            following.terms
            for (label, following), found in zip(pairwise(clauses), words, strict=False)
            if label.is_label and found
        )
        stated = chain(*words, *labelled)
        return self.value.intersection(stated) if asked else self.value

    @cached_property
    def heads(self) -> frozenset[str]:
        """Of its answer, the last word of each phrase: *Skoda* in *a red Skoda*."""
        words = [word for clause in self.statements.clauses for word in clause.terms.items()]
        last = {(word.row, word.phrase): term for term, word in words if term in self.value}
        return self.answer.intersection(last.values())

    @cached_property
    def says_change(self) -> bool:
        """Whether it says that something has ended or is otherwise."""
        return bool(self.clauses and (self.ended or self.entered or self.rejected))

    @cached_property
    def says_otherwise(self) -> bool:
        """Whether it has a word of a change."""
        return is_revision(self.text) or change_words().of_values.search(self.text) is not None

    @cached_property
    def may_update(self) -> bool:
        """Whether it has the letters of a change or of an ending."""
        return may_change(self.text) or self.says_otherwise or says_ending(self.text)

    @cached_property
    def states_value(self) -> bool:
        """Whether it may say of one thing what it is."""
        return _STATE.search(self.text) is not None and _ANY_OF_MANY.search(self.text) is None

    @cached_property
    def is_past(self) -> bool:
        """Whether it says only of what the query is about that it was so, as in *we lived in Mol*."""
        stems = self.query_stems
        about = [one for one in self.statements.clauses if stems & one.terms.keys()]
        return bool(about) and all(
            (
                _WAS_SO.search(one.text) is not None
                or any(is_event(word.text) for term, word in one.terms.items() if term in stems)
            )
            and not _says_beginning(one.text)
            for one in about
        )

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        """Its clauses as texts; none if it has no word of a change, which is quickly seen."""
        patterns, words = _patterns(), words_of(self.text)
        is_possible = not (
            patterns.beginnings.isdisjoint(words)
            and patterns.beginnings.isdisjoint(pairwise(words))
        )
        if not is_possible or patterns.any.search(self.text.lower()) is None:
            return ()
        parts = (part for one in split_sentences(self.text) for part in CLAUSES.split(one))
        return tuple(part for part in map(str.strip, parts) if part)

    @cached_property
    def rejected(self) -> tuple[frozenset[str], ...]:
        """The content words of each clause that only names what is not so, beside another clause."""
        others = self.clauses if len(self.clauses) > 1 else ()
        matches = map(_patterns().rejects.match, others)
        return tuple(stems_of(one.string[one.end() :]) for one in matches if one is not None)

    @cached_property
    def ended(self) -> tuple[Ending, ...]:
        """Each word of an ending."""
        patterns = _patterns()
        kinds = ((patterns.follows, False), (patterns.precedes, True))
        return tuple(
            Ending(
                before=clause[: match.start()],
                after=clause[match.end() :],
                precedes=precedes,
                gives_up=patterns.gives_up.fullmatch(match[0]) is not None,
            )
            for clause in self.clauses
            for pattern, precedes in kinds
            if (match := pattern.search(clause)) is not None
        )

    @cached_property
    def entered(self) -> tuple[str, ...]:
        """What stands before each word with which somebody comes into a state that the query asks for."""
        states = _patterns().states
        return tuple(
            clause[: match.start()]
            for name in self._predicates & states.keys()
            for clause in self.clauses
            if (match := states[name].search(clause)) is not None
        )


def says_ending(text: str) -> bool:
    """Whether a text has a word behind or before which stands what is so no more."""
    patterns = _patterns()
    return patterns.follows.search(text) is not None or patterns.precedes.search(text) is not None


@cache
def words_of_no_state(predicate: str) -> frozenset[str]:
    """Words that say, behind those of a state, that nobody has come into it: *Jira* in *we moved to Jira*, of `lives_in`."""
    lists = read_word_lists(_FILE, _Words).values()
    return frozenset(word for one in lists for word in one.no_states.get(predicate, ()))


def asides() -> frozenset[str]:
    """The stems of words that say nothing by themselves, in all languages, such as *finally*."""
    return _patterns().asides


@cache
def usual_words() -> frozenset[str]:
    """Words that say nothing about which of several things is meant, in all languages: asides and function words."""
    return _patterns().asides.union(*function_words().values())


def requested_order(text: str) -> Literal["latest", "first"] | None:
    """Which of several equal answers a question asks for, as in *the last thing that Kit sent*."""
    patterns = _patterns()
    if patterns.latest.search(text):
        return "latest"
    return "first" if patterns.first.search(text) else None


def _says_beginning(text: str) -> bool:
    """Whether a text says that something changes, or that somebody comes into a state."""
    if is_revision(text) or change_words().of_values.search(text):
        return True
    return any(one.search(text) for one in _patterns().states.values())


@cache
def _patterns() -> _Patterns:
    lists = [*read_word_lists(_FILE, _Words).values()]
    states: dict[str, list[str]] = {}
    for one in lists:
        for name, words in one.states.items():
            states.setdefault(name, []).extend(words)
    follows, precedes, gives_up, rejects, asides = (
        [word for one in lists for word in getattr(one, name)]
        for name in (
            "what_ended_follows",
            "what_ended_precedes",
            "gives_up",
            "rejects",
            "asides",
        )
    )
    follows.extend(gives_up)
    anywhere = _pattern(chain(follows, precedes, *states.values()))
    at_clause = _pattern(rejects, before=r"(?:^|[.,;:!?]\s)\W*(?:no\W+)?")
    return _Patterns(
        follows=_pattern(follows),
        precedes=_pattern(precedes),
        gives_up=_pattern(gives_up),
        rejects=_pattern(rejects, before=r"\W*(?:no\W+)?"),
        states={
            name: _pattern(words, after=_unless_followed(words_of_no_state(name)))
            for name, words in states.items()
        },
        asides=stems_of(" ".join(asides)),
        latest=_pattern(word for one in lists for word in one.latest),
        first=_pattern(word for one in lists for word in one.first),
        any=re.compile(f"{anywhere.pattern}|{at_clause.pattern}"),
        beginnings=frozenset(map(_beginning, chain(follows, precedes, rejects, *states.values()))),
    )


def _beginning(text: str) -> str | tuple[str, str]:
    """The first two words, or the only one."""
    first, *others = words_of(text)
    return (first, others[0]) if others else first


def _unless_followed(words: AbstractSet[str]) -> str:
    """As in *we moved to the Enterprise plan*."""
    either = "|".join(map(re.escape, sorted(words)))
    return rf"(?!(?:\s+[\w'\u2019-]+){{0,{_STATE_WORDS}}}?\s+(?:{either})\b)" if words else ""


def _pattern(words: Iterable[str], *, before: str = r"(?<!\w)", after: str = "") -> re.Pattern[str]:
    longest = sorted(map(str.lower, words), key=len, reverse=True)
    either = "|".join(map(re.escape, longest))
    return re.compile(rf"{before}(?:{either})\b{after}", re.IGNORECASE)

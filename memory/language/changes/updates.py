"""Updates: whether a later text says what has become of something that an earlier one says.

It stands apart from supersession, which scores by it, because it compares two texts and knows no candidates. A later text
updates an earlier one if it says that the earlier value has ended (*quit Acme*), if it puts whoever it is about into another state
that the query asks for (*moved to Emden*), or if both say the same but for one value. What an extractor learned from either does
not matter, since it may have missed the change. Words are data, in `updates.yaml`.
"""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import cache, cached_property
from itertools import chain, pairwise, takewhile
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
    stem,
    stems_of,
)
from mnestic.memory.language.changes.statements import Clause, Kind, Statements
from mnestic.memory.language.function_words import function_words
from mnestic.memory.language.query_words import Requested
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.terms import terms_of, words_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("updates.yaml")
_BEGINNING = 1000  # characters that are looked at
_OTHER_WORDS = 6  # by how many words two texts may differ that say the same but for one value
_STATE_WORDS = 3  # that may stand between the words of a state and one that says something else: *moved* to the Pro *plan*
_OTHER_PERSON = re.compile(r"\b(?:he|she|they|it|you)\b", re.IGNORECASE)
_STATE = re.compile(r"\b(?:is|are|am)\b|['\u2019](?:s|re|m)\b|:\s", re.IGNORECASE)
_WAS_SO = re.compile(r"\b(?:used to|until|formerly)\b", re.IGNORECASE)
_ANY_OF_MANY = re.compile(r"^\W*(?:there\b|an?\b|some\b|one\b|another\b)", re.IGNORECASE)

Update = Literal["ended", "changed", "restated"]


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
        self.query_stems, self._names, self._predicates = query_stems, names, predicates

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words."""
        return stems_of(self.text)

    @cached_property
    def value(self) -> frozenset[str]:
        """Its content words that the query does not have, among them what the query asks for."""
        return self.stems - self.query_stems

    @cached_property
    def statements(self) -> Statements:
        """Its clauses, with the kinds of their words."""
        return Statements(self.text)

    @cached_property
    def answer(self) -> frozenset[str]:
        """Of its value, what stands with or behind words of the query other than names, if it has any: *Gert* for *neighbour*."""
        asked = self.stems & self.query_stems - self._names
        words = (one.from_rows_of(asked) for one in self.statements.clauses)
        return self.value.intersection(chain.from_iterable(words)) if asked else self.value

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


@cache
def usual_words() -> frozenset[str]:
    """Words that say nothing about which of several things is meant, in all languages, such as *finally*."""
    return _patterns().asides.union(*function_words().values())


def requested_order(text: str) -> Literal["latest", "first"] | None:
    """Which of several equal answers a question asks for, as in *the last thing that Kit sent*."""
    patterns = _patterns()
    if patterns.latest.search(text):
        return "latest"
    return "first" if patterns.first.search(text) else None


def update_of(old: UpdateText, new: UpdateText) -> Update | None:
    """How a later text of the same person, or about the same, updates an earlier one; None if it does not."""
    if new.says_change:
        if _ends(old, new):
            return "ended"
        if any(_is_of_same(old, new, subject) for subject in new.entered):
            return "changed"
    return "restated" if _restates(old, new) else None


def _says_beginning(text: str) -> bool:
    """Whether a text says that something changes, or that somebody comes into a state."""
    if is_revision(text) or change_words().of_values.search(text):
        return True
    return any(one.search(text) for one in _patterns().states.values())


def _ends(old: UpdateText, new: UpdateText) -> bool:
    """Whether a later text says that something has ended that the query is about, or the value that it asks for."""
    if not old.stems & new.stems:
        return False
    if any(rejected and rejected <= old.answer for rejected in new.rejected):
        return True
    known = old.stems | old.query_stems | _patterns().asides
    for ending in new.ended:
        if not _is_of_same(old, new, ending.before, known=old.stems):
            continue
        after = [*map(stem, terms_of(ending.after))]
        is_left = not ending.precedes and _patterns().asides.issuperset(after)  # *Els left*
        is_before = ending.precedes or is_left
        found = stems_of(ending.before) if is_before else {*takewhile(known.__contains__, after)}
        if old.value and (old.value <= found or found & old.heads):
            return True
        is_asked = ending.precedes or (ending.gives_up and _is_by_subject(old, new, ending.before))
        if is_asked and found & old.query_stems & old.stems:
            return True
    return False


def _is_by_subject(old: UpdateText, new: UpdateText, subject: str) -> bool:
    """Whether somebody of whom an earlier text speaks ends something: *Ana likes sushi*, *Ana has gone off sushi*."""
    both = old.statements.is_first_person and new.statements.is_first_person
    return both or bool(stems_of(subject) & old.stems & old.query_stems)


def _is_of_same(
    old: UpdateText, new: UpdateText, subject: str, *, known: AbstractSet[str] = frozenset()
) -> bool:
    """Whether a clause that begins like this is about the one whom the query or an earlier text is about."""
    stems = stems_of(subject) - _patterns().asides
    if not stems <= old.query_stems | known:
        return False
    if _OTHER_PERSON.search(subject):
        return not old.statements.is_first_person
    return bool(stems) or old.speaker == new.speaker


def _restates(old: UpdateText, new: UpdateText) -> bool:
    """Whether two texts say of one thing what it is, and differ in one number, time or code alone, or in a name that is a change."""
    if not (old.states_value and new.states_value):
        return False
    if len(old.stems ^ new.stems) > _OTHER_WORDS or not old.stems & new.stems & old.query_stems:
        return False
    first, second = old.statements, new.statements
    is_own = first.is_first_person or second.is_first_person
    if is_own and (first.is_first_person != second.is_first_person or old.speaker != new.speaker):
        return False
    if change_words().unchanged.search(new.text) is not None:  # *on Fridays, too*
        return False
    if len(first.clauses) != 1 or len(second.clauses) != 1:
        return False
    kinds: set[Kind] = {"number", "time", "name"} if is_revision(new.text) else {"number", "time"}
    return _differ_in_value(first.clauses[0], second.clauses[0], kinds=kinds)


def _differ_in_value(old: Clause, new: Clause, *, kinds: AbstractSet[Kind]) -> bool:
    """Whether the last words of two clauses, which are all of one kind, are the only ones that differ."""
    gone = {term: word for term, word in old.terms.items() if term not in new.terms}
    added = {term: word for term, word in new.terms.items() if term not in old.terms}
    if not gone or not added or old.has_many or new.has_many or old.denies or new.denies:
        return False
    if old.times != new.times or _has_digit(gone) != _has_digit(added):
        return False  # both may be one value in two forms, as *11:30* and *half past eleven*
    last = [max(word.row for word in clause.terms.values()) for clause in (old, new)]
    differing = {word.kind for words in (gone, added) for word in words.values()}
    before, after = ({word.preposition for word in words.values()} for words in (gone, added))
    return (
        len(differing) == 1
        and differing <= kinds
        and (differing != {"name"} or before == after)  # *is Petra*, *is in Rome*
        and all(
            {word.row for word in words.values()} == {row}
            for words, row in zip((gone, added), last, strict=True)
        )
    )


def _has_digit(terms: Iterable[str]) -> bool:
    return any(char.isdigit() for term in terms for char in term)


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

"""What sources of search are asked, and what they bring: words as they are stored, and entries by number."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Interval
from mnestic.memory.language.dates import Period
from mnestic.memory.retrieval.candidates import Candidates, Edges, Succession
from mnestic.memory.retrieval.queries import RetrievalPolicy, RetrievalQuery
from mnestic.memory.retrieval.query_predicates import query_interval


@dataclass(frozen=True, slots=True)
class QueryLexeme:
    """A word of a question as it is stored, or the words that it may stand for, and how telling it is.

    `word` is as it was asked; empty where it was misspelt, or is a part of one such as E-4042.
    """

    lexemes: tuple[str, ...]
    weight: float
    is_known: bool
    word: str = ""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A question in the words of an agent's memory.

    `misspelt` are those that were read as others, `silent` those that say nothing.
    """

    query_lexemes: tuple[QueryLexeme, ...] = ()
    misspelt: Mapping[str, str] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()
    average_length: float = 1.0

    @property
    def weights(self) -> tuple[float, ...]:
        """How telling each word is, in their order."""
        return tuple(one.weight for one in self.query_lexemes)


@dataclass(frozen=True, slots=True)
class NameRow:
    """A name that is known, with all keys of whom it names; whether they have spoken themselves."""

    keys: frozenset[str]
    is_speaker: bool


class LexemeMatch(NamedTuple):
    """A word as it is stored, and how many entries have it."""

    lexeme: str
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a question may name, before the agent's memory has told what it knows of that.

    `keys` could be names, `tags` what entries may be found by as by a tag, both by key; `words` are its words. `periods`
    are the times that it may be about, the first that an entry is of being the one; `owners` those of whose relatives
    it may speak, by key, and `kinship_predicates` the predicates that tell these.
    """

    keys: frozenset[str]
    words: frozenset[str]
    model: str
    tags: frozenset[str] = frozenset()
    periods: tuple[Period, ...] = ()
    owners: frozenset[str] = frozenset()
    kinship_predicates: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What misspelt words may be meant as: names by the word, and lexemes by the lexeme that nothing has.

    Of the lexemes each has how many entries have it.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    lexemes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTerms:
    """What an agent's memory knows of a question, and how much there is in it.

    `names` are those that are known, by what the question says; `words` the parts of its words, each as the
    lexeme that it is in each language in which it says something; `tags` what of it some entry has as a tag or as
    another name; `related` who is whose relative, as owner, predicate and name; `period` the first of its periods that
    an entry is of; `languages` those of entries. `entries`, `lexemes` and `vectors` are how many there are in all.
    `knowledge` is how often all of this and the entries have changed, by the time `now`, in the database `database`;
    `ends_at` when some of it next ends by itself.
    """

    names: Mapping[str, NameRow]
    words: Mapping[str, Sequence[Mapping[str, LexemeMatch]]]
    tags: frozenset[str]
    settings: Mapping[str, Any]
    related: frozenset[tuple[str, str, str]] = frozenset()
    period: Period | None = None
    languages: Collection[str] = ()
    entries: int = 0
    lexemes: int = 0
    vectors: int = 0
    now: datetime
    knowledge: int
    ends_at: datetime | None
    database: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What sources are asked: a question as the agent's memory understands it.

    `name_vocabulary` are words of names, `names` and `tags` what it names, by key, `fact_subjects` those of the names by whom
    facts are asked for (*Marcus's sister*, not *Marcus*); `persons` are the names of each, where
    it asks what is between several; `predicates` what it asks about whom it names, and `related_predicates` those that it
    has to do with. `model` and `vector` are what it means, `vectors` how many of the model there are; `policy` says how
    many entries a source brings, and what they weigh. What the question rules out is looked for too, unless it is strict.
    `is_by_words`: what has no word of it is not near it. `now` is that of `ResolvedTerms`.
    """

    query: RetrievalQuery
    vocabulary: Vocabulary
    name_vocabulary: Vocabulary
    names: frozenset[str]
    fact_subjects: frozenset[str]
    tags: frozenset[str]
    predicates: Mapping[str, float]
    related_predicates: frozenset[str]
    period: Period | None
    policy: RetrievalPolicy
    now: datetime
    persons: tuple[frozenset[str], ...] = ()
    model: str = ""
    vector: bytes | None = None
    vectors: int = 0
    is_by_words: bool = False
    is_strict: bool = False

    @property
    def valid_interval(self) -> Interval | None:
        """When what is believed has to hold, if not now: as of the question, or at some moment of a time that is past."""
        query, period = self.query, self.period
        if query.as_of is not None:
            return Interval(query.as_of, query.as_of)
        bounds = None if period is None else (period.start, period.end)
        return query_interval(bounds, self.predicates, now=query.asked_at or self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What sources have brought: candidates, and what they lend to one another.

    `superseded` are the numbers of those that would lend, but nothing that they claimed holds; `seeds` how many there
    were with them. `successions` are of what was so one after the other. `is_exhaustive`: no source has more.
    """

    candidates: Candidates
    edges: Edges
    superseded: frozenset[int]
    seeds: int
    successions: Sequence[Succession]
    is_exhaustive: bool


@dataclass(frozen=True, slots=True)
class Winners:
    """The numbers of those among the best that do not answer, and the others as entries, by number."""

    rejected: frozenset[int]
    entries: Mapping[int, Entry]

"""The values of the port `SearchStore`: what the memory knows of terms, parsed queries, and what is found."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.language.dates import Period
from mnestic.memory.retrieval.candidates import CandidateText, Ranked
from mnestic.memory.retrieval.exact_terms import ExactTerms
from mnestic.memory.retrieval.queries import (
    Mode,
    Rerank,
    RetrievalPolicy,
    RetrievalQuery,
    StatedClaim,
)


@dataclass(frozen=True, slots=True)
class QueryLexeme:
    """A word of a query as lexemes of the index, with its inverse document frequency.

    A misspelt word may have several lexemes. `word` is the word of the query; it is empty if it was misspelt, or if
    the lexeme is a part of a word such as E-4042. `is_acronym`: the lexeme is the normal form of an acronym.
    `is_name`: it is a word of a name that the query means.
    """

    lexemes: tuple[str, ...]
    weight: float
    is_known: bool
    word: str = ""
    is_acronym: bool = False
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a query as an agent's memory knows them.

    `misspelt` are words that were read as known ones, `silent` are words without meaning of their own.
    """

    query_lexemes: tuple[QueryLexeme, ...] = ()
    misspelt: Mapping[str, str] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()
    average_length: float = 1.0

    @property
    def bits_of_names(self) -> int:
        """A bit for each word of a name."""
        return sum(1 << place for place, one in enumerate(self.query_lexemes) if one.is_name)

    @property
    def weights(self) -> tuple[float, ...]:
        """The inverse document frequency of each word, in their order."""
        return tuple(one.weight for one in self.query_lexemes)


@dataclass(frozen=True, slots=True)
class KnownName:
    """A known name: all keys of the people it names, and whether they are speakers of messages."""

    keys: frozenset[str]
    is_speaker: bool


class LexemeMatch(NamedTuple):
    """A lexeme of the index, and how many entries have it."""

    lexeme: str
    entries: int


_LENGTH = 10  # lexemes of a message where no live one says how long they are


class ArchivedWords(NamedTuple):
    """How many archived entries there are, and how many of those that a search finds have each lexeme."""

    entries: int
    by_lexeme: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Corrections of misspelt words: a name for a word, and lexemes for a lexeme that no entry has.

    Each lexeme comes with the number of entries that have it.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    lexemes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTerms:
    """The terms of a query as the agent's memory knows them, and the size of that memory.

    `names` are the known names, by the key in the query. `words` are the parts of each word, each part as a lexeme by
    language; `acronyms` are the words that some entry has as acronyms. `tags` are the keys that some entry has as a tag
    or an alias. `period` is the first of the periods of which there is an entry. `languages` are those of entries.
    `entries`, `lexemes` and `vectors` count what the memory has; `model` is that of the vectors. `knowledge` is the revision of the agent's memory in
    `database` at the time `now`; `ends_at` is when an entry or a fact next expires. `has_archive`: an entry is archived. `speakers`
    are those of the latest messages beside the agent itself, where the query has *I*.
    """

    names: Mapping[str, KnownName] = field(default_factory=dict)
    words: Mapping[str, Sequence[Mapping[str, LexemeMatch]]] = field(default_factory=dict)
    tags: frozenset[str] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)
    acronyms: Mapping[str, LexemeMatch] = field(default_factory=dict)
    period: Period | None = None
    languages: Collection[str] = ()
    entries: int = 0
    lexemes: int = 0
    vectors: int = 0
    model: str | None = None
    has_archive: bool = False
    speakers: frozenset[str] = frozenset()
    now: datetime
    knowledge: int = 0
    ends_at: datetime | None = None
    database: str = ""

    @property
    def all_lexemes(self) -> frozenset[str]:
        """The lexemes of all words, whether some entry has them or not."""
        parts = (part for parts in self.words.values() for part in parts)
        return frozenset(one.lexeme for part in parts for one in part.values())

    def with_archived(self, archived: ArchivedWords) -> Self:
        """The terms as live and archived entries together know them; archived ones are taken to be as long as live ones."""
        length = self.lexemes / self.entries if self.entries else _LENGTH
        words = {
            word: [
                {
                    language: LexemeMatch(
                        one.lexeme, one.entries + archived.by_lexeme.get(one.lexeme, 0)
                    )
                    for language, one in part.items()
                }
                for part in parts
            ]
            for word, parts in self.words.items()
        }
        return replace(
            self,
            words=words,
            entries=self.entries + archived.entries,
            lexemes=self.lexemes + round(archived.entries * length),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """A query, resolved against the agent's memory: what its sources are asked, and what ranking needs of it.

    Of the query itself: `asked_at` is when it was asked. `vocabulary` are its words, `name_vocabulary` words of names, `names`
    and `tags` the keys that it names, `exact_terms` its numbers, codes and addresses. `period` is the time that it means.
    `asks_for_earlier`: for what was so before, so that superseded entries count and come first. `is_uncertain`: it is about an
    unknown person, or a name was read as a known one and may be somebody else's. `possible_askers`: it is about one of these, who asks. `has_identifier`: it names a number, code or
    address that only an entry with the same answers. A message that is dated after `present_until` is of no present.

    Of the search: `known` is what the memory knows of its terms. `policy` limits the candidates of each source and gives the
    weights. `text` is embedded, unless `foreign` is its meaning already, of words of a language that the embedder does not
    know; `vector` is the meaning by `model`. `is_by_words`: an entry without a word of the query does not count as similar.
    Sources may return entries that the filters rule out, unless it `is_strict`.
    """

    query: RetrievalQuery
    asked_at: datetime
    known: ResolvedTerms
    policy: RetrievalPolicy
    vocabulary: Vocabulary = Vocabulary()
    name_vocabulary: Vocabulary = Vocabulary()
    names: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    exact_terms: ExactTerms = field(default_factory=ExactTerms)
    period: Period | None = None
    is_question: bool = False
    asks_for_time: bool = False
    asks_for_earlier: bool = False
    is_uncertain: bool = False
    possible_askers: frozenset[str] = frozenset()
    has_identifier: bool = False
    present_until: datetime | None = None
    text: str = ""
    foreign: NDArray[np.float32] | None = None
    model: str = ""
    vector: bytes | None = None
    is_by_words: bool = False
    is_strict: bool = False

    @property
    def mode(self) -> Mode:
        """By words, by meaning, or both."""
        return self.query.mode

    @property
    def weights(self) -> tuple[float, ...]:
        """The inverse document frequencies of its words."""
        return self.vocabulary.weights

    @property
    def needs_words(self) -> bool:
        """Whether only entries with a word of the query answer: by words alone, if it has more than names and times."""
        return self.mode == "text" and any(not one.is_name for one in self.vocabulary.query_lexemes)

    @property
    def rerank(self) -> Rerank:
        """The reranker of this query."""
        return self.query.rerank or self.policy.rerank

    @property
    def wanted(self) -> int:
        """How many of the best candidates are read."""
        read = 0 if self.rerank == "off" else self.policy.reranked
        return max(self.query.limit, read)

    @property
    def is_cacheable(self) -> bool:
        """Whether the answer depends on memory alone."""
        return self.rerank != "remote"

    @property
    def is_answerable(self) -> bool:
        """Whether it has words, names or a period to search for."""
        return bool(self.weights or self.names or self.period)

    @property
    def excludes_superseded(self) -> bool:
        """Whether superseded entries are left out."""
        return self.query.statuses == ("active",) and not self.asks_for_earlier

    @property
    def source_period(self) -> Period | None:
        """The time whose last entries are candidates: the query's period, or the policy's default."""
        if self.period is not None or not self.policy.default_period_days:
            return self.period
        end = self.query.as_of or self.query.asked_at or self.known.now
        return Period(end - timedelta(days=self.policy.default_period_days), end, "day")

    @property
    def current_at(self) -> datetime:
        """When what entries say has to be so: at `as_of`, at the beginning of a period that is past, or else now."""
        query, period = self.query, self.period
        if query.as_of is not None:
            return query.as_of
        is_past = period is not None and period.end <= (query.asked_at or self.known.now)
        return period.start if period is not None and is_past else self.known.now


@dataclass(frozen=True, slots=True)
class SearchHits:
    """The best candidates, and by number what is known of them and others: their texts, and what was read.

    `outdated` are the numbers of the entries that answer in the place of each of these. `claims` are those of the messages
    of which some claim holds no longer. `entries` has none that is outdated.
    """

    ranked: Sequence[Ranked] = ()
    texts: Mapping[int, CandidateText] = field(default_factory=dict)
    entries: Mapping[int, Entry] = field(default_factory=dict)
    claims: Mapping[int, tuple[StatedClaim, ...]] = field(default_factory=dict)
    outdated: Mapping[int, Sequence[int]] = field(default_factory=dict)

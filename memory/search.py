"""What sources of search are asked, and what they bring: words as they are stored, and entries by number."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from mnestic.memory.asked_facts import asked_stretch
from mnestic.memory.candidates import Hit, Succession, Ties
from mnestic.memory.dates import Period
from mnestic.memory.entries import Entry
from mnestic.memory.facts import Stretch
from mnestic.memory.retrieval import RetrievalQuery


@dataclass(frozen=True, slots=True)
class AskedLexeme:
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

    asked: tuple[AskedLexeme, ...] = ()
    misspelt: Mapping[str, str] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()
    average_length: float = 1.0

    @property
    def weights(self) -> tuple[float, ...]:
        """How telling each word is, in their order."""
        return tuple(one.weight for one in self.asked)


@dataclass(frozen=True, slots=True)
class FreshEntry:
    """An entry that has no vector yet."""

    number: int
    content: str


@dataclass(frozen=True, slots=True)
class Fresh:
    """The newest entries that have no vector yet; `is_settled`: all that had none when they were counted, and no other."""

    entries: tuple[FreshEntry, ...] = ()
    is_settled: bool = True


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name that is known, with all keys of whom it names; whether they have spoken themselves."""

    keys: frozenset[str]
    speaks: bool


class KnownLexeme(NamedTuple):
    """A word as it is stored, and how many entries have it."""

    lexeme: str
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an agent's memory knows of a question, and how much there is in it.

    `names` are those that are known, by what the question says; `words` the parts of its words, each as the
    lexeme that it is in each language in which it says something; `tags` what of it some entry has as a tag or as
    another name; `languages` those of entries. `entries` and `lexemes` are how many there are in all, `bare` how many
    entries have no vector yet. `knowledge` is how often all of this and the entries have changed, by the time `now`;
    `ends_at` when some of it next ends by itself.
    """

    names: Mapping[str, KnownName]
    words: Mapping[str, Sequence[Mapping[str, KnownLexeme]]]
    tags: frozenset[str]
    settings: Mapping[str, Any]
    languages: Collection[str] = ()
    entries: int = 0
    lexemes: int = 0
    bare: int = 0
    now: datetime
    knowledge: int
    ends_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What sources are asked: a question as the agent's memory understands it.

    `called` are words of names, `names` and `tags` what it names, by key, `believed` those of the names by whom
    facts are asked for (*Marcus's sister*, not *Marcus*); `persons` are the names of each, where
    it asks what is between several; `predicates` what it asks about whom it names, and `respects` those that it
    has to do with. `model` and `vector` are what it means, `vectors` how many of the model there are, `fresh` the
    numbers of the entries that had none then and are compared with it by themselves, None where another may have
    come since; `pool` how many entries a source brings; of those that the question rules out too, unless it is
    strict. `now` and `knowledge` are those of `Known`.
    """

    query: RetrievalQuery
    vocabulary: Vocabulary
    called: Vocabulary
    names: frozenset[str]
    believed: frozenset[str]
    tags: frozenset[str]
    predicates: Mapping[str, float]
    respects: frozenset[str]
    period: Period | None
    pool: int
    now: datetime
    knowledge: int
    persons: tuple[frozenset[str], ...] = ()
    model: str = ""
    vector: bytes | None = None
    vectors: int = 0
    fresh: frozenset[int] | None = None
    is_strict: bool = False

    @property
    def held(self) -> Stretch | None:
        """When what is believed has to hold, if not now: as of the question, or at some moment of a time that is past."""
        query, period = self.query, self.period
        if query.as_of is not None:
            return Stretch(query.as_of, query.as_of)
        bounds = None if period is None else (period.start, period.end)
        return asked_stretch(bounds, self.predicates, now=query.asked_at or self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """What sources but meaning have brought: by words, by number; otherwise; and by facts, by id.

    `successions` are by facts too. `may_lack_tagged`: more may have a name or a tag of the question than were brought.
    """

    words: Mapping[int, Hit]
    others: frozenset[int]
    learned: Mapping[str, float]
    successions: Sequence[Succession]
    may_lack_tagged: bool

    @property
    def numbers(self) -> frozenset[int]:
        """Those that are known by number."""
        return frozenset(self.words) | self.others


@dataclass(frozen=True, slots=True)
class Tied:
    """What is tied to entries that lend, and how.

    `over` are lenders whose messages claimed something, of which nothing holds any more.
    """

    ties: Ties = field(default_factory=dict)
    over: frozenset[int] = frozenset()

    @property
    def numbers(self) -> frozenset[int]:
        """The entries that something is lent to."""
        return frozenset(number for tied in self.ties.values() for number, _ in tied)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The numbers of those among the best that do not answer, and some of the others, by number."""

    wrong: frozenset[int]
    entries: Mapping[int, Entry]

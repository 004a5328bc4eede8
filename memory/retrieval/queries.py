"""The values of retrieval: a query, its results, and the policy that weighs them.

They stand apart from the computation of scores (`memory/retrieval/ranking.py`), because the client, the command line,
jobs and auto-retrieval all use them.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryKind, EntryStatus, EntryType
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.language.commands import is_command
from mnestic.memory.timestamps import AwareTimestamp, check_order
from mnestic.memory.validation import Share, Text

Mode = Literal["hybrid", "semantic", "text"]
PresetName = Literal["mnestic", "leonidas"]
Rerank = Literal["off", "local", "remote"]
ScoreKind = Literal["confidence", "weighted_sum"]
LONGEST_QUESTION = 10_000  # characters
MOST_RESULTS = 1000

_Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


# The earlier names of weights. Settings may still be stored by these.
_OLD_WEIGHTS: Mapping[str, str] = MappingProxyType(
    {
        "alike": "late_interaction",
        "beside": "neighbour",
        "near": "second_neighbour",
        "others": "other_people",
        "least_cosine": "min_cosine",
        "least_of_best": "min_score_share",
        "least_share": "min_evidence_share",
        "lending": "propagation_seeds",
    }
)


# Weights of signals that are gone. Settings may still be stored with these.
_GONE_WEIGHTS = frozenset({"fact_match", "learned", "supersession", "revision"})


def current_weights(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights by their current names, without those that are gone; each may still be given by its old name.

    Raises:
        ValueError: one is given by both names.
    """
    for old, new in _OLD_WEIGHTS.items():
        if old in weights and new in weights:
            raise ValueError(f"{old} is the old name of {new}; give {new} alone")
    return {
        _OLD_WEIGHTS.get(name, name): value
        for name, value in weights.items()
        if name not in _GONE_WEIGHTS
    }


class RetrievalPolicy(DeferredModel):
    """All weights of retrieval; `memory/retrieval/scoring.py` computes the signals.

    Signals are absolute: they do not depend on other results, so a score means the same for every query.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    semantic: _Weight = Field(0.4, description="Similarity of meaning (cosine)")
    lexical: _Weight = Field(0.6, description="Words of the query (BM25)")
    late_interaction: Share = Field(
        0.5, description="Share of a word's weight for a word of nearly the same meaning"
    )
    neighbour: _Weight = Field(
        0.4, description="Share of its score that a turn gives to the turns next to it"
    )
    second_neighbour: _Weight = Field(0.2, description="The same for turns that are two away")
    related: _Weight = Field(0.2, description="The same for related entries (graph, one hop)")
    session: _Weight = Field(0.4, description="Its session matches the query")
    speaker: _Weight = Field(0.2, description="The query names its speaker")
    subject: _Weight = Field(0.1, description="The query names its subject")
    other_people: Share = Field(
        0.4, description="Share of its signals that counts if the query names somebody else"
    )
    tag: _Weight = Field(0.2, description="It has a tag or an alias of the query")
    time: _Weight = Field(0.4, description="It is of the period of the query")
    recency: _Weight = Field(0.03, description="It is of the last days before the query")
    mention: _Weight = Field(0.1, description="It names a time, and the query asks for one")
    question: _Weight = Field(0.1, description="Taken off an entry that is a question itself")
    importance: _Weight = Field(0.0, description="Its importance, as a part of relevance")

    min_cosine: float = Field(0.1, ge=-1, le=1, description="Cosine that counts as 0")
    full_cosine: float = Field(0.7, gt=-1, le=1, description="Cosine that counts as 1")
    full_words: float = Field(
        1.5, gt=0, description="BM25, as a multiple of the words' weights, that counts as 1"
    )
    recent_days: float = Field(7, gt=0, description="Days that count as recent")
    default_period_days: float = Field(
        0,
        ge=0,
        le=36_500,
        description="Without a period in the query, entries of this many last days are candidates too",
    )

    rerank: Rerank = Field(
        "off", description="Which reranker reads the best results together with the query"
    )
    reranked: int = Field(30, ge=1, le=500, description="How many of the best results it reads")
    local_relevance: Share = Field(
        0.1, description="Share of the score that is the relevance by the local reranker"
    )
    remote_relevance: Share = Field(
        0.5, description="Share of the score that is the relevance by a reranking server"
    )

    score: ScoreKind = Field(
        "confidence",
        description="What a score is: the calibrated confidence that the entry answers, or the plain weighted sum",
    )
    sort_by_relevance: Share = Field(1.0, description="Weight of the score in the order")
    sort_by_importance: Share = Field(0.0, description="Weight of the importance in the order")
    min_score: Share = Field(0.16, description="Results below this score are left out")
    min_score_share: Share = Field(
        0.5,
        description="Results below this share of the best score are left out too, unless `min_score` is 0",
    )
    min_evidence_share: Share = Field(
        0.2,
        description="Results below this share of the best evidence are left out too, unless `min_score` is 0",
    )
    midpoint: float = Field(
        0.47, description="Strength of the best result that gives a score of 0.5"
    )
    slope: float = Field(8.9, gt=0, description="How steeply the score rises there")
    pool: int = Field(100, ge=10, le=5000, description="Candidates of each source")
    propagation_seeds: int = Field(
        30, ge=0, le=500, description="How many of the best entries propagate their scores"
    )

    @model_validator(mode="before")
    @classmethod
    def _of_old_names(cls, weights: Any) -> Any:
        return current_weights(weights) if isinstance(weights, Mapping) else weights

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if self.full_cosine <= self.min_cosine:
            raise ValueError("full_cosine is above min_cosine")
        return self


PRESETS: Mapping[PresetName, RetrievalPolicy] = MappingProxyType(
    {
        "mnestic": RetrievalPolicy(),
        "leonidas": RetrievalPolicy(
            semantic=0.4,
            lexical=0.3,
            time=0.2,
            recency=0.2,
            importance=0.1,
            late_interaction=0,
            neighbour=0,
            second_neighbour=0,
            related=0,
            session=0,
            speaker=0,
            subject=0,
            other_people=1,
            tag=0,
            mention=0,
            question=0,
            default_period_days=7,
            score="weighted_sum",
            sort_by_relevance=0.7,
            sort_by_importance=0.3,
            min_score=0.6,
            min_score_share=0,
            min_evidence_share=0,
        ),
    }
)


def check_policy(policy: object) -> None:
    """Refuses a value that is no policy.

    Raises:
        InvalidInputError: it is neither a `RetrievalPolicy` nor None.
    """
    if policy is not None and not isinstance(policy, RetrievalPolicy):
        why = f"is {policy!r:.40}; give a RetrievalPolicy, such as PRESETS['leonidas'], or None"
        raise InvalidInputError(what="policy", why=why)


def _question(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; say what to look for")
    if len(text) > LONGEST_QUESTION:
        raise ValueError(f"has {len(text)} characters, the limit is {LONGEST_QUESTION}")
    return text


class RetrievalQuery(DeferredModel):
    """A query of an agent's memory, with its filters.

    Superseded, ended, deleted, expired and archived entries are left out, unless `as_of` or `statuses` ask for them.
    `as_of` answers with what was known at that moment. `since` is inclusive, `until` is exclusive. Words such as
    "last week" are relative to `asked_at`. `excluded` are ids of entries to ignore, such as the question itself.
    `repeats` keeps results that say the same as one before them, by the same person. `rerank` chooses the reranker; by
    default the policy does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[Text, AfterValidator(_question)]
    mode: Mode = "hybrid"
    limit: int = Field(10, ge=1, le=MOST_RESULTS)
    min_score: Share | None = None
    rerank: Rerank | None = None
    kinds: tuple[EntryKind, ...] = ()
    entry_types: tuple[EntryType, ...] = ()
    categories: tuple[Category, ...] = ()
    tags: tuple[Text, ...] = ()
    subject: Text | None = None
    session_id: Text | None = None
    channel: Text | None = None
    statuses: tuple[EntryStatus, ...] = ("active",)
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    as_of: AwareTimestamp | None = None
    asked_at: AwareDatetime | None = None
    excluded: frozenset[Text] = frozenset()
    repeats: bool = False

    @model_validator(mode="after")
    def _is_a_time(self) -> Self:
        check_order(self.since, self.until)
        return self

    @property
    def asks_for_nothing(self) -> bool:
        """Whether it is a command such as "run it", in which nothing is named; any score is above a threshold of 0."""
        return self.mode != "text" and self.min_score != 0 and is_command(self.text)

    @property
    def is_filtered(self) -> bool:
        """Whether it has filters, so that most entries may be ruled out."""
        of_entries = (
            self.kinds,
            self.entry_types,
            self.categories,
            self.tags,
            self.subject,
            self.session_id,
        )
        given = (*of_entries, self.channel, self.since, self.until, self.as_of)
        return self.statuses != ("active",) or any(one not in (None, ()) for one in given)


class StatedClaim(DeferredModel):
    """A claim of a message: the characters `start` up to, not with, `end` that make it, what it says, and whether that holds."""

    model_config = ConfigDict(frozen=True)

    start: int
    end: int
    holds: bool
    predicate: str
    object: str | None


class RetrievedEntry(DeferredModel):
    """An entry that answers a query; its `kind` says whether it is a message, or follows from a fact or an episode.

    `score`, from 0 to 1, is the confidence that it does. `passage` is the part of a long text with most words of the
    query; it is empty for a short text. If some claims of a
    message hold no longer, `claims` are all of them. `signals` are the parts of the sum behind the score; `rerank`
    among them is how a reranker changed the score.
    """

    model_config = ConfigDict(frozen=True)

    entry: Entry
    score: float
    signals: dict[str, float]
    passage: str = ""
    claims: tuple[StatedClaim, ...] = ()


class Retrieval(DeferredModel):
    """The results of a query, the best first.

    `words` are the lexemes that were searched for, with their weights. `names` are the names that the query is about.
    `misspelt` are words that known ones replaced. `period` is the time that the query names. `skipped` are sources that
    did not answer, and why.
    """

    model_config = ConfigDict(frozen=True)

    results: tuple[RetrievedEntry, ...] = ()
    words: dict[str, float] = Field(default_factory=dict)
    names: tuple[str, ...] = ()
    misspelt: dict[str, str] = Field(default_factory=dict)
    period: tuple[datetime, datetime] | None = None
    skipped: dict[str, str] = Field(default_factory=dict)

"""The values of retrieval: a query, its results, and the policy that weighs them.

The client, the command line, jobs and auto-retrieval all use them.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryKind, EntryStatus, EntryType
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.language.commands import is_command
from mnestic.memory.scope import Id
from mnestic.memory.timestamps import AwareTimestamp, check_order
from mnestic.memory.validation import Share, Text

Mode = Literal["hybrid", "semantic", "text"]
PresetName = Literal["mnestic", "leonidas"]
Rerank = Literal["off", "local", "remote"]
Archived = Literal["when_empty", "never"]
ScoreKind = Literal["logistic", "weighted_sum"]
LONGEST_QUESTION = 10_000  # characters
MOST_RESULTS = 1000
FULL_COSINE = 0.7  # the cosine that counts as 1

_Weight = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]

# The earlier names of weights. Settings may still be stored by these.
_OLD_WEIGHTS: Mapping[str, str] = MappingProxyType(
    {
        "least_cosine": "min_cosine",
        "least_of_best": "min_score_share",
        "lending": "propagation_seeds",
    }
)


# Weights that are gone. Settings may still be stored with these.
_GONE_WEIGHTS = frozenset(
    {
        "alike",
        "beside",
        "fact_match",
        "full_cosine",
        "full_words",
        "late_interaction",
        "learned",
        "least_share",
        "local_relevance",
        "midpoint",
        "min_evidence_share",
        "near",
        "others",
        "recent_days",
        "related",
        "revision",
        "second_neighbour",
        "slope",
        "supersession",
    }
)


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


# The weights that were learned; the file says how.
LEARNED: Mapping[str, float] = MappingProxyType(
    json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8"))["weights"]
)


def _learned(name: str, description: str) -> Any:
    return Field(LEARNED[name], description=description)


class RetrievalPolicy(DeferredModel):
    """All weights of retrieval; `memory/retrieval/scoring.py` computes the signals.

    The score is the logistic function of the weighted sum of the signals, or the sum itself. A weight above 0 speaks for an entry.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    intercept: _Weight = _learned("intercept", "What each entry has without any signal")
    semantic: _Weight = _learned("semantic", "Similarity of meaning (cosine)")
    lexical: _Weight = Field(0.0, description="Words of the query, by their frequency (BM25)")
    coverage: _Weight = _learned(
        "coverage",
        "Share of the query's words that it has, weighed by their rarity; near words count in part",
    )
    neighbour: _Weight = _learned(
        "neighbour", "What the turns around it say of the query, and related entries"
    )
    reply: _Weight = _learned("reply", "What a question next to it says of the query")
    session: _Weight = _learned("session", "Its session matches the query")
    speaker: _Weight = _learned("speaker", "The query names its speaker")
    subject: _Weight = _learned("subject", "The query names its subject; or, against it, others")
    other_people: _Weight = _learned("other_people", "The query names somebody else")
    tag: _Weight = _learned("tag", "It has a tag or an alias of the query")
    identifier: _Weight = _learned("identifier", "It has an identifier of the query")
    other_identifier: _Weight = _learned("other_identifier", "It has another in its place")
    time: _Weight = _learned("time", "It is of the period of the query, or near it")
    topic_time: _Weight = _learned(
        "topic_time", "It is of that period, and it or what is beside it says what is asked"
    )
    mention: _Weight = _learned("mention", "It names a time, and the query asks for one")
    ahead: _Weight = _learned("ahead", "It is dated in the future")
    question: _Weight = _learned("question", "It is a question itself")
    without_vector: _Weight = _learned("without_vector", "Its meaning is not compared")
    without_words: _Weight = _learned("without_words", "Its words are not compared")
    recency: _Weight = Field(
        0.0,
        description="It is of the last days before the query; in a weighted sum, of the period that it names",
    )
    importance: _Weight = Field(0.0, description="Its importance")
    names: _Weight = _learned("names", "The query names somebody who is known")
    period: _Weight = _learned("period", "The query names a period")
    uncertain: _Weight = _learned("uncertain", "The query may be about somebody unknown")
    unknown_identifier: _Weight = _learned(
        "unknown_identifier", "No entry has the identifier of the query"
    )

    min_cosine: float = Field(0.1, ge=-1, lt=FULL_COSINE, description="Cosine that counts as 0")
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
    remote_relevance: Share = Field(
        0.5, description="Share of the score that is the relevance by a reranking server"
    )

    score: ScoreKind = Field(
        "logistic",
        description="What a score is: the logistic function of the weighted sum, or the sum itself",
    )
    sort_by_relevance: Share = Field(1.0, description="Weight of the score in the order")
    sort_by_importance: Share = Field(0.0, description="Weight of the importance in the order")
    min_score: Share = Field(0.3, description="Results below this score are left out")
    min_score_share: Share = Field(
        0.5,
        description="Results below this share of the best score are left out too, unless `min_score` is 0",
    )
    pool: int = Field(80, ge=10, le=5000, description="Candidates of each source")
    archived: Archived = Field(
        "when_empty",
        description="Whether archived entries are searched where no live one has a score of 0.9",
    )
    propagation_seeds: int = Field(
        30, ge=0, le=500, description="How many of the best entries their neighbours are read of"
    )

    @model_validator(mode="before")
    @classmethod
    def _of_old_names(cls, weights: Any) -> Any:
        return current_weights(weights) if isinstance(weights, Mapping) else weights


SIGNALS = (*LEARNED, "lexical", "recency", "importance")
_NO_WEIGHTS = dict.fromkeys(SIGNALS, 0.0)

PRESETS: Mapping[PresetName, RetrievalPolicy] = MappingProxyType(
    {
        "mnestic": RetrievalPolicy(),
        "leonidas": RetrievalPolicy.model_validate(
            _NO_WEIGHTS
            | {"semantic": 0.4, "lexical": 0.3, "recency": 0.2, "importance": 0.1}
            | {"score": "weighted_sum", "default_period_days": 7}
            | {"sort_by_relevance": 0.7, "sort_by_importance": 0.3}
            | {"min_score": 0.6, "min_score_share": 0}
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
    default the policy does. Without a `reader` the agent itself searches; with one, nothing that this reader may not read is found.
    `asker` is whom the query means by *I*, by name; by default it is the reader, if somebody of that name speaks.
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
    speaker: Text | None = None
    statuses: tuple[EntryStatus, ...] = ("active",)
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    as_of: AwareTimestamp | None = None
    asked_at: AwareDatetime | None = None
    excluded: frozenset[Text] = frozenset()
    repeats: bool = False
    reader: Id | None = None
    asker: Text | None = None

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
        given = (*of_entries, self.channel, self.speaker, self.since, self.until, self.as_of)
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
    among them is how a reranker changed the score. An `archived` one comes out of the archive, since no live one answers.
    """

    model_config = ConfigDict(frozen=True)

    entry: Entry
    score: float
    signals: dict[str, float]
    passage: str = ""
    claims: tuple[StatedClaim, ...] = ()
    archived: bool = False


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

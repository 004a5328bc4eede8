"""Retrieval: a question, what is found for it, and the policy by which it is weighed.

It stands apart from how the score is worked out (`memory/retrieval/ranking.py`), since every way in speaks these
values: the client, the command line, jobs and auto-retrieval.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryStatus, EntryType
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.timestamps import check_order
from mnestic.memory.validation import Share, Text

Mode = Literal["hybrid", "semantic", "text"]
PresetName = Literal["mnestic", "leonidas"]
Rerank = Literal["off", "local", "remote"]
LONGEST_QUESTION = 10_000  # characters
MOST_RESULTS = 1000

_Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


# The earlier names of weights. Settings may still be stored by these.
_OLD_WEIGHTS: Mapping[str, str] = MappingProxyType(
    {
        "learned": "fact_match",
        "alike": "late_interaction",
        "beside": "neighbour",
        "near": "second_neighbour",
        "others": "other_people",
        "least_cosine": "min_cosine",
        "least_of_best": "min_score_share",
        "least_share": "min_evidence_share",
        "lending": "propagation_seeds",
        "revision": "supersession",
    }
)


def current_weights(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights by their current names; each may still be given by its old one.

    Raises:
        ValueError: one is given by both names.
    """
    for old, new in _OLD_WEIGHTS.items():
        if old in weights and new in weights:
            raise ValueError(f"{old} is the old name of {new}; give {new} alone")
    return {_OLD_WEIGHTS.get(name, name): value for name, value in weights.items()}


class RetrievalPolicy(DeferredModel):
    """Every weight of retrieval; how each signal is worked out stands in `memory/retrieval/scoring.py`.

    Signals are absolute: what one says of an entry does not depend on what else was found, so a score
    means the same for every question. A revision alone is measured by what it revises, and is at most lifted to it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    semantic: _Weight = Field(0.4, description="What it means is near what is asked")
    lexical: _Weight = Field(0.6, description="It has the words of the question (BM25)")
    fact_match: _Weight = Field(0.6, description="What was learned from it is what is asked")
    late_interaction: Share = Field(
        0.5, description="Share of what a word says that one does which means nearly the same"
    )
    neighbour: _Weight = Field(
        0.4, description="Share of their own that turns lend to those beside them"
    )
    second_neighbour: _Weight = Field(0.2, description="Likewise to those two turns away")
    related: _Weight = Field(
        0.2, description="Likewise to entries that are related (graph, one hop)"
    )
    session: _Weight = Field(0.4, description="Its session speaks of what is asked")
    speaker: _Weight = Field(0.2, description="Who said it is named in the question")
    subject: _Weight = Field(0.1, description="Whom it is about is named in the question")
    other_people: Share = Field(
        0.4, description="Share of what it says that counts where the question names somebody else"
    )
    tag: _Weight = Field(0.2, description="It has a tag or an alias that the question names")
    time: _Weight = Field(0.4, description="It is of the time that the question names")
    recency: _Weight = Field(0.03, description="It is of the last days before the question")
    mention: _Weight = Field(0.1, description="It names a time, and the question asks for one")
    question: _Weight = Field(0.1, description="Taken off what asks, instead of telling")
    supersession: Share = Field(
        1.0, description="How far what says that something changed is lifted to what said so before"
    )
    importance: _Weight = Field(0.0, description="Its importance, as a part of relevance")

    min_cosine: float = Field(0.1, ge=-1, le=1, description="Cosine that says nothing")
    full_cosine: float = Field(0.7, gt=-1, le=1, description="Cosine that says all")
    full_words: float = Field(1.5, gt=0, description="BM25, of what the words weigh, that says all")
    recent_days: float = Field(7, gt=0, description="Days that count as recent")

    rerank: Rerank = Field(
        "off", description="Whether the best are read once more together with the question, by whom"
    )
    reranked: int = Field(30, ge=1, le=500, description="How many of the best then are")
    local_relevance: Share = Field(
        0.1, description="Share of the score that is then the relevance which the local one tells"
    )
    remote_relevance: Share = Field(
        0.5, description="Share of the score that is then the relevance which a server tells"
    )

    sort_by_relevance: Share = Field(1.0, description="Weight of the score in the order")
    sort_by_importance: Share = Field(0.0, description="Weight of the importance in the order")
    min_score: Share = Field(0.06, description="Results below this score are left out")
    min_score_share: Share = Field(
        0.25, description="So are those below this share of the best score; not for a score of 0"
    )
    min_evidence_share: Share = Field(
        0.2,
        description="So are those that say less than this share of the best; not for a score of 0",
    )
    midpoint: float = Field(0.6, description="What the best one says where the score is 0.5")
    slope: float = Field(8.9, gt=0, description="How fast the score grows there")
    pool: int = Field(100, ge=10, le=5000, description="Entries that each source brings at first")
    propagation_seeds: int = Field(
        30, ge=0, le=500, description="Entries, the best ones, that lend to others"
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
            fact_match=0,
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
            supersession=0,
            sort_by_relevance=0.7,
            sort_by_importance=0.3,
        ),
    }
)


def check_policy(policy: object) -> None:
    """Refuses what are no weights.

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
    """What is asked of an agent's memory, and what may come back.

    What was superseded, ended or deleted, what has expired and what is archived does not come back,
    unless `as_of` or `statuses` ask for it. `as_of` answers with what was known at that moment.
    `since` is included, `until` is not. Words such as "last week" are of the week before `asked_at`.
    `excluded` are ids of entries that are taken as if they were not there, such as the question itself.
    `repeats`: also what says the same, by the same person, as what comes before it. `rerank` says whether the
    best are read once more together with the question, and by whom; the policy without it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[Text, AfterValidator(_question)]
    mode: Mode = "hybrid"
    limit: int = Field(10, ge=1, le=MOST_RESULTS)
    min_score: Share | None = None
    rerank: Rerank | None = None
    entry_types: tuple[EntryType, ...] = ()
    categories: tuple[Category, ...] = ()
    tags: tuple[Text, ...] = ()
    subject: Text | None = None
    session_id: Text | None = None
    channel: Text | None = None
    statuses: tuple[EntryStatus, ...] = ("active",)
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    as_of: AwareDatetime | None = None
    asked_at: AwareDatetime | None = None
    excluded: frozenset[Text] = frozenset()
    repeats: bool = False

    @model_validator(mode="after")
    def _is_a_time(self) -> Self:
        check_order(self.since, self.until)
        return self

    @property
    def is_filtered(self) -> bool:
        """Whether it asks anything of entries beside its words, so that most may be ruled out."""
        of_entries = (self.entry_types, self.categories, self.tags, self.subject, self.session_id)
        given = (*of_entries, self.channel, self.since, self.until, self.as_of)
        return self.statuses != ("active",) or any(one not in (None, ()) for one in given)


class RetrievedEntry(DeferredModel):
    """An entry that answers a question.

    `score`, 0 to 1, is how sure it is that it does; `signals` is what each part added to it, before the
    score was made of their sum; `rerank` is what a reranker then added to the score, or took from it.
    """

    model_config = ConfigDict(frozen=True)

    entry: Entry
    score: float
    signals: dict[str, float]


class Retrieval(DeferredModel):
    """What was found, the best first.

    `words` are those that were looked for, as they are stored, with how telling each is; `names` those
    that were taken as whom it is about; `misspelt` words that were replaced by what is known;
    `period` the time that the question names; `skipped` sources that did not answer, and why.
    """

    model_config = ConfigDict(frozen=True)

    results: tuple[RetrievedEntry, ...] = ()
    words: dict[str, float] = Field(default_factory=dict)
    names: tuple[str, ...] = ()
    misspelt: dict[str, str] = Field(default_factory=dict)
    period: tuple[datetime, datetime] | None = None
    skipped: dict[str, str] = Field(default_factory=dict)

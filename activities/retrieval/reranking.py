"""Reranking: a model reads the best results together with the query.

It is optional: a reranker that does not answer within its limit is only named as skipped.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from mnestic.memory.errors import BudgetExceededError, ConfigurationError
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)
from mnestic.memory.retrieval.candidates import Ranked
from mnestic.memory.retrieval.ports import Reranker
from mnestic.memory.retrieval.queries import Rerank, RetrievalPolicy
from mnestic.memory.retrieval.ranking import rerank

# Errors of a model that must not fail the query.
SKIPPED = (
    BudgetExceededError,
    ConfigurationError,
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)
Rerankers = Mapping[Rerank, Reranker]
RERANKING_LIMIT = timedelta(seconds=1)  # a free place among the calls included
_LOCAL_RELEVANCE = 0.1  # share of the score that is the relevance by the local reranker
_MISSING = "there is no server of rerankers; set MNESTIC_RERANK_URL, or rerank by `local`"


async def rerank_top(
    question: str,
    ranked: Sequence[Ranked],
    entries: Mapping[int, Entry],
    *,
    by: Reranker | None,
    policy: RetrievalPolicy,
) -> tuple[list[Ranked], dict[str, str]]:
    """The candidates in the reranked order, or in their old order with the reason.

    Args:
        question: The text of the query.
        ranked: The candidates, the best first.
        entries: The entries of the best candidates, by number.
        by: The reranker, if there is one.
        policy: How many candidates it reads, and its weight.
    """
    best = [one for one in ranked[: policy.reranked] if one.number in entries]
    if not best:
        return list(ranked), {}
    if by is None:
        return list(ranked), {"rerank": _MISSING}
    try:
        scores = await by.rerank(question, [_text(entries[one.number]) for one in best])
    except SKIPPED as error:
        return list(ranked), {"rerank": str(error)}
    read = {one.number for one in best}
    others = [one for one in ranked if one.number not in read]
    weight = _LOCAL_RELEVANCE if by.model is None else policy.remote_relevance
    return rerank([*best, *others], scores.relevances, weight=weight, policy=policy), {}


def _text(entry: Entry) -> str:
    """The text with its speaker, since the query may be about the speaker."""
    return f"{entry.speaker}: {entry.content}" if entry.speaker else entry.content

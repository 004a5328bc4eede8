"""Reranking: the best of a search, read once more together with the question.

It stands apart from retrieving, since it is optional, and a reranker that does not answer changes nothing
but what is said of it.
"""

from collections.abc import Mapping, Sequence

from mnestic.memory.errors import BudgetExceededError, ConfigurationError
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)
from mnestic.memory.ports import Reranker
from mnestic.memory.retrieval.queries import Rerank, RetrievalPolicy
from mnestic.memory.retrieval.ranking import Ranked, rerank

# What keeps a model from answering, and a question from nothing else.
SKIPPED = (
    BudgetExceededError,
    ConfigurationError,
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)
Rerankers = Mapping[Rerank, Reranker]
_MISSING = "there is no server of rerankers; set MNESTIC_RERANK_URL, or rerank by `local`"


async def rerank_top(
    question: str,
    ranked: Sequence[Ranked],
    entries: Mapping[int, Entry],
    *,
    by: Reranker | None,
    policy: RetrievalPolicy,
) -> tuple[list[Ranked], dict[str, str]]:
    """The candidates in the order that follows, or as they were, and why.

    Args:
        question: As it was asked.
        ranked: The candidates, the best first.
        entries: Those of the best, by number.
        by: Who reads; None where there is none.
        policy: How many are read, and how much that counts.
    """
    best = [one for one in ranked[: policy.reranked] if one.number in entries]
    if not best:
        return list(ranked), {}
    if by is None:
        return list(ranked), {"rerank": _MISSING}
    try:
        told = await by.rerank(question, [_text(entries[one.number]) for one in best])
    except SKIPPED as error:
        return list(ranked), {"rerank": str(error)}
    read = {one.number for one in best}
    others = [one for one in ranked if one.number not in read]
    weight = policy.local_relevance if by.model is None else policy.remote_relevance
    return rerank([*best, *others], told.relevances, weight=weight, policy=policy), {}


def _text(entry: Entry) -> str:
    """What was said, and who said it, since a question may be of them."""
    return f"{entry.speaker}: {entry.content}" if entry.speaker else entry.content

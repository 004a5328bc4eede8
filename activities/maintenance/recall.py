"""Recall of new vectors: whether sampled entries are found by their own words as well as with the vectors before.

It only reads.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from mnestic.memory.errors import BudgetExceededError
from mnestic.memory.maintenance.embeddings import SampledEntry
from mnestic.memory.models.errors import ModelRefusedError
from mnestic.memory.ports import Embedder, Transaction

Begin = Callable[[], AbstractAsyncContextManager[Transaction]]
Embed = Callable[[Embedder, Sequence[str]], Awaitable[tuple[bytes, ...]]]


@dataclass(frozen=True, slots=True)
class Recall:
    """Shares of sampled queries.

    `after` and `before` are those whose entry is among the nearest ten, by the new and by the old vectors; `before` is None where
    the old model answers no more. `of_exact` is what a search by the new vectors finds of what comparing all would find.
    """

    queries: int
    after: float
    before: float | None
    of_exact: float

    @property
    def summary(self) -> str:
        """In words."""
        before = "unknown" if self.before is None else f"{self.before:.1%}"
        return (
            f"of {self.queries} sampled queries {self.after:.1%} find their entry, before {before}"
        )

    def find_loss(self, *, least: float) -> str | None:
        """Why searches would find less than they may; None if they find enough.

        Args:
            least: Share of the recall before that the new vectors need, and of an exact search that their index needs.
        """
        if self.after < least * (1.0 if self.before is None else self.before):
            return f"{self.summary}, and {least:.0%} of that is needed (monthly.least_recall)"
        if self.of_exact < least:
            return (
                f"their index finds {self.of_exact:.1%} of what an exact search finds, and {least:.0%} "
                "are needed (monthly.least_recall)"
            )
        return None


async def compare_recall(
    begin: Begin,
    sample: Sequence[SampledEntry],
    *,
    before: tuple[str, Embedder | None],
    after: Embedder,
    embed: Embed,
) -> Recall:
    """Compares the vectors of two models on queries: the texts of entries, and passages of them.

    Args:
        begin: Begins a transaction of the agent that reads.
        sample: Entries; without any nothing can be lost.
        before: The name of the old vectors, and their embedder if it can be had.
        after: The embedder of the new ones.
        embed: Calls an embedder.
    """
    wanted = [one.number for one in sample for _ in range(2)]
    texts = [text for one in sample for text in (one.content, one.passage)]
    if not texts:
        return Recall(0, 1.0, 1.0, 1.0)
    vectors = await embed(after, texts)
    async with begin() as transaction:
        found = await transaction.embeddings.list_nearest(after.name, vectors)
        exact = await transaction.embeddings.list_nearest(after.name, vectors, is_exact=True)
    of_exact = [len({*a} & {*b}) / max(1, len(b)) for a, b in zip(found, exact, strict=True)]
    return Recall(
        queries=len(texts),
        after=_share(wanted, found),
        before=await _before(begin, texts, wanted, before=before, embed=embed),
        of_exact=sum(of_exact) / len(of_exact),
    )


async def _before(
    begin: Begin,
    texts: Sequence[str],
    wanted: Sequence[int],
    *,
    before: tuple[str, Embedder | None],
    embed: Embed,
) -> float | None:
    name, embedder = before
    if embedder is None:
        return None
    try:
        vectors = await embed(embedder, texts)
    except BudgetExceededError:
        raise
    except ModelRefusedError:  # its server has it no more
        return None
    async with begin() as transaction:
        return _share(wanted, await transaction.embeddings.list_nearest(name, vectors))


def _share(wanted: Sequence[int], found: Sequence[Sequence[int]]) -> float:
    return sum(one in numbers for one, numbers in zip(wanted, found, strict=True)) / len(wanted)

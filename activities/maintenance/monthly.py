"""The monthly maintenance of an agent: what follows from its memory is compared with it, and mended."""

from collections import Counter

from mnestic.activities.maintenance.batches import Batch, BatchRun
from mnestic.memory.ports import Transaction


async def maintain_monthly(
    transaction: Transaction, batch_run: BatchRun, *, after: str | None = None
) -> Batch:
    """Compares the graph with the facts, and full text search with the entries.

    Args:
        transaction: Of the agent.
        batch_run: The run.
        after: The number of the last entry of the batch before; None for the first batch.
    """
    counts, store = Counter[str](), transaction.maintenance
    if after is None:
        counts["edges_mended"] = await transaction.facts.graph.rebuild()
    begin = int(after or 0)
    end = await store.find_end(begin, limit=batch_run.sizes.renewed)
    counts["words_mended"] = await store.mend_words(after=begin, up_to=end)
    return Batch(+counts, None if end is None else str(end))

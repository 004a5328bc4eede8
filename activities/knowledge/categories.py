"""The summaries of categories: read, and written again where facts have changed."""

from datetime import datetime

from mnestic.memory.knowledge.world.categories import CategoryOverview, overview_of
from mnestic.memory.ports import TokenCounter, Transaction


async def read_categories(
    transaction: Transaction, *, now: datetime, count_tokens: TokenCounter
) -> tuple[CategoryOverview, ...]:
    """The categories of an agent by name, each with its summary as its facts are."""
    stored = await transaction.categories.read(now)
    return tuple(overview_of(category, now=now, count_tokens=count_tokens) for category in stored)


async def rebuild_categories(
    transaction: Transaction, *, now: datetime, count_tokens: TokenCounter
) -> int:
    """Writes the summaries of categories that have changed; returns how many."""
    await transaction.categories.lock()
    stored = await transaction.categories.read(now)
    summaries = {
        category.name: overview_of(category, now=now, count_tokens=count_tokens).summary
        for category in stored
        if category.summary is None
    }
    if summaries:
        await transaction.categories.put(summaries, at=now)
    return len(summaries)

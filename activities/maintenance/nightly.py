"""The nightly maintenance of an agent."""

from collections import Counter
from datetime import datetime

from mnestic.activities.knowledge.categories import rebuild_categories
from mnestic.activities.knowledge.removal import remove_entries
from mnestic.activities.maintenance.duplicates import merge_duplicates
from mnestic.activities.maintenance.parts import Part, PartSizes
from mnestic.memory.maintenance.policies import NightlyPolicy
from mnestic.memory.ports import TokenCounter, Transaction

_ENTRIES = 500  # removed by one statement


async def maintain_nightly(
    transaction: Transaction,
    *,
    now: datetime,
    at: datetime,
    policy: NightlyPolicy,
    count_tokens: TokenCounter,
    run: str,
    sizes: PartSizes,
    after: str | None = None,
) -> Part:
    """Removes what has expired, merges duplicates, promotes what was used, computes importance, and writes summaries.

    The first part does all of it, but computes the importance of so many entries; later parts compute that of the others.

    Args:
        transaction: Of the agent.
        now: The moment that decides what has expired.
        at: The time of the transaction, no earlier than `now`: what is stored is as of then, so a late run makes nothing older.
        policy: It says what is a duplicate, and what use adds.
        count_tokens: What limits the summaries of categories.
        run: The run that does it, as the archive names it.
        sizes: How much one part does.
        after: The number of the last entry of the part before; None for the first part.
    """
    store = transaction.maintenance
    if after is not None:
        renewed, last = await _renew_importance(transaction, at=at, after=after, sizes=sizes)
        return Part(+Counter(importance_changed=renewed), after=last)
    counts = Counter(
        records_expired=await store.remove_expired_records(now),
        entries_expired=await _remove_expired_entries(transaction, now=now),
        merged=await merge_duplicates(
            transaction, now=now, at=at, similarity=policy.merge_similarity, run=run
        ),
        promoted=await _promote_facts(transaction, now=now, step=policy.promotion),
    )
    renewed, last = await _renew_importance(transaction, at=at, after="0", sizes=sizes)
    # Categories come last, since transactions that change facts wait for them.
    rebuilt = await rebuild_categories(transaction, now=at, count_tokens=count_tokens)
    counts += Counter(importance_changed=renewed, categories_rebuilt=rebuilt)
    return Part(+counts, after=last)


async def _renew_importance(
    transaction: Transaction, *, at: datetime, after: str, sizes: PartSizes
) -> tuple[int, str | None]:
    """Computes the importance of the next entries; returns how many changed, and the last of them unless there are no more."""
    store, basis = transaction.maintenance, await transaction.settings.importance_basis()
    end = await store.find_end(int(after), limit=sizes.renewed)
    renewed = await store.renew_importance(at, basis.policy, after=int(after), up_to=end)
    return renewed, None if end is None else str(end)


async def _promote_facts(transaction: Transaction, *, now: datetime, step: float) -> int:
    promoted = await transaction.maintenance.promote_facts(now, step=step)
    if promoted:
        await transaction.facts.graph.rebuild()  # the weights of edges follow
    return promoted


async def _remove_expired_entries(transaction: Transaction, *, now: datetime) -> int:
    removed = 0
    while expired := await transaction.maintenance.list_expired_entries(now, limit=_ENTRIES):
        removed += await remove_entries(transaction, expired)
    return removed

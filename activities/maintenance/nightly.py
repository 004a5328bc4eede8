"""The nightly maintenance of an agent."""

from collections import Counter
from datetime import timedelta

from mnestic.activities.knowledge.categories import rebuild_categories
from mnestic.activities.knowledge.removal import delete_entries
from mnestic.activities.maintenance.batches import Batch, BatchRun
from mnestic.activities.maintenance.duplicates import merge_duplicates
from mnestic.memory.maintenance.nights import NightlyCursor
from mnestic.memory.maintenance.policies import NightlyPolicy
from mnestic.memory.maintenance.removal_guard import ActiveMemory
from mnestic.memory.ports import TokenCounter, Transaction

_ENTRIES = 500  # removed by one statement


async def maintain_nightly(
    transaction: Transaction,
    batch_run: BatchRun,
    *,
    policy: NightlyPolicy,
    count_tokens: TokenCounter,
    after: str | None = None,
) -> Batch:
    """Removes what has expired and old rows, merges duplicates, promotes what was used, computes importance, and writes summaries.

    Args:
        transaction: Of the agent.
        batch_run: The run. If it removes nothing, no duplicates are merged.
        policy: It says what is a duplicate, and what use adds.
        count_tokens: What limits the summaries of categories.
        after: The cursor of the batch before; None for the first batch.
    """
    night = _NightlyRun(transaction, batch_run, policy=policy)
    counts = Counter[str]()
    if after is None:
        expired = await transaction.maintenance.remove_expired_records(batch_run.now)
        counts["records_expired"] = expired
        if policy.retention_days is not None:
            before = batch_run.now - timedelta(days=policy.retention_days)
            counts["old_rows_removed"] = await transaction.maintenance.remove_old_rows(before)
        begun = NightlyCursor() if batch_run.removes else NightlyCursor(compared=None)
    else:
        begun = NightlyCursor.model_validate_json(after)
    cursor = await night.resume(begun)
    counts += night.counts
    if cursor is None:  # last, since transactions that change facts wait for categories
        counts["categories_rebuilt"] = await rebuild_categories(
            transaction, now=batch_run.at, count_tokens=count_tokens
        )
    return Batch(
        +counts,
        None if cursor is None else cursor.model_dump_json(),
        left_active=ActiveMemory(facts=0, entries=night.left),
    )


class _NightlyRun:
    """A batch of the night, in one transaction: its counts, and how many entries later batches merge."""

    def __init__(
        self, transaction: Transaction, batch_run: BatchRun, *, policy: NightlyPolicy
    ) -> None:
        self._transaction, self._policy = transaction, policy
        self._now, self._at, self._run, self._sizes, _ = batch_run
        self.counts = Counter[str]()
        self.left = 0

    async def resume(self, cursor: NightlyCursor) -> NightlyCursor | None:
        """Goes on after the batch before, as far as the sizes allow; returns the cursor of the next batch, None at the end."""
        if cursor.removes:
            cursor = await self._merge(await self._remove_expired(cursor))
            if cursor.removes:
                return cursor
            self.counts["promoted"] = await self._promote_facts()
        return await self._renew_importance(cursor)

    async def _remove_expired(self, cursor: NightlyCursor) -> NightlyCursor:
        if cursor.expired is None:
            return cursor
        ids, last = await self._transaction.maintenance.list_expired_entries(
            self._now, after=cursor.expired, limit=self._sizes.expired
        )
        for start in range(0, len(ids), _ENTRIES):
            batch = ids[start : start + _ENTRIES]
            self.counts["entries_expired"] += await delete_entries(self._transaction, batch)
        return cursor.model_copy(update={"expired": last})

    async def _merge(self, cursor: NightlyCursor) -> NightlyCursor:
        if cursor.compared is None:
            return cursor
        done = await merge_duplicates(
            self._transaction,
            now=self._now,
            at=self._at,
            similarity=self._policy.merge_similarity,
            run=self._run,
            most=self._sizes.compared,
            after=cursor.compared,
        )
        self.counts["merged"], self.left = done.merged, done.left
        return cursor.model_copy(update={"compared": done.after})

    async def _promote_facts(self) -> int:
        promoted = await self._transaction.maintenance.promote_facts(
            self._now, step=self._policy.promotion
        )
        if promoted:
            await self._transaction.facts.graph.rebuild()  # the weights of edges follow
        return promoted

    async def _renew_importance(self, cursor: NightlyCursor) -> NightlyCursor | None:
        store = self._transaction.maintenance
        basis = await self._transaction.settings.importance_basis()
        end = await store.find_end(cursor.renewed, limit=self._sizes.renewed)
        self.counts["importance_changed"] = await store.renew_importance(
            self._at, basis.policy, after=cursor.renewed, up_to=end
        )
        return None if end is None else cursor.model_copy(update={"renewed": end})

"""The daily cleanup of an agent: entries that nobody needs go to the archive, and out of it for good."""

from collections import Counter

from mnestic.activities.knowledge.removal import delete_entries
from mnestic.activities.maintenance.batches import Batch, BatchRun
from mnestic.memory.knowledge.entries import ArchiveMark
from mnestic.memory.maintenance.cleanups import CleanupCursor
from mnestic.memory.maintenance.policies import CleanupPolicy
from mnestic.memory.maintenance.removal_guard import ActiveMemory
from mnestic.memory.ports import Transaction

_BATCH = 500  # archived entries that one statement deletes


async def clean_up(
    transaction: Transaction,
    batch_run: BatchRun,
    *,
    policy: CleanupPolicy,
    after: str | None = None,
) -> Batch:
    """Archives and deletes entries as the policy says, so many in one batch.

    Args:
        transaction: Of the agent.
        batch_run: The run, which the archive names. If it removes nothing, importance alone is computed.
        policy: It says which entries.
        after: The cursor of the batch before; None for the first batch.
    """
    cleanup = _Cleanup(transaction, batch_run, policy=policy)
    if after is not None:
        counts, cursor = await cleanup.resume(CleanupCursor.model_validate_json(after))
        return Batch(+counts, None if cursor is None else cursor.model_dump_json())
    basis = await transaction.settings.importance_basis()
    changed = await transaction.maintenance.renew_importance(batch_run.at, basis.policy)
    if not batch_run.removes:
        return Batch(+Counter(importance_changed=changed))
    plan = await transaction.maintenance.plan_cleanup(batch_run.now, policy, run=batch_run.run)
    counts, cursor = await cleanup.resume(plan.cursor) if plan.cursor else (Counter[str](), None)
    left = Counter[str]()
    if cursor is not None:
        left = Counter(archived=plan.archived, deleted=plan.deleted) - counts
    counts += Counter(importance_changed=changed)
    return Batch(
        +counts,
        None if cursor is None else cursor.model_dump_json(),
        left,
        ActiveMemory(facts=0, entries=left["archived"]),
    )


class _Cleanup:
    """The cleanup in one transaction."""

    def __init__(
        self, transaction: Transaction, batch_run: BatchRun, *, policy: CleanupPolicy
    ) -> None:
        self._transaction, self._policy = transaction, policy
        self._now, self._at, self._run, self._sizes, _ = batch_run

    async def resume(self, cursor: CleanupCursor) -> tuple[Counter[str], CleanupCursor | None]:
        """Archives the next entries, and once none is left, deletes archived ones; returns the cursor of the next batch."""
        counts = Counter[str]()
        if cursor.number is not None:
            counts["archived"], cursor = await self._archive(cursor)
        if cursor.number is None and cursor.archived_id is not None:
            counts["deleted"], cursor = await self._delete(cursor)
        return counts, None if cursor.is_at_end else cursor

    async def _archive(self, cursor: CleanupCursor) -> tuple[int, CleanupCursor]:
        store = self._transaction.maintenance
        chosen = await store.list_unneeded(
            self._now, self._policy, cursor, run=self._run, limit=self._sizes.archived
        )
        mark = ArchiveMark(archived_at=self._at, reason="unimportant", run=self._run)
        archived = await self._transaction.archive.add(chosen.unimportant, mark)
        mark = mark.model_copy(update={"reason": "over_limit"})
        archived += await self._transaction.archive.add(chosen.over_limit, mark)
        return archived, cursor.model_copy(update={"number": chosen.after})

    async def _delete(self, cursor: CleanupCursor) -> tuple[int, CleanupCursor]:
        store, limit = self._transaction.maintenance, self._sizes.deleted
        deleted, after = 0, cursor.archived_id
        while after is not None and deleted < limit:
            ids, after = await store.list_deletable(
                self._now, self._policy, after=after, run=self._run, limit=limit
            )
            for start in range(0, len(ids), _BATCH):
                deleted += await delete_entries(self._transaction, ids[start : start + _BATCH])
        return deleted, cursor.model_copy(update={"archived_id": after})

"""Maintenance of an agent's rows, by one statement for many of them."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.knowledge.facts import MOST_CONFIDENT
from mnestic.memory.knowledge.importance import (
    CRITICAL,
    LEAST_RECENCY,
    MANY_ACCESSES,
    MANY_RELATIONS,
    OTHER_TYPE,
    RICH_CHARS,
    ImportancePolicy,
)
from mnestic.memory.knowledge.relations import Place
from mnestic.memory.maintenance.cleanups import CleanupCursor, CleanupPlan, UnneededEntries
from mnestic.memory.maintenance.compression import Compression
from mnestic.memory.maintenance.duplicates import AlikeEntries, Merge
from mnestic.memory.maintenance.policies import MAINTENANCE_KINDS, CleanupPolicy, WeeklyPolicy
from mnestic.memory.maintenance.ports import Decay, FadingFact
from mnestic.memory.maintenance.removal_guard import ALLOWED, ActiveMemory
from mnestic.memory.maintenance.reports import run_name
from mnestic.stores.postgres.knowledge.derived_entries import LOCK_CORPUS
from mnestic.stores.postgres.knowledge.entry_index import EntryIndex
from mnestic.stores.postgres.queries import NamedQuery, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_REMOVE_EXPIRED_RECORDS = read_query("agents.remove_expired_records")
_REMOVE_OLD_ROWS = read_query("agents.remove_old_rows")
_COUNT_ACTIVE = read_query("agents.count_active")
_COUNT_ARCHIVED = read_query("agents.count_archived")
_SETTINGS = read_query("agents.set_reading")
_EXPIRED_ENTRIES = read_query("expired_entries")
_PLAN_CLEANUP, _LIST_UNNEEDED = read_query("plan_cleanup"), read_query("unneeded_entries")
_SET_SORTING = read_query("deletable_entries.set_sorting")
_LIST_DELETABLE = read_query("deletable_entries.list")
_DECAY, _LIST_FADING = read_query("decay_facts"), read_query("fading_facts")
_REMOVE_ORPHANS = read_query("agents.remove_orphans")
_LIST_ALIKE, _MERGE = read_query("alike_entries"), read_query("merge_entries")
_COMPARE = read_query("agents.compare")
_LIST_SIMILAR = read_query("similar_entries")
_WINDOW = 8  # entries that one is compared with, in each of three orders
_COMPRESS = read_query("agents.compress")
_PROMOTE = read_query("promote_facts")
_RENEW_IMPORTANCE = read_query("renew_importance")
_IMPORTANCE_CONSTANTS = {
    "critical": CRITICAL,
    "other_type": OTHER_TYPE,
    "least_recency": LEAST_RECENCY,
    "many_accesses": MANY_ACCESSES,
    "many_relations": MANY_RELATIONS,
    "rich_chars": RICH_CHARS,
}
# A fact fades below this confidence, unless it was learned or used within so many days.
_FADING = {"fade_below_confidence": 0.1, "fade_after_days": 90}
_LIST_WITHOUT_WORDS = read_query("agents.list_without_words")
_LAST = 2**63 - 1  # no entry has a higher number
_FIND_END = read_query("agents.find_end")


class PostgresMaintenanceStore:
    """Implements `mnestic.memory.maintenance.ports.MaintenanceStore`."""

    def __init__(self, unit: UnitOfWork, index: EntryIndex) -> None:
        self._unit, self._index = unit, index
        self._is_set = False

    async def count_active(self, now: datetime) -> ActiveMemory:
        """See the port."""
        (row,) = await self._fetch(_COUNT_ACTIVE, now=now)
        return ActiveMemory(row.facts, row.entries)

    async def count_archived(self, since: datetime, until: datetime) -> ActiveMemory:
        """See the port."""
        values = {
            "allowed": ALLOWED,
            "first": [run_name(kind, since) for kind in MAINTENANCE_KINDS],
            "last": [run_name(kind, until) for kind in MAINTENANCE_KINDS],
        }
        (row,) = await self._fetch(_COUNT_ARCHIVED, **values)
        return ActiveMemory(row.facts, row.entries)

    async def remove_expired_records(self, now: datetime) -> int:
        """See the port."""
        (row,) = await self._fetch(_REMOVE_EXPIRED_RECORDS, now=now)
        if row.removed:
            self._unit.wrote("record.expire", f"{row.removed} records")
        return int(row.removed)

    async def remove_old_rows(self, before: datetime) -> int:
        """See the port."""
        (row,) = await self._fetch(_REMOVE_OLD_ROWS, before=before)
        if row.removed:
            self._unit.read("history.remove", f"{row.removed} rows")
        return int(row.removed)

    async def list_expired_entries(
        self, now: datetime, *, after: int, limit: int
    ) -> tuple[tuple[str, ...], int | None]:
        """See the port."""
        rows = await self._fetch(_EXPIRED_ENTRIES, now=now, after=after, limit=limit)
        last = rows[-1].number if len(rows) == limit else None
        return tuple(row.id for row in rows), last

    async def plan_cleanup(self, now: datetime, policy: CleanupPolicy, *, run: str) -> CleanupPlan:
        """See the port."""
        values = self._cleanup_values(now, policy, run=run)
        (row,) = await self._fetch(_PLAN_CLEANUP, **values)
        archived = row.unimportant + row.over_limit
        cursor = CleanupCursor(
            most_needed=row.most_needed,
            number=0 if archived else None,
            archived_id="" if row.deleted else None,
        )
        return CleanupPlan(archived, row.deleted, None if cursor.is_at_end else cursor)

    async def list_unneeded(
        self, now: datetime, policy: CleanupPolicy, cursor: CleanupCursor, *, run: str, limit: int
    ) -> UnneededEntries:
        """See the port."""
        values = self._cleanup_values(now, policy, run=run)
        values |= {"most_needed": cursor.most_needed, "after": cursor.number, "limit": limit}
        rows = await self._fetch(_LIST_UNNEEDED, **values)
        return UnneededEntries(
            tuple(row.id for row in rows if row.is_unimportant),
            tuple(row.id for row in rows if not row.is_unimportant),
            rows[-1].number if len(rows) == limit else None,
        )

    async def list_deletable(
        self, now: datetime, policy: CleanupPolicy, *, after: str, run: str, limit: int
    ) -> tuple[tuple[str, ...], str | None]:
        """See the port."""
        values = self._cleanup_values(now, policy, run=run) | {"after": after, "limit": limit}
        await self._fetch(_SET_SORTING, sorting="off")
        (row,) = await self._fetch(_LIST_DELETABLE, **values)
        await self._fetch(_SET_SORTING, sorting="on")
        return tuple(row.ids), row.last

    def _cleanup_values(self, now: datetime, policy: CleanupPolicy, *, run: str) -> dict[str, Any]:
        limits = policy.model_dump(exclude={"enabled", "times"})
        return {**limits, "now": now, "run": run}

    async def decay_facts(self, now: datetime, policy: WeeklyPolicy) -> Decay:
        """See the port."""
        (row,) = await self._fetch(_DECAY, **self._decay_values(now, policy))
        if row.written:
            self._unit.wrote("fact.decay", f"{row.written} facts")
        return Decay(row.decayed, row.written - row.decayed, row.fading)

    async def list_fading(
        self, now: datetime, policy: WeeklyPolicy, *, after: str, limit: int
    ) -> tuple[tuple[FadingFact, ...], str | None]:
        """See the port."""
        values = self._decay_values(now, policy) | {"after": after, "limit": limit}
        (row,) = await self._fetch(_LIST_FADING, **values)
        if row.ids is None:
            return (), row.last
        columns = (row.ids, row.subjects, row.predicates, row.objects)
        return tuple(map(FadingFact, *columns)), row.last

    def _decay_values(self, now: datetime, policy: WeeklyPolicy) -> dict[str, Any]:
        return {"half_life_days": policy.half_life_days, **_FADING, "now": now}

    async def remove_orphans(self, places: Collection[Place] | None = None) -> int:
        """See the port."""
        named = None if places is None else [*places]
        (row,) = await self._fetch(
            _REMOVE_ORPHANS,
            sessions=named and [session_id for session_id, _ in named],
            sources=named and [source_id for _, source_id in named],
        )
        if row.removed:
            self._unit.wrote("resource.remove", f"{row.removed} messages")
        return int(row.removed)

    async def list_alike(self, now: datetime, *, after: int) -> tuple[AlikeEntries, ...]:
        """See the port."""
        rows = await self._fetch(_LIST_ALIKE, now=now, after=after)
        return tuple(AlikeEntries(tuple(row.ids), row.number) for row in rows)

    async def compare(self, merges: Collection[Merge]) -> dict[Merge, float]:
        """See the port."""
        if not merges:
            return {}
        merged, kept = zip(*merges, strict=True)
        rows = await self._fetch(_COMPARE, merged=[*merged], kept=[*kept])
        return {Merge(row.merged, row.kept): row.similarity for row in rows}

    async def merge(self, merges: Mapping[str, str]) -> None:
        """See the port."""
        await self._fetch(_MERGE, merged=[*merges], kept=[*merges.values()])
        self._unit.wrote("entry.merge", f"{len(merges)} entries")

    async def list_similar(
        self, now: datetime, policy: WeeklyPolicy, *, fewest: int, limit: int
    ) -> tuple[tuple[str, str], ...]:
        """See the port."""
        values = {"now": now, "fewest": fewest, "limit": limit, "window": _WINDOW}
        values["compress_similarity"] = policy.compress_similarity
        rows = await self._fetch(_LIST_SIMILAR, **values)
        return tuple((row.one, row.other) for row in rows)

    async def compress(self, plans: Collection[Compression]) -> None:
        """See the port."""
        pairs = [(source, plan.entry_id) for plan in plans for source in plan.sources]
        sources, into = [one for one, _ in pairs], [other for _, other in pairs]
        await self._fetch(_COMPRESS, sources=sources, into=into)
        self._unit.wrote("entry.compress", f"{len(sources)} entries")

    async def promote_facts(self, now: datetime, *, step: float) -> int:
        """See the port."""
        (row,) = await self._fetch(_PROMOTE, now=now, step=step, most=MOST_CONFIDENT)
        if row.promoted:
            self._unit.wrote("fact.promote", f"{row.promoted} facts")
        return int(row.promoted)

    async def find_end(self, after: int, *, limit: int) -> int | None:
        """See the port."""
        rows = await self._fetch(_FIND_END, after=after, skipped=limit - 1)
        return rows[0].number if rows else None

    async def renew_importance(
        self, now: datetime, policy: ImportancePolicy, *, after: int = 0, up_to: int | None = None
    ) -> int:
        """See the port."""
        weights = policy.model_dump(exclude={"by_type"})
        by_type = json.dumps(policy.by_type)
        values = {**weights, **_IMPORTANCE_CONSTANTS, "by_type": by_type, "now": now}
        values |= {"after": after, "up_to": _LAST if up_to is None else up_to}
        (row,) = await self._fetch(_RENEW_IMPORTANCE, **values)
        if row.changed:
            self._unit.wrote("entry.importance", f"{row.changed} entries")
        return int(row.changed)

    async def mend_words(self, *, after: int, up_to: int | None) -> int:
        """See the port."""
        await self._unit.write(LOCK_CORPUS)  # nobody writes entries meanwhile
        last = _LAST if up_to is None else up_to
        rows = await self._fetch(_LIST_WITHOUT_WORDS, after=after, up_to=last)
        if rows:
            await self._index.mend([row.number for row in rows])
            self._unit.wrote("entry.mend", f"words of {len(rows)} entries")
        return len(rows)

    async def _fetch(self, query: NamedQuery, **values: Any) -> Sequence[Any]:
        """The rows of a statement, with the settings of maintenance from the first one of the transaction on."""
        if self._is_set:
            return await self._unit.fetch(query, **values)
        bound = query.bind(self._unit.owner | values)
        _, rows = await self._unit.rows_of(_SETTINGS.bind({}), bound)
        self._is_set = True
        return rows

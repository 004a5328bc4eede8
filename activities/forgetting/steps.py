"""Forgetting a topic, step by step: choosing what is about it, removing it table by table, the tombstone.

What is to be forgotten is read by its id in each step, since words of it must not travel with a workflow.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.forgetting.cuts import cut_archived, cut_entries, cut_messages
from mnestic.activities.forgetting.running_jobs import RunningJobs
from mnestic.activities.forgetting.topic_rows import (
    ENTRIES,
    TABLES,
    MatchedRow,
    changed_tables,
    current_name,
    each_page,
    find_reader,
    make_topic,
)
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.knowledge.removal import remove_entries
from mnestic.memory.errors import NotFoundError
from mnestic.memory.forgetting.ports import Place, ScannedRow
from mnestic.memory.forgetting.redaction import RowRedaction
from mnestic.memory.forgetting.requests import ForgetRequest, Forgetting, Purged
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.ports import Memory, Transaction

_ENTRIES = 200  # removed in one transaction


class PurgeInput(ForgetRequest):
    """Which table is gone through, by a run that began when each table was a step of its own."""

    table: Annotated[str, AfterValidator(current_name)]


class PurgeResult(BaseModel):
    """How many rows spoke of the topic, without those that are left as they are."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    rows: int


class ForgettingActivities:
    """The steps of `ForgetTopic`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.purge_tables")
    async def purge_tables(self, params: ForgetRequest) -> PurgeResult:
        """Removes or redacts the rows of all tables that speak of the topic, table by table, in batches.

        Idempotent: a row that was dealt with does not speak of the topic any more, and is counted in the
        transaction that dealt with it.
        """
        return await self._purge(params, TABLES)

    @activity.defn(name="mnestic.purge_topic")
    async def purge(self, params: PurgeInput) -> PurgeResult:
        """Does the same with one table.

        Idempotent: in the same way.
        """
        return await self._purge(params, (params.table,))

    @activity.defn(name="mnestic.finish_forgetting")
    async def finish(self, params: ForgetRequest) -> Purged:
        """Leaves the tombstone; tells what was purged.

        Idempotent: what was finished stays so.
        """
        with failures():
            async with self._begin(params, write=True) as transaction:
                done = await transaction.forgetting.finish(params.forgetting_id)
        return Purged(forgetting_id=done.id, purged=done.purged)

    @activity.defn(name="mnestic.renew_statistics")
    async def renew_statistics(self, params: ForgetRequest) -> Purged:
        """Makes the planner's statistics of the tables that were purged anew; tells what was purged.

        Idempotent: statistics that are made again are of the rows that are left, too.
        """
        with failures():
            async with heartbeats():
                found = await self._find(params)
                stale = [
                    table
                    for table in changed_tables(found.purged)
                    if not await self._renewed(params, table)
                ]
        return Purged(forgetting_id=found.id, purged=found.purged, stale=tuple(stale))

    async def _renewed(self, params: ForgetRequest, table: str) -> bool:
        async with self._begin(params, write=True) as transaction:
            return await transaction.forgetting.renew_statistics(params.forgetting_id, table)

    async def _purge(self, params: ForgetRequest, tables: Sequence[str]) -> PurgeResult:
        with failures():
            async with heartbeats():
                found = await self._find(params)
                if found.topic is None:
                    return PurgeResult(rows=0)  # another forgetting of the same has ended this one
                entries = found.entries or ()
                async with self._begin(params, write=False) as transaction:
                    topic = await make_topic(transaction, found.topic, entries=entries)
                rows = 0
                for table in tables:
                    purge = _Purge(self._memory, params, table=table, topic=topic)
                    if table == "entry":
                        await purge.entries(entries)
                    await purge.rows()
                    rows += purge.number
        return PurgeResult(rows=rows)

    async def _find(self, params: ForgetRequest) -> Forgetting:
        async with self._begin(params, write=False) as transaction:
            found = await transaction.forgetting.find(params.forgetting_id)
        if found is None:
            raise NotFoundError(what="forgetting", name=params.forgetting_id)
        return found

    def _begin(
        self, params: ForgetRequest, *, write: bool
    ) -> AbstractAsyncContextManager[Transaction]:
        return begin_forgetting(self._memory, params, write=write)


def begin_forgetting(
    memory: Memory, params: ForgetRequest, *, write: bool
) -> AbstractAsyncContextManager[Transaction]:
    """A transaction on the memory in which something is forgotten."""
    return memory.transaction(
        tenant_id=params.tenant_id,
        agent_id=params.agent_id,
        actor=f"forget/{params.forgetting_id}",
        write=write,
    )


class _Purge:
    """One way through a table. `number` counts the rows that spoke of the topic."""

    def __init__(self, memory: Memory, params: ForgetRequest, *, table: str, topic: Topic) -> None:
        self.number = 0
        self._memory, self._params, self._table, self._topic = memory, params, table, topic
        self._running = RunningJobs(
            activity.client(), tenant_id=params.tenant_id, agent_id=params.agent_id
        )

    async def rows(self) -> None:
        """Deals with all rows of the table that speak of the topic."""
        await each_page(
            lambda: begin_forgetting(self._memory, self._params, write=True),
            self._table,
            self._topic,
            running=self._running,
            lock=True,
            deal=self._deal,
        )

    async def entries(self, entry_ids: Collection[str]) -> None:
        """Removes entries that are about the topic without having its words, with their messages."""
        ordered = sorted(entry_ids)
        for start in range(0, len(ordered), _ENTRIES):
            batch = ordered[start : start + _ENTRIES]
            async with begin_forgetting(self._memory, self._params, write=True) as transaction:
                await self._count(transaction, await self._remove(transaction, batch))

    async def _deal(self, transaction: Transaction, spoken: Sequence[MatchedRow]) -> None:
        dealt = [one for one in spoken if one.left is None]
        gone = [one for one in dealt if one.takes_others]
        purged = Counter(await self._take(transaction, [one.row.key for one in gone]))
        cut = [one for one in dealt if one.has_cut_sentences]
        purged += Counter(await self._cut(transaction, cut) if cut else {})
        written = [one for one in dealt if not (one.takes_others or one.has_cut_sentences)]
        for one in written:
            await self._write(transaction, one)
        await self._count(transaction, purged + Counter({self._table: len(written)}))

    async def _take(
        self, transaction: Transaction, keys: Sequence[tuple[Any, ...]]
    ) -> dict[str, int]:
        """Rows with all that follows from them."""
        if not keys:
            return {}
        if self._table in ENTRIES:
            return await self._remove(transaction, [key[0] for key in keys])
        if self._table == "resource":
            return await self._empty(transaction, {(key[0], key[1]) for key in keys})
        return await self._withdraw(transaction, [key[0] for key in keys])

    async def _cut(self, transaction: Transaction, cut: Sequence[MatchedRow]) -> dict[str, int]:
        """Sentences out of entries and messages, with the claims that stand in them."""
        keys = [one.row.key for one in cut]
        is_message = self._table == "resource"
        entries = [] if is_message else [key[0] for key in keys]
        known = await transaction.forgetting.list_sources(entries)
        places = (
            {(key[0], key[1]) for key in keys}
            if is_message
            else {*filter(None, dict(known).values())}
        )
        learned = await cut_messages(
            transaction, self._topic, places, forgetting_id=self._params.forgetting_id
        )
        for one in cut:
            await self._rename_channel(transaction, one, dict(known).get(one.row.key[0]))
        cut_them = cut_archived if self._table == "archived_entry" else cut_entries
        return {**learned, **await cut_them(transaction, self._topic, entries)}

    async def _rename_channel(
        self, transaction: Transaction, one: MatchedRow, place: Place | None
    ) -> None:
        """Takes the topic out of the channel of a row that was cut; `place` is that of an entry's message."""
        if one.redaction.values["channel"] == one.row.columns["channel"]:
            return
        rows = [one.row]
        if place is not None:
            rows.append(ScannedRow(table="resource", key=place, columns={}))
        redaction = RowRedaction(values={"channel": one.redaction.values["channel"]})
        for row in rows:
            await transaction.forgetting.redaction(self._params.forgetting_id, row, redaction)

    async def _write(self, transaction: Transaction, one: MatchedRow) -> None:
        name_stays = False
        if one.row.table == "long_term_record" and one.redaction.remove:
            reader = await find_reader(transaction, one.row, self._running)
            name_stays = reader is not None
        await transaction.forgetting.redaction(
            self._params.forgetting_id, one.row, one.redaction, name_stays=name_stays
        )

    async def _remove(self, transaction: Transaction, entry_ids: Collection[str]) -> dict[str, int]:
        """Entries with their messages, and all that was learned from those."""
        messages = await transaction.forgetting.list_sources(entry_ids)
        places = {place for _, place in messages if place is not None}
        known = [entry_id for entry_id, _ in messages]
        return await self._empty(transaction, places, entries=known)

    async def _empty(
        self, transaction: Transaction, places: Collection[Place], *, entries: Collection[str] = ()
    ) -> dict[str, int]:
        """Messages, facts, entries: who learns locks them in this order too."""
        forgetting = transaction.forgetting
        emptied = await forgetting.forget_messages(self._params.forgetting_id, places)
        learned = await self._withdraw(transaction, await forgetting.claims_from(places))
        gone = {*entries, *await forgetting.entries_from(places)}
        links = await forgetting.count_links(gone)
        removed = await remove_entries(transaction, gone) if gone else 0
        return {"resource": emptied, **learned, "entry": removed, **links}

    async def _withdraw(self, transaction: Transaction, claims: Collection[str]) -> dict[str, int]:
        facts = await transaction.facts.forget(claims, forgetting_id=self._params.forgetting_id)
        return {"claim": len(claims), "fact": len(facts)}

    async def _count(self, transaction: Transaction, purged: dict[str, int]) -> None:
        number = sum(purged.values())
        if number:
            transaction.note(f"{self._table}.forget", f"{number} rows")
        self.number += number
        await transaction.forgetting.count(self._params.forgetting_id, purged)

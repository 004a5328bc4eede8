"""The rows that speak of a topic, page by page, and which of them are left as they are.

What is shown before something is forgotten and what is done then must agree.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mnestic.activities.forgetting.cuts import learn_claims
from mnestic.activities.forgetting.running_jobs import RunningJobs
from mnestic.memory.forgetting.ports import ScannedRow
from mnestic.memory.forgetting.redaction import CUT, RowRedaction, redaction_of
from mnestic.memory.forgetting.requests import RemainingRow
from mnestic.memory.forgetting.topic_names import content_name, parse_topic
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.ports import Transaction

Begin = Callable[[], AbstractAsyncContextManager[Transaction]]
_OF_JOBS = frozenset({"memory_snapshot", "job_wait", "job_read", "tool_result", "operation"})

COPIES = (
    *("working_memory", "memory_snapshot", "job_wait", "job_read", "tool_result", "operation"),
    *("episode", "long_term_record", "plan", "memory_retrievals", "category", "summary"),
    *("channel_event", "lease", "graph_node", "graph_edge"),
    *("document",),
)
"""What holds copies of what entries say; these go first, while the entries can still be compared."""

KNOWLEDGE = ("entry", "archived_entry", "resource", "ingest_state", "claim")
ENTRIES = frozenset({"entry", "archived_entry"})
_TAKING = frozenset({*ENTRIES, "resource", "claim"})  # others with them, where they go
_ALSO = MappingProxyType(
    {
        "entry": ("archived_entry", "entry_term", "posting"),
        "resource": ("ingest_state",),
        "document": ("entry", "entry_term", "posting", "embedding"),
    }
)  # changes with them, uncounted
TRACES = ("memory_event", "audit_log")
TABLES = (*COPIES, *KNOWLEDGE, *TRACES)
"""In the order in which they are gone through."""
SHARED = ("setting", "predicate")
"""What somebody has set; it is never touched."""
_RENAMED = MappingProxyType({"learning": "ingest_state", "signal": "memory_event"})


@dataclass(frozen=True, kw_only=True)
class MatchedRow:
    """A row that speaks of a topic: what is to be done with it, or why it is left."""

    row: ScannedRow
    redaction: RowRedaction
    left: RemainingRow | None = None

    @property
    def takes_others(self) -> bool:
        """Whether it goes with what follows from it: messages, what was learned from them, entries."""
        return self.redaction.remove and self.row.table in _TAKING

    @property
    def has_cut_sentences(self) -> bool:
        """Whether it loses sentences, and with it the claims that stand in them."""
        return self.row.table in CUT and "content" in self.redaction.values


def current_name(table: str) -> str:
    """The name of a table today; a forgetting that began before schema 0015 may use an older one."""
    return _RENAMED.get(table, table)


def changed_tables(purged: Iterable[str]) -> tuple[str, ...]:
    """The tables that a forgetting has changed, by what it counted; that of forgettings is one."""
    counted = set(map(current_name, purged)) - {"edge"}  # which is in no table of its own
    more = {name for table in counted for name in _ALSO.get(table, ())}
    return tuple(sorted({"forgetting", *counted, *more}))


async def make_topic(
    transaction: Transaction, topic: str, *, entries: Collection[str] = ()
) -> Topic:
    """A topic, with the contents of entries that speak of it without its words.

    Raises:
        InvalidInputError: it has no words that mean something.
    """
    names = parse_topic(topic)
    stems = await transaction.forgetting.stems({word for name in names for word in name.words})
    copied = (await transaction.entries.select(sorted(entries))).values() if entries else ()
    names = tuple(content_name(name, stems) for name in names)
    return Topic(names, stems, copied=[entry.content for entry in copied])


async def each_page(
    begin: Begin,
    table: str,
    topic: Topic,
    *,
    running: RunningJobs,
    lock: bool,
    deal: Callable[[Transaction, Sequence[MatchedRow]], Awaitable[None]],
) -> None:
    """Hands over the rows of a table that speak of a topic, by pages, in the transaction of each.

    With `lock`, rows that may be written are locked.
    """
    after: tuple[Any, ...] | None = None
    more = True
    while more:
        async with begin() as transaction:
            page = await transaction.forgetting.page(table, topic, after=after, lock=lock)
            rows = [row for row in page.rows if redaction_of(table, row.columns, topic)]
            if rows and table in CUT:
                await _learn_claims(transaction, topic, rows)
            spoken = []
            for row in rows:
                redaction = redaction_of(table, row.columns, topic)
                if redaction is not None:
                    left = await _left(transaction, row, running)
                    spoken.append(MatchedRow(row=row, redaction=redaction, left=left))
            if spoken:
                await deal(transaction, spoken)
        after, more = page.after, page.after is not None


async def _learn_claims(transaction: Transaction, topic: Topic, rows: Sequence[ScannedRow]) -> None:
    """Lets a topic know what is claimed where in the messages that rows are, or are entries of."""
    places = {(row.key[0], row.key[1]) for row in rows if row.table not in ENTRIES}
    entries = [row.key[0] for row in rows if row.table in ENTRIES]
    places |= {place for _, place in await transaction.forgetting.list_sources(entries) if place}
    await learn_claims(transaction, topic, places)


async def _left(
    transaction: Transaction, row: ScannedRow, running: RunningJobs
) -> RemainingRow | None:
    """Why a row is left as it is, if it is."""
    name = row.key[0]
    if row.table == "setting":
        return RemainingRow(kind="setting", name=name, why="somebody has set it")
    if row.table == "predicate":
        return RemainingRow(kind="predicate", name=name, why="it is of all agents of the tenant")
    if row.table == "plan":
        return await _left_plan(transaction, name, running)
    if row.table == "working_memory" and await running.has_session(transaction, name):
        return RemainingRow(kind="session", name=name, why="has a job that runs")
    job_id = await _holder(transaction, row, running)
    return RemainingRow(kind="job", name=job_id, why="is running") if job_id else None


async def _holder(transaction: Transaction, row: ScannedRow, running: RunningJobs) -> str | None:
    """A job that runs and has the row in mind."""
    if row.table == "long_term_record" and row.columns["value"] is None:
        return await find_reader(transaction, row, running)
    if row.table in _OF_JOBS and row.job_id and await running.has_job(transaction, row.job_id):
        return row.job_id
    return None


async def find_reader(
    transaction: Transaction, row: ScannedRow, running: RunningJobs
) -> str | None:
    """A job that has read a record and runs: it has to see that the record is gone."""
    for job_id in await transaction.forgetting.readers_of(row):
        if await running.has_job(transaction, job_id):
            return job_id
    return None


async def _left_plan(
    transaction: Transaction, plan: str, running: RunningJobs
) -> RemainingRow | None:
    """A plan is of all agents of the tenant: it goes if ended jobs of this one alone have waited in it."""
    uses = (await transaction.forgetting.uses_of_plans([plan]))[plan]
    if not uses or any(agent_id != running.agent_id for _, agent_id in uses):
        return RemainingRow(kind="plan", name=plan, why="others may use it")
    for job_id, _ in uses:
        if await running.has_job(transaction, job_id):
            return RemainingRow(kind="plan", name=plan, why=f"job {job_id} is running")
    return None

"""What every transaction keeps: audit rows, one revision, all or nothing."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.ingest.round_trips import counted
from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.jobs.long_term.records import ReadRecord
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.snapshots import MemorySnapshot
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.models.usage import ModelCall
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Transaction
from tests.stores.conftest import Begin
from tests.stores.entry_samples import episode, message

PLAN = Plan.model_validate(
    {
        "name": "p",
        "nodes": [{"id": "a", "kind": "emit", "channel": "c", "content": "x", "next": "end"}],
    }
)
CALL = ModelCall(
    session_id="s1",
    job_id="j1",
    operation_key="k1",
    purpose="think",
    model="small",
    input_tokens=1,
    output_tokens=1,
    cost_usd=None,
)
TABLES = (
    "working_memory",
    "long_term_record",
    "job_read",
    "episode",
    "memory_snapshot",
    "job_wait",
    "resource",
    "operation",
    "audit_log",
    "agent_revision",
    "plan",
    "llm_usage",
)


async def write_everything(
    transaction: Transaction, snapshot: MemorySnapshot, wait: JobWait
) -> None:
    operation = Operation(key="k1", name="all", job_id="j1")
    await transaction.replay(operation, "h")
    await transaction.working.save("s1", WorkingMemory())
    await transaction.records.set("n", "k", 1)
    await transaction.records.add_reads("j1", [ReadRecord(namespace="n", key="k", version=1)])
    await transaction.episodes.append(episode(1))
    await transaction.snapshots.put("n1", snapshot.parts, job_id="j1")
    await transaction.waits.open(wait)
    await transaction.resources.append([message(1)])
    await transaction.plans.put(PLAN)
    await transaction.usage.add(CALL)
    await transaction.complete(operation, {"done": True})


async def test_every_write_leaves_an_audit_row(
    begin: Begin,
    trail: Callable[[], list[tuple[str, str]]],
    snapshot: MemorySnapshot,
    make_wait: Callable[..., JobWait],
    make_receipt: Callable[..., ResumeReceipt],
) -> None:
    async with begin() as transaction:
        await write_everything(transaction, snapshot, make_wait())
        await transaction.records.delete("n", "k")
        await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt())
        await transaction.records.remove_reads("j1")

    assert trail() == [
        ("working.save", "s1"),
        ("record.set", "n/k"),
        ("reads.add", "j1"),
        ("episode.append", "e1"),
        ("snapshot.put", "n1"),
        ("wait.open", "j1/w1"),
        ("resource.append", "s1"),
        ("plan.put", PLAN.decision_id),
        ("usage.add", "small"),
        ("record.delete", "n/k"),
        ("wait.resumed", "j1/w1"),
        ("reads.remove", "j1"),
    ]


async def test_every_read_leaves_an_audit_row(
    begin: Begin,
    trail: Callable[[], list[tuple[str, str]]],
    snapshot: MemorySnapshot,
    make_wait: Callable[..., JobWait],
) -> None:
    async with begin() as transaction:
        await write_everything(transaction, snapshot, make_wait())
        ref = await transaction.snapshots.put("n2", snapshot.parts, job_id="j1")
    written = len(trail())

    async with begin(write=False) as transaction:
        await transaction.working.load("s1")
        await transaction.records.get("n", "k")
        await transaction.records.find("n", "other")
        await transaction.records.list_by_namespace(None)
        await transaction.records.list_by_namespace("n")
        await transaction.records.select([("n", "k"), ("n", "other")])
        await transaction.records.list_reads("j1")
        await transaction.episodes.list_by_agent()
        await transaction.episodes.list_by_session("s1")
        await transaction.episodes.list_by_job("j1")
        await transaction.snapshots.get("n2", sha256=ref.sha256)
        await transaction.waits.get("j1/w1")
        await transaction.waits.find_receipt("j1", "r1")
        await transaction.waits.list_by_job("j1")
        await transaction.resources.list_by_session("s1")
        await transaction.usage.sum_by_job("j1")

    assert trail()[written:] == [
        ("working.load", "s1"),
        ("record.get", "n/k"),
        ("record.get", "n/other"),
        ("record.list", "*"),
        ("record.list", "n"),
        ("record.get", "n/k"),
        ("record.get", "n/other"),
        ("reads.list", "j1"),
        ("episode.list", "ada"),
        ("episode.list", "session s1"),
        ("episode.list", "job j1"),
        ("snapshot.get", "n2"),
        ("wait.get", "j1/w1"),
        ("wait.receipt", "j1/r1"),
        ("wait.list", "j1"),
        ("resource.list", "s1"),
        ("usage.sum", "job j1"),
    ]


async def test_a_rollback_leaves_nothing_in_any_table_and_a_commit_leaves_rows(
    begin: Begin,
    count: Callable[[str], int],
    snapshot: MemorySnapshot,
    make_wait: Callable[..., JobWait],
) -> None:
    async def fail() -> None:
        async with begin() as transaction:
            await write_everything(transaction, snapshot, make_wait())
            raise RuntimeError("at the end")

    with pytest.raises(RuntimeError, match="at the end"):
        await fail()
    after = {table: count(table) for table in TABLES}
    async with begin() as transaction:
        await write_everything(transaction, snapshot, make_wait())

    assert after == dict.fromkeys(TABLES, 0)
    assert all(count(table) > 0 for table in TABLES)


async def test_the_revision_grows_by_one_for_each_transaction_that_writes(
    begin: Begin, revision: Callable[[], int]
) -> None:
    operation, seen = Operation(key="k1", name="set"), []
    for writes in (1, 3):
        async with begin() as transaction:
            for number in range(writes):
                await transaction.records.set("n", f"k{number}", 1)
            seen.append(await transaction.revision())
        seen.append(revision())
    async with begin() as transaction:
        await transaction.replay(operation, "h")
        await transaction.complete(operation, {})
    before = revision()

    async with begin(write=False) as transaction:
        await transaction.records.get("n", "k0")
        await transaction.working.load("s1")
    async with begin() as transaction:
        await transaction.replay(operation, "h")
    async with begin(agent="eve") as transaction:
        await transaction.records.set("n", "k", 1)
        of_eve = await transaction.revision()

    assert seen == [1, 1, 2, 2]
    assert (revision(), of_eve) == (before, 1)


async def test_writers_of_one_agent_at_once_each_get_a_revision_of_their_own(
    begin: Begin, revision: Callable[[], int]
) -> None:
    async def write(number: int) -> int:
        async with begin() as transaction:
            await transaction.records.set("n", f"k{number}", 1)
            return await transaction.revision()

    seen = await asyncio.gather(*(write(number) for number in range(9)))

    assert sorted(seen) == list(range(1, 10))
    assert revision() == 9


async def test_a_transaction_that_only_reads_cannot_write(
    begin: Begin, count: Callable[[str], int]
) -> None:
    with pytest.raises(AssertionError, match="only reads"):
        async with begin(write=False) as transaction:
            await transaction.records.set("n", "k", 1)

    assert count("long_term_record") == 0


async def test_now_is_one_moment_in_a_transaction_and_later_in_the_next(begin: Begin) -> None:
    async with begin(write=False) as transaction:
        first = await transaction.now()
        same = await transaction.now()
    async with begin(write=False) as transaction:
        later = await transaction.now()

    assert first == same < later
    assert first.utcoffset() is not None
    assert abs(datetime.now(UTC) - later) < timedelta(minutes=5)


async def test_what_a_write_leaves_behind_is_one_statement(begin: Begin) -> None:
    async with begin(write=False) as transaction:  # which connects
        await transaction.working.load("s1")
    with counted() as trips:
        async with begin() as transaction:
            await receive(transaction, [message(1)], owner="t/ada")

    # The transaction begins by two; keep-outs, messages, entries, what is left behind, and the commit.
    assert trips.statements == 2 + 5


async def test_messages_that_were_kept_before_are_learned_from_as_they_were_kept(
    begin: Begin,
) -> None:
    async with begin() as transaction:
        kept = [message(number, content="kept") for number in (1, 3)]
        await transaction.resources.append(kept)

    async with begin() as transaction:
        incoming = [IncomingMessage(resource=message(number)) for number in (1, 2, 3)]
        begun = await transaction.ingest_states.receive(incoming)

    assert [one.resource.content for one in begun.messages] == ["kept", "text 2", "kept"]

"""Job waits, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable

import pytest

from mnestic.memory.errors import (
    AlreadyExistsError,
    NotFoundError,
    StaleVersionError,
)
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt, WaitState
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.queries import NamedQuery
from tests.transactions import Begin

MakeWait = Callable[..., JobWait]
MakeReceipt = Callable[..., ResumeReceipt]

MANY_OPERATIONS = NamedQuery.of(
    "INSERT INTO mnestic.operation (tenant_id, key, name, agent_id, job_id, request_hash, created_at) "
    "SELECT %(tenant_id)s, 'j1/0/' || n || '/remember', 'remember', 'ada', 'j1', 'hash', now() "
    "FROM generate_series(1, 2000) AS n RETURNING 1"
)
FETCHED = NamedQuery.of(
    "SELECT idx_tup_fetch + seq_tup_read AS fetched FROM pg_stat_xact_user_tables "
    "WHERE relid = 'mnestic.operation'::regclass"
)


async def open_waits(begin: Begin, *waits: JobWait) -> None:
    async with begin() as transaction:
        for wait in waits:
            await transaction.waits.open(wait)


async def test_a_wait_is_opened_once_and_comes_back_as_it_was(
    begin: Begin, make_wait: MakeWait
) -> None:
    await open_waits(begin, make_wait())

    with pytest.raises(AlreadyExistsError, match="j1/w1"):
        await open_waits(begin, make_wait(key="another"))

    async with begin(write=False) as transaction:
        assert await transaction.waits.get("j1/w1") == make_wait()


async def test_opening_a_wait_takes_no_longer_the_more_the_job_has_done(
    memory: PostgresMemory, settings: Settings, make_wait: MakeWait
) -> None:
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.unit.write(MANY_OPERATIONS)

        before = await transaction.unit.fetch(FETCHED)
        await transaction.waits.open(make_wait())
        after = await transaction.unit.fetch(FETCHED)

    assert after[0].fetched - before[0].fetched <= 1


async def test_a_resume_ends_a_wait_once_and_leaves_its_receipt(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt, revision: Callable[[], int]
) -> None:
    await open_waits(begin, make_wait())
    async with begin() as transaction:
        closed = await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt())
    before = revision()

    async with begin() as transaction:
        again = await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt("r2"))
    with pytest.raises(StaleVersionError, match="resumed") as caught:
        async with begin() as transaction:
            await transaction.waits.close("j1/w1", "timed_out", receipt=None)

    async with begin(write=False) as transaction:
        receipts = [
            await transaction.waits.find_receipt(job_id, request_id)
            for job_id, request_id in (("j1", "r1"), ("j1", "r2"), ("j2", "r1"))
        ]
        with pytest.raises(NotFoundError, match="j1/w9"):
            await transaction.waits.get("j1/w9")
    assert (closed.state, closed.receipt) == ("resumed", make_receipt())
    assert closed.closed_at is not None
    assert (again, caught.value.stored) == (closed, closed)
    assert revision() == before
    assert receipts == [make_receipt(), None, None]


async def test_of_ways_to_end_a_wait_at_once_one_wins(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt
) -> None:
    await open_waits(begin, make_wait())

    async def close(state: WaitState) -> WaitState:
        receipt = make_receipt() if state == "resumed" else None
        async with begin() as transaction:
            await transaction.waits.close("j1/w1", state, receipt=receipt)
        return state

    states: list[WaitState] = ["resumed", "timed_out", "cancelled"]
    outcomes = await asyncio.gather(*map(close, states), return_exceptions=True)

    won = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert len(won) == 1
    async with begin(write=False) as transaction:
        assert (await transaction.waits.get("j1/w1")).state == won[0]


async def test_one_request_resumes_one_wait_of_a_job_only(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt
) -> None:
    await open_waits(begin, make_wait(1), make_wait(2), make_wait(wait_id="j2/w1", job_id="j2"))
    async with begin() as transaction:
        await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt("r1", 1))
        await transaction.waits.close("j2/w1", "resumed", receipt=make_receipt("r1"))

    with pytest.raises(AlreadyExistsError, match="r1"):
        async with begin() as transaction:
            await transaction.waits.close("j1/w2", "resumed", receipt=make_receipt("r1", 2))

    async with begin(write=False) as transaction:
        assert (await transaction.waits.get("j1/w2")).state == "waiting"
        assert await transaction.waits.find_receipt("j1", "r1") == make_receipt("r1", 1)


async def test_the_latest_waits_are_listed_in_the_order_they_were_opened(
    begin: Begin, make_wait: MakeWait
) -> None:
    await open_waits(begin, *(make_wait(n) for n in (2, 10, 1)), make_wait(30, job_id="j2"))

    async with begin(write=False) as transaction:
        latest = await transaction.waits.list_latest("j1", limit=2)

    assert [wait.wait_id for wait in latest] == ["j1/w2", "j1/w10"]

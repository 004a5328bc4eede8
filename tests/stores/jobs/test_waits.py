"""Job waits, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest
from sqlalchemy import text

from mnestic.memory.errors import (
    AlreadyExistsError,
    InvalidInputError,
    JobEndedError,
    NotFoundError,
    StaleVersionError,
)
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt, WaitState
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Transaction
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
MakeWait = Callable[..., JobWait]
MakeReceipt = Callable[..., ResumeReceipt]

MANY_OPERATIONS = text(
    "INSERT INTO mnestic.operation (tenant_id, key, name, agent_id, job_id, request_hash, created_at) "
    "SELECT :tenant, 'j1/0/' || n || '/remember', 'remember', 'ada', 'j1', 'hash', now() "
    "FROM generate_series(1, 2000) AS n RETURNING 1"
)
FETCHED = text(
    "SELECT idx_tup_fetch + seq_tup_read AS fetched FROM pg_stat_xact_user_tables "
    "WHERE relid = 'mnestic.operation'::regclass"
)


async def open_waits(begin: Begin, *waits: JobWait) -> None:
    async with begin() as transaction:
        for wait in waits:
            await transaction.waits.open(wait)


async def test_a_wait_comes_back_as_it_was_opened(begin: Begin, make_wait: MakeWait) -> None:
    await open_waits(begin, make_wait())

    async with begin(write=False) as transaction:
        found = await transaction.waits.get("j1/w1")
    assert found == make_wait()


async def test_a_wait_is_opened_once(begin: Begin, make_wait: MakeWait) -> None:
    await open_waits(begin, make_wait())

    with pytest.raises(AlreadyExistsError, match="j1/w1"):
        await open_waits(begin, make_wait(key="another"))

    async with begin(write=False) as transaction:
        assert (await transaction.waits.get("j1/w1")).key == "approval"


async def test_a_job_that_is_over_opens_no_wait_and_other_jobs_do(
    begin: Begin, make_wait: MakeWait
) -> None:
    async with begin() as transaction:
        over = Operation(key="j1/0/4/end", name="end", job_id="j1")
        await transaction.replay(over, "hash")
        await transaction.complete(over, {})

    with pytest.raises(JobEndedError, match="job j1 is over"):
        await open_waits(begin, make_wait())
    await open_waits(begin, make_wait(wait_id="j2/w1", job_id="j2"))

    async with begin(write=False) as transaction:
        assert await transaction.waits.list_by_job("j1") == ((), None)
        assert (await transaction.waits.get("j2/w1")).state == "waiting"


async def test_opening_a_wait_takes_no_longer_the_more_the_job_has_done(
    memory: PostgresMemory, settings: Settings, make_wait: MakeWait
) -> None:
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.unit.rows(MANY_OPERATIONS, {"tenant": settings.tenant_id})

        before = await transaction.unit.rows(FETCHED)
        await transaction.waits.open(make_wait())
        after = await transaction.unit.rows(FETCHED)

    assert after[0].fetched - before[0].fetched <= 1


async def test_a_wait_that_is_not_there_is_named(begin: Begin) -> None:
    with pytest.raises(NotFoundError, match="j1/w9"):
        async with begin(write=False) as transaction:
            await transaction.waits.get("j1/w9")
    with pytest.raises(NotFoundError, match="j1/w9"):
        async with begin() as transaction:
            await transaction.waits.close("j1/w9", "cancelled", receipt=None)


async def test_a_resume_ends_a_wait_and_leaves_its_receipt(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt
) -> None:
    await open_waits(begin, make_wait())

    async with begin() as transaction:
        closed = await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt())

    async with begin(write=False) as transaction:
        found = await transaction.waits.find_receipt("j1", "r1")
        unknown = await transaction.waits.find_receipt("j1", "r2")
        of_another_job = await transaction.waits.find_receipt("j2", "r1")
    assert (closed.state, closed.receipt) == ("resumed", make_receipt())
    assert closed.closed_at is not None
    assert (found, unknown, of_another_job) == (make_receipt(), None, None)


@pytest.mark.parametrize("state", ["timed_out", "cancelled"])
async def test_a_wait_ends_without_a_receipt_too(
    begin: Begin, make_wait: MakeWait, state: WaitState
) -> None:
    await open_waits(begin, make_wait())

    async with begin() as transaction:
        closed = await transaction.waits.close("j1/w1", state, receipt=None)

    assert (closed.state, closed.receipt) == (state, None)


async def test_closing_again_in_the_same_way_changes_nothing(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt, revision: Callable[[], int]
) -> None:
    await open_waits(begin, make_wait())
    async with begin() as transaction:
        first = await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt())
    before = revision()

    async with begin() as transaction:
        again = await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt("r2"))

    assert again == first
    assert revision() == before


async def test_closing_in_another_way_is_refused_with_how_it_ended(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt
) -> None:
    await open_waits(begin, make_wait())
    async with begin() as transaction:
        closed = await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt())

    with pytest.raises(StaleVersionError, match="resumed") as caught:
        async with begin() as transaction:
            await transaction.waits.close("j1/w1", "timed_out", receipt=None)

    assert caught.value.stored == closed


async def test_a_job_cancels_the_waits_that_are_still_open_and_no_others(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt
) -> None:
    await open_waits(begin, make_wait(1), make_wait(2), make_wait(3, job_id="j2"))
    async with begin() as transaction:
        await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt())

    async with begin() as transaction:
        first = await transaction.waits.cancel_open("j1")
        again = await transaction.waits.cancel_open("j1")

    async with begin(write=False) as transaction:
        states = [(await transaction.waits.get(f"j1/w{n}")).state for n in (1, 2, 3)]
    assert (first, again) == (1, 0)
    assert states == ["resumed", "cancelled", "waiting"]


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
    await open_waits(begin, make_wait(1), make_wait(2))
    async with begin() as transaction:
        await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt("r1", 1))

    with pytest.raises(AlreadyExistsError, match="r1"):
        async with begin() as transaction:
            await transaction.waits.close("j1/w2", "resumed", receipt=make_receipt("r1", 2))

    async with begin(write=False) as transaction:
        assert (await transaction.waits.get("j1/w2")).state == "waiting"
        assert await transaction.waits.find_receipt("j1", "r1") == make_receipt("r1", 1)


async def test_jobs_may_be_resumed_by_requests_of_the_same_name(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt
) -> None:
    await open_waits(begin, make_wait(), make_wait(wait_id="j2/w1", job_id="j2"))

    async with begin() as transaction:
        one = await transaction.waits.close("j1/w1", "resumed", receipt=make_receipt("r1"))
        two = await transaction.waits.close("j2/w1", "resumed", receipt=make_receipt("r1"))

    assert (one.state, two.state) == ("resumed", "resumed")


async def test_waits_are_listed_in_the_order_they_were_opened(
    begin: Begin, make_wait: MakeWait
) -> None:
    await open_waits(begin, *(make_wait(n) for n in (2, 10, 1)), make_wait(3, job_id="j2"))

    async with begin(write=False) as transaction:
        first, cursor = await transaction.waits.list_by_job("j1", limit=2)
        rest, end = await transaction.waits.list_by_job("j1", limit=2, cursor=cursor)

    assert [wait.wait_id for wait in (*first, *rest)] == ["j1/w1", "j1/w2", "j1/w10"]
    assert end is None


async def test_the_latest_waits_are_listed_in_the_order_they_were_opened(
    begin: Begin, make_wait: MakeWait
) -> None:
    await open_waits(begin, *(make_wait(n) for n in (2, 10, 1)), make_wait(3, job_id="j2"))

    async with begin(write=False) as transaction:
        latest = await transaction.waits.list_latest("j1", limit=2)

    assert [wait.wait_id for wait in latest] == ["j1/w2", "j1/w10"]


async def test_a_cursor_from_elsewhere_is_refused(begin: Begin, bad_time_cursor: str) -> None:
    with pytest.raises(InvalidInputError, match="cursor"):
        async with begin(write=False) as transaction:
            await transaction.waits.list_by_job("j1", cursor=bad_time_cursor)


async def test_another_agent_and_another_tenant_see_nothing(
    begin: Begin, make_wait: MakeWait, make_receipt: MakeReceipt
) -> None:
    await open_waits(begin, make_wait(), make_wait(2))
    async with begin() as transaction:
        await transaction.waits.close("j1/w2", "resumed", receipt=make_receipt("r1", 2))

    for stranger in (begin(agent="eve"), begin(tenant="other")):
        async with stranger as transaction:
            assert await transaction.waits.list_by_job("j1") == ((), None)
            assert await transaction.waits.list_latest("j1") == ()
            assert await transaction.waits.find_receipt("j1", "r1") is None
            with pytest.raises(NotFoundError):
                await transaction.waits.close("j1/w1", "cancelled", receipt=None)
            assert await transaction.waits.cancel_open("j1") == 0

    async with begin(write=False) as transaction:
        assert (await transaction.waits.get("j1/w1")).state == "waiting"

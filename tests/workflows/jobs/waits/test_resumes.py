"""Who resumes a waiting job, and what each sender hears."""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import (
    InvalidInputError,
    ResumeRefusedError,
)
from mnestic.memory.jobs.waits import Override, ResumeRequest
from mnestic.memory.names import RESUME, job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]


@pytest.mark.usefixtures("worker")
async def test_a_request_sent_three_times_resumes_once(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()

    receipts = await asyncio.gather(
        *(client.resume_job(job_id, {"word": "dear"}, request_id="r1") for _ in range(3))
    )
    await client.wait_for_result(job_id)
    late = await client.resume_job(job_id, {"word": "dear"}, request_id="r1")

    assert {receipt.wait_id for receipt in [*receipts, late] if receipt} == {f"{job_id}/w1"}
    assert len(set(receipts) | {late}) == 1


@pytest.mark.usefixtures("worker")
async def test_a_wait_ends_at_its_deadline(client: MnesticClient, greeting: str) -> None:
    plan = parse_plan(greeting.replace("21d", "1s"), source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "Mara"})

    result = await client.wait_for_result(job_id)

    assert result.results["approval"]["outcome"] == "timeout"
    assert [wait.state for wait in (await client.describe_job(job_id)).waits] == ["timed_out"]


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"expected_sha256": "0" * 64}, "has sha256"),
        ({"wait_id": "other/w1"}, "not a wait of this job"),
        ({"outcome": "maybe"}, "no outcome 'maybe'; it has resumed"),
        ({"outcome": "timeout"}, "no outcome 'timeout'"),
    ],
)
async def test_a_resume_that_fits_no_wait_is_refused(
    client: MnesticClient, asked: dict[str, Any], why: str, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()

    with pytest.raises(ResumeRefusedError, match=why):
        await client.resume_job(job_id, {"word": "x"}, **asked)

    assert (await client.describe_job(job_id)).state == "waiting"


@pytest.mark.usefixtures("worker")
async def test_a_second_request_for_a_wait_that_is_over_is_refused(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    await client.resume_job(job_id, {"word": "dear"}, request_id="r1")
    await client.wait_for_result(job_id)

    with pytest.raises(ResumeRefusedError, match="it is over"):
        await client.resume_job(job_id, {"word": "dear"}, request_id="r2")

    (wait,) = (await client.describe_job(job_id)).waits
    assert wait.receipt is not None
    assert wait.receipt.request_id == "r1"


async def test_a_signal_that_came_while_no_worker_was_up_resumes(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    start_waiting: StartWaiting,
) -> None:
    async with run_worker():
        job_id = await start_waiting()

    receipt = await client.resume_job(job_id, {"word": "dear"}, by="signal")
    async with run_worker():
        result = await client.wait_for_result(job_id)

    assert receipt is None
    assert result.results["approval"]["outcome"] == "resumed"


async def test_a_signal_that_came_before_the_wait_is_kept_for_it(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    greeting: str,
) -> None:
    plan = parse_plan(greeting, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "Mara"})

    await client.resume_job(job_id, {"word": "early"}, by="signal")
    async with run_worker():
        result = await client.wait_for_result(job_id)

    assert result.results["approval"]["payload"] == {"word": "early"}


async def test_a_signal_that_names_the_next_wait_is_kept_for_it(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    greeting: str,
) -> None:
    plan = parse_plan(greeting, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "Mara"})

    for number in (2, 1):  # the second wait is not the next
        await client.resume_job(
            job_id,
            {"word": f"for w{number}"},
            request_id=f"r{number}",
            wait_id=f"{job_id}/w{number}",
            by="signal",
        )
    async with run_worker():
        result = await client.wait_for_result(job_id)

    assert result.results["approval"]["payload"] == {"word": "for w1"}


async def test_a_duplicate_gets_its_receipt_while_no_worker_is_up(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    start_waiting: StartWaiting,
    loop: str,
) -> None:
    async with run_worker():
        job_id = await start_waiting(loop)
        first = await client.resume_job(job_id, {"text": "a", "last": False}, request_id="r1")

    late = await client.resume_job(
        job_id, {"text": "a", "last": False}, request_id="r1", limit=timedelta(seconds=1)
    )

    assert first is not None
    assert late == first


async def test_a_request_without_a_worker_is_left_with_temporal(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    start_waiting: StartWaiting,
) -> None:
    async with run_worker():
        job_id = await start_waiting()

    receipt = await client.resume_job(
        job_id, {"word": "dear"}, request_id="r1", limit=timedelta(seconds=1)
    )
    async with run_worker():
        await client.wait_for_result(job_id)
    late = await client.resume_job(job_id, {"word": "dear"}, request_id="r1")

    assert receipt is None
    assert late is not None
    assert late.request_id == "r1"


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("attempt", range(5))
async def test_an_update_that_comes_while_the_wait_is_opened_resumes(
    client: MnesticClient, attempt: int, until: Until, greeting: str
) -> None:
    plan = parse_plan(greeting, source="test")
    job_id = await client.start_job(
        plan, agent_id="ada", session_id=f"s{attempt}", inputs={"name": "Mara"}
    )

    async def row_is_there() -> bool:
        return len((await client.describe_job(job_id)).waits) == 1

    await until(row_is_there)
    receipt = await client.resume_job(job_id, {"word": "dear"})

    assert receipt is not None
    assert receipt.wait_id == f"{job_id}/w1"


async def test_an_update_under_the_id_of_a_kept_signal_gets_its_receipt(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    start_waiting: StartWaiting,
    loop: str,
) -> None:
    async with run_worker():
        job_id = await start_waiting(loop)
    for request_id, last in (("r1", False), ("r2", True)):
        payload = {"text": request_id, "last": last}
        await client.resume_job(job_id, payload, request_id=request_id, by="signal")

    async with run_worker():
        receipt = await client.resume_job(job_id, {"text": "r2", "last": True}, request_id="r2")

    assert receipt is not None
    assert receipt.wait_id == f"{job_id}/w2"


async def test_a_sender_that_gives_up_leaves_no_error_behind(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    start_waiting: StartWaiting,
) -> None:
    async with run_worker():
        job_id = await start_waiting()
    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

    sending = asyncio.create_task(client.resume_job(job_id, {"word": "dear"}))
    await asyncio.wait({sending}, timeout=1)
    sending.cancel()
    await asyncio.wait({sending})
    cancelled = sending.cancelled()
    del sending
    gc.collect()

    assert cancelled
    assert told == []


@pytest.mark.usefixtures("worker")
async def test_a_restore_that_takes_longer_than_the_limit_is_left_with_temporal(
    client: MnesticClient, admin_url: str, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("SELECT * FROM mnestic.working_memory FOR UPDATE")
        began = time.monotonic()

        receipt = await client.resume_job(
            job_id, {"word": "dear"}, request_id="r1", limit=timedelta(seconds=2)
        )
        waited_s = time.monotonic() - began

    late = await client.resume_job(job_id, {"word": "dear"}, request_id="r1")
    assert receipt is None
    assert waited_s < 15
    assert late is not None


@pytest.mark.usefixtures("worker")
async def test_a_payload_of_just_the_largest_size_resumes(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    word = "x" * (client.settings.max_payload_bytes - len('{"word":""}'))

    await client.resume_job(job_id, {"word": word})
    result = await client.wait_for_result(job_id)

    assert result.results["approval"]["payload"] == {"word": word}


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("request_id", ["", "x" * 257, "a\0b"])
async def test_a_request_id_that_is_no_key_is_refused(
    client: MnesticClient, request_id: str, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()

    with pytest.raises(InvalidInputError, match=r"request.id"):
        await client.resume_job(job_id, {"word": "dear"}, request_id=request_id)


async def test_an_update_under_the_id_of_a_kept_signal_hears_of_no_earlier_refusal(
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    start_waiting: StartWaiting,
    loop: str,
) -> None:
    async with run_worker():
        job_id = await start_waiting(loop)
    payload = {"text": "r2", "last": True}
    await client.resume_job(job_id, payload, request_id="r2", outcome="maybe", by="signal")
    await client.resume_job(job_id, {"text": "r1", "last": False}, request_id="r1", by="signal")
    await client.resume_job(job_id, payload, request_id="r2", by="signal")

    updating = asyncio.create_task(client.resume_job(job_id, payload, request_id="r2"))
    await asyncio.sleep(0.5)
    async with run_worker():
        receipt = await updating

    assert receipt is not None
    assert receipt.wait_id == f"{job_id}/w2"


@pytest.mark.usefixtures("worker")
async def test_a_signal_that_comes_while_a_wait_that_is_up_is_extended_resumes_it(
    client: MnesticClient, admin_url: str, start_waiting: StartWaiting, loop: str
) -> None:
    job_id = await start_waiting(loop.replace("1d", "4s"))
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("SELECT * FROM mnestic.job_wait FOR UPDATE")
        extending = asyncio.create_task(client.extend_wait(job_id, by=timedelta(hours=1)))
        await asyncio.sleep(4.5)
        await client.resume_job(job_id, {"text": "r1", "last": True}, by="signal")
        await asyncio.sleep(0.5)
    await extending

    result = await asyncio.wait_for(client.wait_for_result(job_id), 30)

    assert (result.waits, result.results["turn"]["outcome"]) == (1, "resumed")


@pytest.mark.usefixtures("worker")
async def test_an_override_that_is_signalled_while_a_restore_fails_is_taken_after_it(
    client: MnesticClient,
    admin_url: str,
    start_waiting: StartWaiting,
    handle_of: Callable[[str], Any],
    recheck: str,
    until: Until,
) -> None:
    job_id = await start_waiting(recheck.replace("rebase", "strict"))
    await client.memory("ada").records.set("order", "price", 12)
    override = Override(reason="agreed")
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("SELECT * FROM mnestic.working_memory FOR UPDATE")
        resuming = asyncio.create_task(client.resume_job(job_id, request_id="r1"))

        async def is_held_up() -> bool:
            waiting = (
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            row = await (await connection.execute(waiting)).fetchone()
            return row is not None and row[0] > 0

        async def has_left_the_workflow_task() -> bool:
            described = await handle_of(job_id).describe()
            return len(described.raw_description.pending_activities) > 0

        await until(is_held_up)
        await handle_of(job_id).signal(RESUME, ResumeRequest(request_id="r2", override=override))
        await until(has_left_the_workflow_task)

    with pytest.raises(ResumeRefusedError, match="order/price changed"):
        await resuming
    await asyncio.wait_for(client.wait_for_result(job_id), 30)

    (wait,) = (await client.describe_job(job_id)).waits
    assert wait.receipt is not None
    assert (wait.receipt.request_id, wait.receipt.override) == ("r2", override)


@pytest.mark.usefixtures("worker")
async def test_a_resume_does_not_wait_for_a_new_run_that_waits_for_it(
    client: MnesticClient,
    admin_url: str,
    start_waiting: StartWaiting,
    until: Until,
) -> None:
    job_id = await start_waiting()
    handle = client.temporal.get_workflow_handle(job_workflow_id(client.settings.tenant_id, job_id))

    async def is_being_extended() -> bool:
        return bool((await handle.describe()).raw_description.pending_activities)

    async def are_both_accepted() -> bool:
        told = "workflow_execution_update_accepted_event_attributes"
        events = [event async for event in handle.fetch_history_events()]
        return sum(event.HasField(told) for event in events) == 2

    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("SELECT * FROM mnestic.job_wait FOR UPDATE")
        extending = asyncio.create_task(client.extend_wait(job_id, by=timedelta(days=1)))
        await until(is_being_extended)
        await client.poke_job(job_id)
        resuming = asyncio.create_task(client.resume_job(job_id, {"word": "dear"}))
        await until(are_both_accepted)
    await extending
    async with asyncio.timeout(5):  # a new run is put off for 10 seconds at most
        receipt = await resuming

    assert receipt is not None

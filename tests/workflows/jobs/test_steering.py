"""People who steer a job that is under way: a later deadline, a pause, a new run, an end."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import TimeSkipper

from mnestic.memory.errors import InvalidInputError, JobFailedError, ResumeRefusedError
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.jobs.waits import ResumptionContext
from mnestic.memory.names import RESUMPTION_CONTEXT, STATUS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
RunWorker = Callable[[], AbstractAsyncContextManager[None]]
Poke = Callable[[str], Awaitable[None]]
UntilState = Callable[[str, str], Awaitable[Any]]
DAY = timedelta(days=1)
LAST = {"text": "last", "last": True}


async def pause(client: MnesticClient, until_state: UntilState, job_id: str) -> None:
    await client.pause_job(job_id)
    await until_state(job_id, "paused")


@pytest.mark.usefixtures("worker")
async def test_a_later_deadline_is_kept_in_temporal_and_in_the_row(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    first = (await client.describe_job(job_id)).deadline

    extended = await client.extend_wait(job_id, by=7 * DAY)

    job = await client.describe_job(job_id)
    assert first is not None
    assert extended.wait_id == f"{job_id}/w1"
    assert extended.deadline == first + 7 * DAY
    assert (job.deadline, job.waits[0].deadline) == (extended.deadline, extended.deadline)


@pytest.mark.usefixtures("worker")
async def test_the_history_tells_each_deadline_where_it_was_set(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    first = (await client.describe_job(job_id)).deadline

    extended = await client.extend_wait(job_id, by=7 * DAY)

    told = (await client.job_history(job_id)).entries
    deadlines = [
        (entry.what, datetime.fromisoformat(entry.detail["deadline"]))
        for entry in told
        if "deadline" in entry.detail
    ]
    assert deadlines == [("wait_opened", first), ("wait_extended", extended.deadline)]


@pytest.mark.usefixtures("worker")
async def test_a_wait_that_was_extended_ends_at_its_later_deadline(
    client: MnesticClient,
    start_waiting: StartWaiting,
    handle_of: HandleOf,
) -> None:
    job_id = await start_waiting()
    skipper = TimeSkipper(client.temporal)

    await client.extend_wait(job_id, by=7 * DAY)
    await skipper.fast_forward(handle_of(job_id), 22 * DAY)
    between = await handle_of(job_id).query(STATUS, result_type=JobStatus)
    await skipper.fast_forward(handle_of(job_id), 7 * DAY)
    result = await client.wait_for_result(job_id)

    (wait,) = (await client.describe_job(job_id)).waits
    assert between.state == "waiting"
    assert (wait.state, result.results["approval"]["outcome"]) == ("timed_out", "timeout")


@pytest.mark.usefixtures("worker")
async def test_the_same_deadline_asked_for_twice_is_given_once(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    until = datetime.now(UTC) + 30 * DAY

    first = await client.extend_wait(job_id, until=until)
    again = await client.extend_wait(job_id, until=until, wait_id=f"{job_id}/w1")

    assert first == again
    assert first.deadline == until


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"by": -DAY}, "give a later one"),
        ({"until": datetime(2026, 1, 1, tzinfo=UTC)}, "give a later one"),
        ({"by": 4000 * DAY}, "at most 3650 days away"),
        ({"by": DAY, "wait_id": "other/w1"}, "not at other/w1"),
    ],
)
async def test_a_deadline_that_cannot_be_is_refused(
    client: MnesticClient, start_waiting: StartWaiting, asked: dict[str, Any], why: str
) -> None:
    job_id = await start_waiting()
    before = await client.describe_job(job_id)

    with pytest.raises(InvalidInputError, match=why):
        await client.extend_wait(job_id, **asked)

    assert await client.describe_job(job_id) == before


@pytest.mark.usefixtures("worker")
async def test_nothing_runs_while_a_job_is_paused_at_its_wait(
    client: MnesticClient, start_waiting: StartWaiting, until_state: UntilState
) -> None:
    job_id = await start_waiting()
    await pause(client, until_state, job_id)

    await client.resume_job(job_id, {"word": "dear"}, by="signal")
    await asyncio.sleep(0.5)
    held = await client.describe_job(job_id)
    await client.unpause_job(job_id)
    result = await client.wait_for_result(job_id)

    assert (held.state, [wait.state for wait in held.waits]) == ("paused", ["waiting"])
    assert result.results["approval"]["payload"] == {"word": "dear"}


async def test_nothing_runs_while_a_job_is_paused_between_two_nodes(
    client: MnesticClient, run_worker: RunWorker, until_state: UntilState, greeting: str
) -> None:
    job_id = await client.start_job(
        parse_plan(greeting, source="test"),
        agent_id="ada",
        session_id="s1",
        inputs={"name": "Mara"},
    )
    await client.pause_job(job_id)

    async with run_worker():
        await until_state(job_id, "paused")
        await asyncio.sleep(0.5)
        held = await client.memory("ada").working_memory.get("s1")
        await client.unpause_job(job_id)
        await until_state(job_id, "waiting")

    assert held.version == 0
    assert (await client.memory("ada").working_memory.get("s1")).messages != ()


@pytest.mark.usefixtures("worker")
async def test_an_update_to_a_paused_job_is_refused(
    client: MnesticClient, start_waiting: StartWaiting, until_state: UntilState
) -> None:
    job_id = await start_waiting()
    await pause(client, until_state, job_id)

    with pytest.raises(ResumeRefusedError, match="it is paused; unpause it first"):
        await client.resume_job(job_id, {"word": "dear"}, request_id="r1")

    await client.unpause_job(job_id)
    await until_state(job_id, "waiting")
    assert await client.resume_job(job_id, {"word": "dear"}, request_id="r1") is not None


@pytest.mark.usefixtures("worker")
async def test_a_deadline_that_passes_in_a_pause_counts_after_it(
    client: MnesticClient,
    start_waiting: StartWaiting,
    until_state: UntilState,
    pass_deadline: Poke,
    greeting: str,
) -> None:
    job_id = await start_waiting(greeting.replace("21d", "1d"))
    await pause(client, until_state, job_id)
    await pass_deadline(job_id)
    held = await client.describe_job(job_id)

    await client.unpause_job(job_id)
    result = await client.wait_for_result(job_id)

    assert (held.state, [wait.state for wait in held.waits]) == ("paused", ["waiting"])
    assert result.results["approval"]["outcome"] == "timeout"


@pytest.mark.usefixtures("worker")
async def test_a_signal_that_comes_in_a_pause_before_the_deadline_wins(
    client: MnesticClient,
    start_waiting: StartWaiting,
    until_state: UntilState,
    pass_deadline: Poke,
    greeting: str,
) -> None:
    job_id = await start_waiting(greeting.replace("21d", "1d"))
    await pause(client, until_state, job_id)

    await client.resume_job(job_id, {"word": "dear"}, by="signal")
    await pass_deadline(job_id)
    await client.unpause_job(job_id)
    result = await client.wait_for_result(job_id)

    assert result.results["approval"]["payload"] == {"word": "dear"}


@pytest.mark.usefixtures("worker")
async def test_a_paused_job_that_is_cancelled_ends_its_wait(
    client: MnesticClient, start_waiting: StartWaiting, until_state: UntilState
) -> None:
    job_id = await start_waiting()
    await pause(client, until_state, job_id)

    await client.cancel_job(job_id)
    with pytest.raises(JobFailedError, match="was cancelled"):
        await client.wait_for_result(job_id)

    job = await client.describe_job(job_id)
    episodes, _ = await client.memory("ada").episodes.list()
    assert (job.state, [wait.state for wait in job.waits]) == ("cancelled", ["cancelled"])
    assert [episode.payload["outcome"] for episode in episodes] == ["cancelled"]


@pytest.mark.usefixtures("worker")
async def test_a_job_that_is_poked_waits_on_in_a_new_run(
    client: MnesticClient,
    start_waiting: StartWaiting,
    until_state: UntilState,
    poke: Poke,
    loop: str,
) -> None:
    job_id = await start_waiting(loop)
    first = await client.resume_job(job_id, {"text": "first", "last": False}, request_id="r1")
    await until_state(job_id, "waiting")
    await client.extend_wait(job_id, by=DAY, wait_id=f"{job_id}/w2")
    before = await client.describe_job(job_id)

    await poke(job_id)

    after = await client.describe_job(job_id)
    assert (after.state, after.deadline) == ("waiting", before.deadline)
    assert after.waits == before.waits
    assert await client.resume_job(job_id, request_id="r1") == first
    second = await client.resume_job(job_id, LAST, wait_id=f"{job_id}/w2")
    assert second is not None
    assert (await client.wait_for_result(job_id)).waits == 2


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("attempt", range(3))
async def test_a_resume_right_after_a_poke_is_not_lost(
    client: MnesticClient, start_waiting: StartWaiting, attempt: int
) -> None:
    job_id = await start_waiting()

    await client.poke_job(job_id)
    await asyncio.sleep(attempt * 0.02)
    receipt = await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)

    assert receipt is not None
    assert receipt.wait_id == f"{job_id}/w1"
    assert result.waits == 1


@pytest.mark.usefixtures("worker")
async def test_an_update_beside_pokes_and_signals_is_answered(
    client: MnesticClient, start_waiting: StartWaiting, loop: str
) -> None:
    job_id = await start_waiting(loop)
    text = {"text": "more", "last": False}
    first = await client.resume_job(job_id, text, request_id="r1")

    for turn in range(8):
        known = [client.resume_job(job_id, text, request_id="r1") for _ in range(3)]
        signals = [
            client.resume_job(job_id, text, request_id=f"{turn}-{number}", by="signal")
            for number in range(3)
        ]
        answers = await asyncio.gather(client.poke_job(job_id), *known, *signals)
        assert answers[1:4] == [first] * 3


async def test_a_poke_keeps_the_signals_that_wait_and_answers_an_update_under_their_id(
    client: MnesticClient,
    run_worker: RunWorker,
    start_waiting: StartWaiting,
    handle_of: HandleOf,
    loop: str,
) -> None:
    async with run_worker():
        job_id = await start_waiting(loop)
    first = (await handle_of(job_id).describe()).run_id
    for text in ("one", "two", "three"):
        payload = {"text": text, "last": text == "three"}
        await client.resume_job(job_id, payload, request_id=text, by="signal")
    await client.poke_job(job_id)

    updating = asyncio.create_task(client.resume_job(job_id, LAST, request_id="three"))
    async with run_worker():
        receipt = await updating
        await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert receipt is not None
    assert receipt.wait_id == f"{job_id}/w3"
    assert [message.content for message in state.messages] == ["one", "two", "three"]
    assert (await handle_of(job_id).describe()).run_id != first


@pytest.mark.usefixtures("worker")
async def test_a_paused_job_that_is_poked_is_paused_at_its_wait_in_the_new_run(
    client: MnesticClient,
    start_waiting: StartWaiting,
    until_state: UntilState,
    poke: Poke,
) -> None:
    job_id = await start_waiting()
    await pause(client, until_state, job_id)
    before = await client.describe_job(job_id)

    await poke(job_id)
    extended = await client.extend_wait(job_id, by=DAY)
    after = await client.describe_job(job_id)
    await poke(job_id)
    await client.unpause_job(job_id)
    await until_state(job_id, "waiting")
    await client.resume_job(job_id, {"word": "dear"})

    assert before.deadline is not None
    assert extended.deadline == before.deadline + DAY
    assert (after.state, after.wait_key) == ("paused", "approval")
    assert (await client.wait_for_result(job_id)).waits == 1


@pytest.mark.usefixtures("worker")
async def test_a_waiting_job_tells_where_it_goes_on(
    client: MnesticClient,
    start_waiting: StartWaiting,
    handle_of: HandleOf,
    poke: Poke,
    greeting: str,
) -> None:
    job_id = await start_waiting()
    await poke(job_id)

    context = await handle_of(job_id).query(RESUMPTION_CONTEXT, result_type=ResumptionContext)
    await client.resume_job(job_id, {"word": "dear"})
    await client.wait_for_result(job_id)
    over = await handle_of(job_id).query(RESUMPTION_CONTEXT)

    (wait,) = (await client.describe_job(job_id)).waits
    plan = parse_plan(greeting, source="test")
    assert (context.cursor_node, context.plan_decision_id) == ("approval", plan.decision_id)
    assert (context.inputs, set(context.payload_results)) == ({"name": "Mara"}, {"note", "look"})
    assert context == wait.context
    assert over is None

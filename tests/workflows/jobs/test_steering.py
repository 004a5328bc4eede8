"""People who steer a job that is under way: a later deadline, a pause, a new run, an end."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError, ResumeRefusedError
from tests.workflows.conftest import DAY, GREETING, LOOP, Jobs

LAST = {"text": "last", "last": True}
DEAR = {"word": "dear"}
FOR_A_DAY = GREETING.replace("21d", "1d")


@pytest.mark.usefixtures("worker")
async def test_a_later_deadline_is_given_once_and_ends_the_wait(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting()
    first = (await jobs.describe_job(job_id)).deadline
    until = datetime.now(UTC) + 28 * DAY

    extended = await jobs.extend_wait(job_id, until=until)
    again = await jobs.extend_wait(job_id, until=until, wait_id=f"{job_id}/w1")
    job = await jobs.describe_job(job_id)
    told = (await jobs.job_history(job_id)).entries
    await jobs.pass_days(job_id, 22)
    between = await jobs.status(job_id)
    await jobs.pass_days(job_id, 7)
    result = await jobs.wait_for_result(job_id)

    assert (extended.wait_id, extended.deadline, again) == (f"{job_id}/w1", until, extended)
    assert (job.deadline, job.waits[0].deadline) == (until, until)
    deadlines = [
        (entry.what, datetime.fromisoformat(entry.detail["deadline"]))
        for entry in told
        if "deadline" in entry.detail
    ]
    assert deadlines == [("wait_opened", first), ("wait_extended", until)]
    assert between.state == "waiting"
    assert result.results["approval"]["outcome"] == "timeout"


@pytest.mark.usefixtures("worker")
async def test_a_deadline_that_cannot_be_is_refused(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting()
    before = await jobs.describe_job(job_id)
    cases: list[tuple[str, dict[str, Any]]] = [
        ("give a later one", {"by": -DAY}),
        ("give a later one", {"until": datetime(2026, 1, 1, tzinfo=UTC)}),
        ("at most 3650 days away", {"by": 4000 * DAY}),
        ("not at other/w1", {"by": DAY, "wait_id": "other/w1"}),
    ]

    for why, asked in cases:
        with pytest.raises(InvalidInputError, match=why):
            await jobs.extend_wait(job_id, **asked)

    assert await jobs.describe_job(job_id) == before


@pytest.mark.usefixtures("worker")
async def test_nothing_runs_while_a_job_is_paused_at_its_wait_and_an_update_is_refused(
    jobs: Jobs,
) -> None:
    job_id = await jobs.start_waiting()
    await jobs.pause(job_id)

    with pytest.raises(ResumeRefusedError, match="it is paused; unpause it first"):
        await jobs.resume_job(job_id, DEAR, request_id="r1")
    await jobs.resume_job(job_id, DEAR, request_id="r2", by="signal", any_wait=True)
    await jobs.status(job_id)
    held = await jobs.describe_job(job_id)
    await jobs.unpause_job(job_id)

    assert (held.state, [wait.state for wait in held.waits]) == ("paused", ["waiting"])
    assert await jobs.resumed_by(job_id) == ["r2"]


async def test_nothing_runs_while_a_job_is_paused_between_two_nodes(jobs: Jobs) -> None:
    job_id = await jobs.start()
    await jobs.pause_job(job_id)

    async with jobs.worker():
        await jobs.until_state(job_id, "paused")
        await jobs.status(job_id)
        held = await jobs.texts()
        await jobs.unpause_job(job_id)
        await jobs.until_state(job_id, "waiting")

    assert (held, await jobs.texts()) == ([], ["My name is Mara."])


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("has_signal", [False, True])
async def test_a_deadline_that_passes_in_a_pause_counts_after_it_unless_a_signal_came_before(
    jobs: Jobs, *, has_signal: bool
) -> None:
    job_id = await jobs.start_waiting(FOR_A_DAY)
    await jobs.pause(job_id)
    if has_signal:
        await jobs.resume_job(job_id, DEAR, by="signal", any_wait=True)

    await jobs.pass_deadline(job_id)
    held = await jobs.describe_job(job_id)
    await jobs.unpause_job(job_id)
    result = await jobs.wait_for_result(job_id)

    assert (held.state, [wait.state for wait in held.waits]) == ("paused", ["waiting"])
    ended = result.results["approval"]
    outcome = ("resumed", DEAR) if has_signal else ("timeout", None)
    assert (ended["outcome"], ended["payload"]) == outcome


@pytest.mark.usefixtures("worker")
async def test_a_job_that_is_poked_waits_on_in_a_new_run(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting(LOOP)
    answer = {"text": "first", "last": False}
    first = await jobs.resume_job(job_id, answer, request_id="r1")
    await jobs.until_state(job_id, "waiting", waits=2)
    await jobs.extend_wait(job_id, by=DAY, wait_id=f"{job_id}/w2")
    before = await jobs.describe_job(job_id)

    await jobs.poke(job_id)

    after = await jobs.describe_job(job_id)
    assert (after.state, after.deadline) == ("waiting", before.deadline)
    assert after.waits == before.waits
    assert await jobs.resume_job(job_id, answer, request_id="r1") == first
    second = await jobs.resume_job(job_id, LAST, wait_id=f"{job_id}/w2")
    assert second is not None
    assert (await jobs.wait_for_result(job_id)).waits == 2


async def test_a_poke_keeps_the_signals_that_wait_and_answers_an_update_under_their_id(
    jobs: Jobs,
) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting(LOOP)
    first = (await jobs.handle(job_id).describe()).run_id
    for text in ("one", "two", "three"):
        payload = {"text": text, "last": text == "three"}
        await jobs.resume_job(job_id, payload, request_id=text, by="signal", any_wait=True)
    await jobs.poke_job(job_id)

    updating = await jobs.resume_ahead(job_id, payload, request_id="three")
    async with jobs.worker():
        receipt = await updating
        await jobs.wait_for_result(job_id)

    assert receipt.wait_id == f"{job_id}/w3"
    assert await jobs.texts() == ["one", "two", "three"]
    assert (await jobs.handle(job_id).describe()).run_id != first


@pytest.mark.usefixtures("worker")
async def test_a_paused_job_that_is_poked_is_paused_at_its_wait_in_the_new_run(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting()
    await jobs.pause(job_id)
    before = await jobs.describe_job(job_id)

    await jobs.poke(job_id)
    extended = await jobs.extend_wait(job_id, by=DAY)
    after = await jobs.describe_job(job_id)
    await jobs.poke(job_id)
    await jobs.unpause_job(job_id)
    await jobs.until_state(job_id, "waiting")
    await jobs.resume_job(job_id, DEAR)

    assert before.deadline is not None
    assert extended.deadline == before.deadline + DAY
    assert (after.state, after.wait_key) == ("paused", "approval")
    assert (await jobs.wait_for_result(job_id)).waits == 1

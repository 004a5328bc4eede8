"""Whole jobs on a real Temporal and a real Postgres."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import (
    InvalidInputError,
    JobFailedError,
    NotFoundError,
    ResumeRefusedError,
    SnapshotUnverifiedError,
)
from mnestic.memory.jobs import JobResult
from mnestic.starter.client import MnesticClient
from mnestic.starter.plans import parse_plan

ASK = """
name: greeting
nodes:
  - id: note
    kind: remember
    message: {role: user, content: "My name is ${input.name}."}
    records: [{namespace: profile, key: name, value: "${input.name}"}]
    next: look
  - id: look
    kind: recall
    records: [{namespace: profile, keys: [name, city]}]
    next: approval
  - id: approval
    kind: wait
    key: approval
    timeout: 21d
    on: {resumed: say, timeout: end}
  - id: say
    kind: emit
    channel: chat
    content: "Hello ${results.approval.payload.word}, ${input.name}."
    next: end
"""
LOOP = """
name: loop
nodes:
  - {id: turn, kind: wait, key: turn, timeout: 1d, on: {resumed: keep, timeout: end}}
  - id: keep
    kind: remember
    message: {content: "${results.turn.payload.text}"}
    next: {on: "${results.turn.payload.last}", cases: {"true": end}, otherwise: turn}
"""


async def until(ready: Callable[[], Awaitable[Any]], *, limit_s: float = 30) -> Any:
    """Asks until the answer is true, and returns it."""
    deadline = time.monotonic() + limit_s
    while not (found := await ready()):
        assert time.monotonic() < deadline, "the condition was not met in time"
        await asyncio.sleep(0.05)
    return found


async def start_waiting(client: MnesticClient, *, plan: str = ASK) -> str:
    job_id = await client.start_job(
        parse_plan(plan, source="test"), agent_id="ada", session_id="s1", inputs={"name": "Mara"}
    )

    async def parked() -> bool:
        return (await client.describe_job(job_id)).state == "waiting"

    await until(parked)
    return job_id


@pytest.mark.usefixtures("worker")
async def test_a_job_goes_on_with_the_memory_it_had(client: MnesticClient) -> None:
    job_id = await start_waiting(client)

    await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory("s1")
    assert [message.content for message in state.messages] == [
        "My name is Mara.",
        "Hello dear, Mara.",
    ]
    assert result.waits == 1


@pytest.mark.usefixtures("worker")
async def test_a_request_sent_three_times_resumes_once(client: MnesticClient) -> None:
    job_id = await start_waiting(client)

    receipts = await asyncio.gather(
        *(client.resume_job(job_id, {"word": "dear"}, request_id="r1") for _ in range(3))
    )
    await client.wait_for_result(job_id)
    late = await client.resume_job(job_id, {"word": "dear"}, request_id="r1")

    assert {receipt.wait_id for receipt in [*receipts, late] if receipt} == {f"{job_id}/w1"}
    assert len(set(receipts) | {late}) == 1


@pytest.mark.usefixtures("worker")
async def test_what_changed_meanwhile_is_told_as_drift(client: MnesticClient) -> None:
    job_id = await start_waiting(client)
    await client.memory("ada").set("profile", "name", "Maria")
    await client.memory("ada").set("profile", "city", "Lisbon")

    await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)

    drift = result.results["approval"]["drift"]
    assert [(change["kind"], change["key"]) for change in drift] == [
        ("created", "city"),
        ("changed", "name"),
    ]


@pytest.mark.usefixtures("worker")
async def test_a_wait_ends_at_its_deadline(client: MnesticClient) -> None:
    plan = parse_plan(ASK.replace("21d", "1s"), source="test")
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
    client: MnesticClient, asked: dict[str, Any], why: str
) -> None:
    job_id = await start_waiting(client)

    with pytest.raises(ResumeRefusedError, match=why):
        await client.resume_job(job_id, {"word": "x"}, **asked)

    assert (await client.describe_job(job_id)).state == "waiting"


@pytest.mark.usefixtures("worker")
async def test_a_second_request_for_a_wait_that_is_over_is_refused(client: MnesticClient) -> None:
    job_id = await start_waiting(client)
    await client.resume_job(job_id, {"word": "dear"}, request_id="r1")
    await client.wait_for_result(job_id)

    with pytest.raises(ResumeRefusedError, match="it is over"):
        await client.resume_job(job_id, {"word": "dear"}, request_id="r2")

    (wait,) = (await client.describe_job(job_id)).waits
    assert wait.receipt is not None
    assert wait.receipt.request_id == "r1"


async def test_a_signal_that_came_while_no_worker_was_up_resumes(
    client: MnesticClient, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    async with run_worker():
        job_id = await start_waiting(client)

    receipt = await client.resume_job(job_id, {"word": "dear"}, by="signal")
    async with run_worker():
        result = await client.wait_for_result(job_id)

    assert receipt is None
    assert result.results["approval"]["outcome"] == "resumed"


async def test_a_signal_that_came_before_the_wait_is_kept_for_it(
    client: MnesticClient, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    plan = parse_plan(ASK, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "Mara"})

    await client.resume_job(job_id, {"word": "early"}, by="signal")
    async with run_worker():
        result = await client.wait_for_result(job_id)

    assert result.results["approval"]["payload"] == {"word": "early"}


async def test_a_request_without_a_worker_is_left_with_temporal(
    client: MnesticClient, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    async with run_worker():
        job_id = await start_waiting(client)

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
    client: MnesticClient, attempt: int
) -> None:
    plan = parse_plan(ASK, source="test")
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
    client: MnesticClient, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    async with run_worker():
        job_id = await start_waiting(client, plan=LOOP)
    for request_id, last in (("r1", False), ("r2", True)):
        payload = {"text": request_id, "last": last}
        await client.resume_job(job_id, payload, request_id=request_id, by="signal")

    async with run_worker():
        receipt = await client.resume_job(job_id, {"text": "r2", "last": True}, request_id="r2")

    assert receipt is not None
    assert receipt.wait_id == f"{job_id}/w2"


@pytest.mark.usefixtures("worker")
async def test_a_restore_that_takes_longer_than_the_limit_is_left_with_temporal(
    client: MnesticClient, admin_url: str
) -> None:
    job_id = await start_waiting(client)
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
@pytest.mark.parametrize("request_id", ["", "x" * 257, "a\0b"])
async def test_a_request_id_that_is_no_key_is_refused(
    client: MnesticClient, request_id: str
) -> None:
    job_id = await start_waiting(client)

    with pytest.raises(InvalidInputError, match="request id"):
        await client.resume_job(job_id, {"word": "dear"}, request_id=request_id)


@pytest.mark.usefixtures("worker")
async def test_a_job_whose_working_memory_is_damaged_parks_and_can_be_cancelled(
    client: MnesticClient, admin_url: str
) -> None:
    job_id = await start_waiting(client)
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute(
            "UPDATE mnestic.working_memory SET state = '[]' WHERE tenant_id = %s",
            (client.settings.tenant_id,),
        )

    with pytest.raises(SnapshotUnverifiedError, match="working memory of session s1"):
        await client.resume_job(job_id, {"word": "dear"})
    parked = await client.describe_job(job_id)
    await client.cancel_job(job_id)
    with pytest.raises(JobFailedError, match="was cancelled"):
        await client.wait_for_result(job_id)

    episodes, _ = await client.memory("ada").list_episodes()
    assert parked.state == "needs_attention"
    assert [episode.payload["outcome"] for episode in episodes] == ["cancelled"]


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("attempt", range(8))
async def test_a_cancellation_beside_a_resume_settles_both(
    client: MnesticClient, attempt: int
) -> None:
    job_id = await start_waiting(client)

    resumed, _ = await asyncio.gather(
        client.resume_job(job_id, {"word": "dear"}, request_id=f"r{attempt}"),
        client.cancel_job(job_id),
        return_exceptions=True,
    )
    ended = await asyncio.gather(client.wait_for_result(job_id), return_exceptions=True)

    (wait,) = (await client.describe_job(job_id)).waits
    assert wait.state == ("cancelled" if isinstance(resumed, ResumeRefusedError) else "resumed")
    assert isinstance(ended[0], JobFailedError | JobResult)
    assert (await client.describe_job(job_id)).state in {"cancelled", "completed"}


@pytest.mark.usefixtures("worker")
async def test_a_job_that_is_over_cannot_be_cancelled(client: MnesticClient) -> None:
    job_id = await start_waiting(client)
    await client.resume_job(job_id, {"word": "dear"})
    await client.wait_for_result(job_id)

    with pytest.raises(NotFoundError, match=f"no running job {job_id}"):
        await client.cancel_job(job_id)


@pytest.mark.usefixtures("worker")
async def test_a_cancelled_job_ends_its_wait_and_leaves_an_episode(client: MnesticClient) -> None:
    job_id = await start_waiting(client)

    await client.cancel_job(job_id)
    with pytest.raises(JobFailedError, match="was cancelled"):
        await client.wait_for_result(job_id)

    job = await client.describe_job(job_id)
    episodes, _ = await client.memory("ada").list_episodes(session_id="s1")
    assert job.state == "cancelled"
    assert [wait.state for wait in job.waits] == ["cancelled"]
    assert [episode.payload["outcome"] for episode in episodes] == ["cancelled"]
    assert "My name is Mara" in episodes[0].summary


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("node", "why"),
    [
        ("{id: bad, kind: tool, activity: no.such, attempts: 1, next: end}", "no.such"),
        ("{id: bad, kind: emit, channel: c, content: '${input.nobody}', next: end}", "nobody"),
        ("{id: bad, kind: emit, channel: c, content: '${memory.task.x}', next: end}", "memory"),
        ("{id: bad, kind: remember, records: '${input.name}', next: end}", "not a list"),
        ("{id: bad, kind: remember, variables: {a: '${input.big}'}, next: end}", "big"),
    ],
)
async def test_a_failed_job_names_its_node_and_cause_and_leaves_an_episode(
    client: MnesticClient, node: str, why: str
) -> None:
    plan = parse_plan(f"name: failing\nnodes: [{node}]", source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "x"})

    with pytest.raises(JobFailedError, match=rf"node bad failed: .*{why}"):
        await client.wait_for_result(job_id)

    episodes, _ = await client.memory("ada").list_episodes()
    assert [episode.payload["outcome"] for episode in episodes] == ["failed"]
    assert why in episodes[0].summary


@pytest.mark.usefixtures("worker")
async def test_text_of_a_user_is_never_a_template(client: MnesticClient) -> None:
    plan = parse_plan(
        """
        name: echo
        nodes:
          - {id: note, kind: remember, variables: {secret: s3cret}, next: say}
          - {id: say, kind: emit, channel: chat, content: "You said ${input.text}", next: end}
        """,
        source="test",
    )
    told = "${memory.variables.secret} and $${x}"
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"text": told})

    await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory("s1")
    assert [message.content for message in state.messages] == [f"You said {told}"]


@pytest.mark.usefixtures("worker")
async def test_a_job_waits_in_a_loop_until_a_branch_ends_it(client: MnesticClient) -> None:
    plan = parse_plan(LOOP, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")

    for number in range(1, 4):

        async def parked(number: int = number) -> bool:
            job = await client.describe_job(job_id)
            return job.state == "waiting" and len(job.waits) == number

        await until(parked)
        await client.resume_job(job_id, {"text": f"turn {number}", "last": number == 3})
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory("s1")
    assert result.waits == 3
    assert [message.content for message in state.messages] == ["turn 1", "turn 2", "turn 3"]


@pytest.mark.usefixtures("worker")
async def test_two_jobs_of_one_session_wait_side_by_side(client: MnesticClient) -> None:
    first, second = await start_waiting(client), await start_waiting(client)

    await asyncio.gather(*(client.resume_job(job, {"word": "dear"}) for job in (first, second)))
    results = [await client.wait_for_result(job) for job in (first, second)]

    state = await client.memory("ada").working_memory("s1")
    assert [result.results["approval"]["outcome"] for result in results] == ["resumed"] * 2
    assert len(state.messages) == 4

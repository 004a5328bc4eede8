"""Whole jobs on a real Temporal and a real Postgres."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import (
    JobFailedError,
    NotFoundError,
    ResumeRefusedError,
    SnapshotUnverifiedError,
)
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]


@pytest.mark.usefixtures("worker")
async def test_a_job_goes_on_with_the_memory_it_had(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()

    await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert [message.content for message in state.messages] == [
        "My name is Mara.",
        "Hello dear, Mara.",
    ]
    assert result.waits == 1


@pytest.mark.usefixtures("worker")
async def test_what_changed_meanwhile_is_told_as_drift(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    await client.memory("ada").records.set("profile", "name", "Maria")
    await client.memory("ada").records.set("profile", "city", "Lisbon")

    await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)

    drift = result.results["approval"]["drift"]
    assert [(change["kind"], change["key"]) for change in drift] == [
        ("created", "city"),
        ("changed", "name"),
    ]


@pytest.mark.usefixtures("worker")
async def test_a_job_whose_working_memory_is_damaged_parks_and_can_be_cancelled(
    client: MnesticClient, admin_url: str, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
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

    episodes, _ = await client.memory("ada").episodes.list()
    assert parked.state == "needs_attention"
    assert [episode.payload["outcome"] for episode in episodes] == ["cancelled"]


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("attempt", range(4))
async def test_a_cancellation_beside_a_resume_settles_both(
    client: MnesticClient, attempt: int, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()

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
async def test_a_job_that_is_over_cannot_be_cancelled(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    await client.resume_job(job_id, {"word": "dear"})
    await client.wait_for_result(job_id)

    with pytest.raises(NotFoundError, match=f"no running job {job_id}"):
        await client.cancel_job(job_id)


@pytest.mark.usefixtures("worker")
async def test_a_cancelled_job_ends_its_wait_and_leaves_an_episode(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()

    await client.cancel_job(job_id)
    with pytest.raises(JobFailedError, match="was cancelled"):
        await client.wait_for_result(job_id)

    job = await client.describe_job(job_id)
    episodes, _ = await client.memory("ada").episodes.list(session_id="s1")
    assert job.state == "cancelled"
    assert [wait.state for wait in job.waits] == ["cancelled"]
    assert [episode.payload["outcome"] for episode in episodes] == ["cancelled"]
    assert "My name is Mara" in episodes[0].summary


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("node", "why"),
    [
        ("{id: bad, kind: tool, activity: no.such, attempts: 1, next: end}", "no.such"),
        ("{id: bad, kind: emit, channel: c, content: '${job.nobody}', next: end}", "nobody"),
        ("{id: bad, kind: emit, channel: c, content: '${memory.task.x}', next: end}", "memory"),
        ("{id: bad, kind: remember, records: '${input.name}', next: end}", "not a list"),
        ("{id: bad, kind: remember, variables: {a: '${job.big}'}, next: end}", "big"),
    ],
)
async def test_a_failed_job_names_its_node_and_cause_and_leaves_an_episode(
    client: MnesticClient, node: str, why: str
) -> None:
    plan = parse_plan(f"name: failing\nnodes: [{node}]", source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "x"})

    with pytest.raises(JobFailedError, match=rf"node bad failed: .*{why}"):
        await client.wait_for_result(job_id)

    episodes, _ = await client.memory("ada").episodes.list()
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

    state = await client.memory("ada").working_memory.get("s1")
    assert [message.content for message in state.messages] == [f"You said {told}"]


@pytest.mark.usefixtures("worker")
async def test_a_job_waits_in_a_loop_until_a_branch_ends_it(
    client: MnesticClient, until: Until, loop: str
) -> None:
    plan = parse_plan(loop, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")

    for number in range(1, 4):

        async def parked(number: int = number) -> bool:
            job = await client.describe_job(job_id)
            return job.state == "waiting" and len(job.waits) == number

        await until(parked)
        await client.resume_job(job_id, {"text": f"turn {number}", "last": number == 3})
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert result.waits == 3
    assert [message.content for message in state.messages] == ["turn 1", "turn 2", "turn 3"]


@pytest.mark.usefixtures("worker")
async def test_two_jobs_of_one_session_wait_side_by_side(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    first, second = await start_waiting(), await start_waiting()

    await asyncio.gather(*(client.resume_job(job, {"word": "dear"}) for job in (first, second)))
    results = [await client.wait_for_result(job) for job in (first, second)]

    state = await client.memory("ada").working_memory.get("s1")
    assert [result.results["approval"]["outcome"] for result in results] == ["resumed"] * 2
    assert len(state.messages) == 4


BUDGET = """\
name: thrifty
budget: {tokens: 60}
nodes:
  - {id: said, kind: remember, message: {content: "Mara lives in Lisbon."}, next: first}
  - {id: first, kind: think, prompt: "Where does Mara live?", next: second}
  - {id: second, kind: think, prompt: "Where does Mara live?", next: end}
"""


@pytest.mark.usefixtures("worker")
async def test_a_think_over_the_budget_of_its_job_fails_by_name(
    client: MnesticClient, admin_url: str
) -> None:
    plan = parse_plan(BUDGET, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")

    with pytest.raises(JobFailedError, match=rf"node second failed: .*budget of job {job_id}"):
        await client.wait_for_result(job_id)

    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        found = await connection.execute(
            "SELECT purpose, cost_usd FROM mnestic.llm_usage "
            "WHERE tenant_id = %s AND job_id = %s ORDER BY id",
            (client.settings.tenant_id, job_id),
        )
        assert await found.fetchall() == [("think", 0), ("summarise", 0)]

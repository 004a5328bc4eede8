"""Nodes that fail: tried again, caught, or the end of their job."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalSummariser
from mnestic.memory.errors import BudgetExceededError, JobFailedError
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.memory.models.messages import ChatMessage, ChatReply
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker

Until = Callable[..., Awaitable[Any]]
RunPlan = Callable[..., Awaitable[JobResult]]


class PoorModel:
    """A chat model that has no money left; it can be held before it says so."""

    def __init__(self) -> None:
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.may_answer.set()

    async def reply(self, messages: Sequence[ChatMessage], *, max_tokens: int) -> ChatReply:
        self.asked.set()
        await self.may_answer.wait()
        raise BudgetExceededError(what="tokens", used=str(len(messages)), limit=str(max_tokens))


@activity.defn(name="fail")
async def fail(kind: str) -> None:
    """Fails, each time."""
    raise ApplicationError("x\x00" * 2_000, type=kind)


@activity.defn(name="fail_twice")
async def fail_twice() -> int:
    """Succeeds at its third attempt."""
    attempt = activity.info().attempt
    if attempt < 3:
        raise ApplicationError("not yet", type="NotYet")
    return attempt


@activity.defn(name="sleep")
async def sleep() -> None:
    """Sleeps until it is cancelled."""
    while True:
        activity.heartbeat()
        await asyncio.sleep(0.1)


@pytest.fixture
def model() -> PoorModel:
    return PoorModel()


@pytest.fixture(autouse=True)
async def worker(
    client: MnesticClient, memory: PostgresMemory, model: PoorModel
) -> AsyncIterator[None]:
    """A worker with tools that fail, and a model that does."""
    activities = activities_of(memory, model=model, summariser=LocalSummariser())
    tools = f"{client.settings.task_queue}-tools"
    async with (
        make_worker(client.temporal, client.settings, activities=activities),
        Worker(client.temporal, task_queue=tools, activities=[fail, fail_twice, sleep]),
    ):
        yield


@pytest.fixture
def start(client: MnesticClient) -> Callable[[str], Awaitable[str]]:
    """Starts a job of nodes in YAML."""

    async def start(nodes: str) -> str:
        text = nodes.replace("TOOLS", f"{client.settings.task_queue}-tools")
        plan = parse_plan(f"name: failing\nnodes:{text}", source="test")
        return await client.start_job(
            plan, agent_id="ada", session_id="s1", inputs={"name": "Mara", "text": "no list"}
        )

    return start


@pytest.mark.parametrize(
    ("node", "kind", "told"),
    [
        ("kind: emit, channel: c, content: '${job.nobody}'", "InvalidInputError", "'nobody'"),
        ("kind: emit, channel: c, content: '${memory.task.x}'", "InvalidInputError", "'x'"),
        ("kind: remember, records: '${input.text}'", "InvalidInputError", "not a list"),
        (
            "kind: remember, records: [{namespace: n, key: k, value: 1, expected_version: 7}]",
            "StaleVersionError",
            "expected version 7",
        ),
        ("kind: recall, records: [{namespace: '${input}'}]", "InvalidInputError", "string"),
        ("kind: think, prompt: Hello", "BudgetExceededError", "budget of tokens is used up"),
        ("kind: tool, activity: fail, task_queue: TOOLS, arguments: Broken", "Broken", "x�"),
    ],
)
async def test_a_failure_is_caught_whatever_the_node(
    client: MnesticClient,
    start: Callable[[str], Awaitable[str]],
    node: str,
    kind: str,
    told: str,
) -> None:
    retry = "retry: {attempts: 2, first_delay: 10ms}"
    job_id = await start(
        f"""
        - {{id: bad, {node}, {retry}, next: never, catch: mend}}
        - {{id: never, kind: emit, channel: c, content: never, next: end}}
        - {{id: mend, kind: emit, channel: c, content: "${{results.bad.error.type}}", next: ask}}
        - {{id: ask, kind: wait, key: k, timeout: 1s, on: {{resumed: end, timeout: end}}}}
        """
    )

    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    error = result.results["bad"]["error"]
    assert [message.content for message in state.messages] == [kind]
    assert error["type"] == kind
    assert told in error["message"]
    assert len(error["message"]) <= 1_000


async def test_a_branch_that_cannot_be_chosen_is_caught_as_well(
    client: MnesticClient, start: Callable[[str], Awaitable[str]]
) -> None:
    job_id = await start(
        """
        - id: bad
          kind: emit
          channel: c
          content: said
          next: {on: "${results.bad.nothing}", cases: {}, otherwise: end}
          catch: mend
        - {id: mend, kind: emit, channel: c, content: mended, next: end}
        """
    )

    await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert [message.content for message in state.messages] == ["said", "mended"]


async def test_a_node_is_tried_as_often_as_its_policy_says(
    client: MnesticClient, start: Callable[[str], Awaitable[str]]
) -> None:
    tool = "kind: tool, activity: fail_twice, task_queue: TOOLS, next: end"
    patient = await start(f" [{{id: work, {tool}, retry: {{attempts: 3, first_delay: 10ms}}}}]")
    hasty = await start(f" [{{id: work, {tool}, retry: {{attempts: 2, first_delay: 10ms}}}}]")
    strict = await start(f" [{{id: work, {tool}, retry: {{not_on: [NotYet]}}}}]")

    done = await client.wait_for_result(patient)
    for job_id in (hasty, strict):
        with pytest.raises(JobFailedError, match="node work failed: not yet"):
            await client.wait_for_result(job_id)

    assert done.results["work"] == 3


async def test_without_a_catch_memory_stays_as_of_the_last_completed_node(
    client: MnesticClient, start: Callable[[str], Awaitable[str]]
) -> None:
    retry = "retry: {attempts: 1}"
    job_id = await start(
        f"""
        - {{id: one, kind: remember, message: {{content: one}}, next: two}}
        - {{id: two, kind: tool, activity: fail, task_queue: TOOLS, arguments: X, {retry}, next: three}}
        - {{id: three, kind: remember, message: {{content: three}}, next: end}}
        """
    )

    with pytest.raises(JobFailedError, match="node two failed: x"):
        await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert [message.content for message in state.messages] == ["one"]
    assert state.tool_calls == ()


async def test_a_long_failure_is_told_by_its_beginning(
    client: MnesticClient, start: Callable[[str], Awaitable[str]]
) -> None:
    tool = "kind: tool, activity: fail, task_queue: TOOLS, arguments: Broken, next: end"
    job_id = await start(f" [{{id: bad, {tool}, retry: {{attempts: 1}}}}]")

    with pytest.raises(JobFailedError) as failed:
        await client.wait_for_result(job_id)

    beginning = "node bad failed: " + ("x\N{REPLACEMENT CHARACTER}" * 1_000)
    (episode,), _ = await client.memory("ada").episodes.list()
    assert str(failed.value).endswith(beginning)
    assert beginning in episode.summary
    assert f"{beginning}x" not in episode.summary


async def test_a_cancellation_of_a_tool_is_never_caught(
    client: MnesticClient, start: Callable[[str], Awaitable[str]], until: Until
) -> None:
    job_id = await start(
        """
        - {id: work, kind: tool, activity: sleep, task_queue: TOOLS, heartbeat: 5s, next: end, catch: mend}
        - {id: mend, kind: emit, channel: c, content: mended, next: end}
        """
    )

    async def at_work() -> bool:
        return (await client.describe_job(job_id)).state == "running"

    await until(at_work)
    await client.cancel_job(job_id)

    with pytest.raises(JobFailedError, match="was cancelled"):
        await client.wait_for_result(job_id)
    assert (await client.memory("ada").working_memory.get("s1")).messages == ()


async def test_a_failure_after_a_cancellation_is_not_caught(
    client: MnesticClient,
    start: Callable[[str], Awaitable[str]],
    model: PoorModel,
) -> None:
    model.may_answer.clear()
    job_id = await start(
        """
        - {id: ask, kind: think, prompt: Hello, next: end, catch: mend}
        - {id: mend, kind: emit, channel: c, content: mended, next: end}
        """
    )
    await model.asked.wait()

    await client.cancel_job(job_id)
    await asyncio.sleep(0.5)
    model.may_answer.set()

    with pytest.raises(JobFailedError, match="was cancelled"):
        await client.wait_for_result(job_id)
    assert (await client.memory("ada").working_memory.get("s1")).messages == ()

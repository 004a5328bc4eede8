"""Nodes that fail: tried again, caught, or the end of their job."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalSummariser
from mnestic.memory.errors import BudgetExceededError, JobFailedError
from mnestic.memory.models.messages import ChatMessage, ChatReply
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker
from tests.workflows.conftest import Jobs


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
async def tools(
    client: MnesticClient, memory: PostgresMemory, model: PoorModel
) -> AsyncIterator[str]:
    """The task queue of tools that fail, beside a worker whose model does."""
    activities = activities_of(memory, model=model, summariser=LocalSummariser())
    tools = f"{client.settings.task_queue}-tools"
    async with (
        make_worker(client.temporal, client.settings, activities=activities),
        Worker(client.temporal, task_queue=tools, activities=[fail, fail_twice, sleep]),
    ):
        yield tools


def plan(nodes: str, tools: str = "") -> str:
    return f"name: failing\nnodes:{nodes.replace('TOOLS', tools)}"


FAILING = {  # a node of each kind, with the type of its error and what it says
    "kind: emit, channel: c, content: '${job.nobody}'": ("InvalidInputError", "'nobody'"),
    "kind: emit, channel: c, content: '${memory.task.x}'": ("InvalidInputError", "'x'"),
    "kind: remember, records: '${input.text}'": ("InvalidInputError", "not a list"),
    "kind: remember, records: [{namespace: n, key: k, value: 1, expected_version: 7}]": (
        "StaleVersionError",
        "expected version 7",
    ),
    "kind: recall, records: [{namespace: '${input}'}]": ("InvalidInputError", "string"),
    "kind: think, prompt: Hello": ("BudgetExceededError", "budget of tokens is used up"),
    "kind: tool, activity: fail, task_queue: TOOLS, arguments: Broken": ("Broken", "x�"),
}


async def test_a_failure_is_caught_whatever_the_node(jobs: Jobs, tools: str) -> None:
    nodes = ""
    for number, node in enumerate(FAILING):
        told, retry = f"${{results.n{number}.error.type}}", "{attempts: 2, first_delay: 10ms}"
        after = f"n{number + 1}" if number + 1 < len(FAILING) else "ask"
        nodes += f"""
        - {{id: n{number}, {node}, retry: {retry}, next: never, catch: m{number}}}
        - {{id: m{number}, kind: emit, channel: c, content: "{told}", next: {after}}}"""
    nodes += """
        - {id: never, kind: emit, channel: c, content: never, next: end}
        - {id: ask, kind: wait, key: k, timeout: 1s, on: {resumed: end, timeout: end}}
        """

    result = await jobs.run(plan(nodes, tools), inputs={"text": "no list"})

    errors = [result.results[f"n{number}"]["error"] for number in range(len(FAILING))]
    assert [error["type"] for error in errors] == [kind for kind, _ in FAILING.values()]
    assert await jobs.texts() == [kind for kind, _ in FAILING.values()]
    for error, (_, told) in zip(errors, FAILING.values(), strict=True):
        assert told in error["message"]
        assert len(error["message"]) <= 1_000


async def test_a_node_is_tried_as_often_as_its_policy_says(jobs: Jobs, tools: str) -> None:
    def tried(retry: str) -> str:
        tool = "kind: tool, activity: fail_twice, task_queue: TOOLS, next: end"
        return plan(f" [{{id: work, {tool}, retry: {{{retry}}}}}]", tools)

    done = await jobs.run(tried("attempts: 3, first_delay: 10ms"))
    for retry in ("attempts: 2, first_delay: 10ms", "not_on: [NotYet]"):
        with pytest.raises(JobFailedError, match="node work failed: not yet"):
            await jobs.run(tried(retry))

    assert done.results["work"] == 3


async def test_without_a_catch_memory_stays_and_the_failure_is_told_by_its_beginning(
    jobs: Jobs, tools: str
) -> None:
    nodes = """
        - {id: one, kind: remember, message: {content: one}, next: two}
        - {id: two, kind: tool, activity: fail, task_queue: TOOLS, arguments: X, retry: {attempts: 1}, next: three}
        - {id: three, kind: remember, message: {content: three}, next: end}
        """

    with pytest.raises(JobFailedError) as failed:
        await jobs.run(plan(nodes, tools))

    beginning = "node two failed: " + ("x\N{REPLACEMENT CHARACTER}" * 1_000)
    (episode,), _ = await jobs.memory("ada").episodes.list()
    state = await jobs.memory("ada").working_memory.get("s1")
    assert str(failed.value).endswith(beginning)
    assert beginning in episode.summary
    assert f"{beginning}x" not in episode.summary
    assert (await jobs.texts(), state.tool_calls) == (["one"], ())


async def test_a_cancellation_is_never_caught(jobs: Jobs, model: PoorModel, tools: str) -> None:
    mend = "{id: mend, kind: emit, channel: c, content: mended, next: end}"
    work = "kind: tool, activity: sleep, task_queue: TOOLS, heartbeat: 5s, next: end, catch: mend"
    works = await jobs.start(plan(f" [{{id: work, {work}}}, {mend}]", tools))
    await jobs.until_state(works, "running")
    model.may_answer.clear()
    think = "kind: think, prompt: Hello, next: end, catch: mend"
    thinks = await jobs.start(plan(f" [{{id: ask, {think}}}, {mend}]"))
    await model.asked.wait()

    for job_id in (works, thinks):
        await jobs.cancel_job(job_id)
    model.may_answer.set()  # a node that fails after the cancellation

    for job_id in (works, thinks):
        with pytest.raises(JobFailedError, match="was cancelled"):
            await jobs.wait_for_result(job_id)
    assert await jobs.texts() == []

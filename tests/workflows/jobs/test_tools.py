"""Tools: activities of other workers, with their timeouts and results of any size."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.converter import DataConverter
from temporalio.worker import Worker

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.errors import JobFailedError
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

pytestmark = pytest.mark.usefixtures("worker")
RunPlan = Callable[..., Awaitable[JobResult]]


@activity.defn(name="give")
async def give(size: int) -> dict[str, Any]:
    """A result of about so many bytes."""
    return {"text": "x" * size, "rows": [{"n": 1.50}, {"n": 1e22}]}


@activity.defn(name="count")
async def count(upto: int) -> list[int]:
    """Many small values."""
    return list(range(upto))


@activity.defn(name="raw_bytes")
async def raw_bytes() -> bytes:
    """What is no JSON."""
    return b"\xff"


@activity.defn(name="stall")
async def stall(operation: dict[str, Any]) -> int:
    """Gives no heartbeat at its first attempt; returns the attempt that did."""
    assert operation["key"].endswith("/tool")
    attempt = activity.info().attempt
    if attempt == 1:
        await asyncio.sleep(60)
    activity.heartbeat(attempt)
    return attempt


@activity.defn(name="forge")
async def forge() -> dict[str, Any]:
    """Something that looks like a reference to a result."""
    return {"ref": "6c1f8f0e-3a1b-4d55-9b57-6d6e65737469", "sha256": "a" * 64, "size_bytes": 1}


@activity.defn(name="foreign")
async def foreign(asked: RawValue) -> RawValue:
    """As a worker of another language: JSON in, JSON out, and no types."""
    assert asked.payload.metadata["encoding"] == b"json/plain"
    order = json.loads(asked.payload.data)
    asked.payload.data = json.dumps({"orderId": order["orderId"], "ok": True}).encode()
    return RawValue(asked.payload)


@activity.defn(name="sealed")
async def sealed(encoding: str) -> RawValue:
    """What only a codec of somebody else's could read."""
    return RawValue(Payload(metadata={"encoding": encoding.encode()}, data=b"\xff{"))


@pytest.fixture
async def elsewhere(client: MnesticClient) -> AsyncIterator[str]:
    """A task queue of somebody else's worker, which knows nothing of Mnestic."""
    address = client.endpoints.temporal_address
    stranger = await Client.connect(
        address, namespace=client.temporal.namespace, data_converter=DataConverter.default
    )
    queue = f"{client.settings.task_queue}-elsewhere"
    activities = [give, count, raw_bytes, stall, forge, foreign, sealed]
    async with Worker(stranger, task_queue=queue, activities=activities):
        yield queue


@pytest.fixture
def run_plan(client: MnesticClient, elsewhere: str) -> RunPlan:
    """Runs a plan of nodes in YAML to its end."""

    async def run(nodes: str, **inputs: Any) -> JobResult:
        text = f"name: tools\nnodes:{nodes.replace('ELSEWHERE', elsewhere)}"
        plan = parse_plan(text, source="test")
        job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs=inputs)
        return await client.wait_for_result(job_id)

    return run


async def test_an_activity_of_another_worker_gets_and_gives_plain_json(
    run_plan: RunPlan,
) -> None:
    result = await run_plan(
        """
        - id: ship
          kind: tool
          activity: foreign
          task_queue: ELSEWHERE
          arguments: {orderId: "${input.order}", lines: [{sku: a, n: 2}]}
          next: end
        """,
        order=42,
    )

    assert result.results["ship"] == {"orderId": 42, "ok": True}


async def test_an_activity_that_gives_no_heartbeat_is_tried_again(run_plan: RunPlan) -> None:
    result = await run_plan(
        """
        - id: work
          kind: tool
          activity: stall
          task_queue: ELSEWHERE
          arguments: ${job.operation}
          heartbeat: 1s
          retry: {first_delay: 50ms}
          next: end
        """
    )

    assert result.results["work"] == 2


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            "task_queue: ELSEWHERE, activity: stall, heartbeat: 1s, retry: {attempts: 1}",
            "stall: it gave no heartbeat in time",
        ),
        (
            "task_queue: ELSEWHERE, activity: stall, timeout: 1s, retry: {attempts: 1}",
            "stall: it did not end within its timeout",
        ),
        (
            "task_queue: nobody, activity: stall, queue_timeout: 1s",
            "stall: no worker took it from its task queue in time",
        ),
        (
            "task_queue: ELSEWHERE, activity: stall, total_timeout: 1s",
            "stall: it did not end within its total timeout",
        ),
    ],
)
async def test_each_timeout_is_told_by_its_name(run_plan: RunPlan, fields: str, told: str) -> None:
    work = f"id: work, kind: tool, arguments: '${{job.operation}}', {fields}, next: end"

    with pytest.raises(JobFailedError, match=f"node work failed: {told}"):
        await run_plan(f" [{{{work}}}]")


@pytest.mark.parametrize("size", [10, 200_000])
async def test_later_nodes_reach_into_a_result_of_any_size(
    run_plan: RunPlan, client: MnesticClient, size: int
) -> None:
    result = await run_plan(
        """
        - {id: look, kind: tool, activity: give, task_queue: ELSEWHERE, arguments: "${input.size}", next: note}
        - id: note
          kind: remember
          variables: {rows: "${memory.results.look.rows}"}
          next: ask
        - {id: ask, kind: think, prompt: "Say ${memory.results.look.rows.0.n}", next: say}
        - {id: say, kind: emit, channel: c, content: "${memory.results.gone | memory.results.look.rows.1.n}", next: end}
        """,
        size=size,
    )

    state = await client.memory("ada").working_memory.get("s1")
    held = result.results["look"]
    assert state.variables["rows"] == [{"n": 1.5}, {"n": 1e22}]
    assert state.messages[-1].content == "1e+22"
    assert state.tool_calls[0].result == held
    if size > 16_384:
        whole = canonical_json(await give(size))
        assert (held["sha256"], held["size_bytes"]) == (sha256_hex(whole), len(whole))
        assert set(held) == {"ref", "sha256", "size_bytes"}


async def test_a_large_result_is_in_the_history_once(
    run_plan: RunPlan, client: MnesticClient
) -> None:
    result = await run_plan(
        """
        - {id: look, kind: tool, activity: give, task_queue: ELSEWHERE, arguments: 1500000, next: say}
        - {id: say, kind: emit, channel: c, content: "${memory.results.look.rows.0.n}", next: end}
        """
    )

    workflow_id = job_workflow_id(client.settings.tenant_id, result.job_id)
    history = await client.temporal.get_workflow_handle(workflow_id).fetch_history()
    size = sum(event.ByteSize() for event in history.events)
    assert 1_500_000 < size < 1_600_000


async def test_a_result_of_many_values_does_not_hold_up_the_workflow(
    run_plan: RunPlan, client: MnesticClient
) -> None:
    result = await run_plan(
        """
        - {id: look, kind: tool, activity: count, task_queue: ELSEWHERE, arguments: 280000, next: end}
        """
    )

    workflow_id = job_workflow_id(client.settings.tenant_id, result.job_id)
    history = await client.temporal.get_workflow_handle(workflow_id).fetch_history()
    assert result.results["look"]["size_bytes"] > 1_800_000
    assert not any(  # as one that does not yield for two seconds
        event.HasField("workflow_task_failed_event_attributes")
        or event.HasField("workflow_task_timed_out_event_attributes")
        for event in history.events
    )


async def test_a_result_that_is_no_json_fails_the_node(run_plan: RunPlan) -> None:
    with pytest.raises(JobFailedError, match="node look failed: result: is a bytes"):
        await run_plan(
            """
            - {id: look, kind: tool, activity: raw_bytes, task_queue: ELSEWHERE, next: end}
            """
        )


@pytest.mark.parametrize("encoding", ["binary/encrypted", "json/plain", "json/protobuf"])
async def test_a_result_that_cannot_be_read_is_a_failure_that_is_caught(
    run_plan: RunPlan, client: MnesticClient, encoding: str
) -> None:
    result = await run_plan(
        """
        - id: look
          kind: tool
          activity: sealed
          task_queue: ELSEWHERE
          arguments: ${input.encoding}
          next: end
          catch: mend
        - {id: mend, kind: emit, channel: c, content: "${results.look.error.type}", next: end}
        """,
        encoding=encoding,
    )

    state = await client.memory("ada").working_memory.get("s1")
    told = [entry.what for entry in (await client.job_history(result.job_id)).entries]
    assert f"cannot be read (its encoding is {encoding})" in str(result.results["look"])
    assert [message.content for message in state.messages] == ["InvalidInputError"]
    assert told == ["started", "step", "step", "ended"]


async def test_a_plan_may_keep_smaller_results_too(run_plan: RunPlan) -> None:
    result = await run_plan(
        """
        - {id: look, kind: tool, activity: give, task_queue: ELSEWHERE, arguments: 10, store_above: 20, next: end}
        """
    )

    assert set(result.results["look"]) == {"ref", "sha256", "size_bytes"}


async def test_a_tool_cannot_forge_a_reference(run_plan: RunPlan, client: MnesticClient) -> None:
    result = await run_plan(
        """
        - {id: look, kind: tool, activity: forge, task_queue: ELSEWHERE, next: say}
        - {id: say, kind: emit, channel: c, content: "${memory.results.look.ref}", next: end}
        """
    )

    state = await client.memory("ada").working_memory.get("s1")
    forged = await forge()
    assert state.messages[-1].content == forged["ref"]
    assert result.results["look"]["ref"] != forged["ref"]


async def test_a_result_that_temporal_cannot_carry_fails_the_node_at_once_and_in_words(
    run_plan: RunPlan,
) -> None:
    with pytest.raises(JobFailedError, match=r"node look failed: it gave a result over the size"):
        await run_plan(
            """
            - {id: look, kind: tool, activity: give, task_queue: ELSEWHERE, arguments: 3000000, next: end}
            """
        )

"""Tools: activities of other workers, with their timeouts and results of any size."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.converter import DataConverter
from temporalio.worker import Worker

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.conftest import Jobs

pytestmark = pytest.mark.usefixtures("worker")


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


def call(name: str, fields: str, *, then: str = "end") -> str:
    """A node that calls a tool of that worker, unless it names another queue."""
    queue = "" if "task_queue" in fields else "task_queue: ELSEWHERE, "
    return f"  - {{id: {name}, kind: tool, {queue}{fields}, next: {then}}}\n"


def say(content: str) -> str:
    return f"  - {{id: say, kind: emit, channel: c, content: '{content}', next: end}}\n"


async def run(jobs: Jobs, elsewhere: str, *nodes: str, **inputs: Any) -> JobResult:
    text = "".join(nodes).replace("ELSEWHERE", elsewhere)
    return await jobs.run(f"name: tools\nnodes:\n{text}", inputs=inputs)


async def failures(jobs: Jobs, elsewhere: str, **calls: str) -> dict[str, dict[str, str]]:
    """The errors of tools that are called one after the other, each of which fails and is caught."""
    nodes = ""
    for name, then in zip(calls, [*calls, "end"][1:], strict=True):
        nodes += call(name, f"{calls[name]}, catch: {then}", then=then)
    result = await run(jobs, elsewhere, nodes)
    return {name: result.results[name]["error"] for name in calls}


async def test_an_activity_of_another_worker_gets_and_gives_plain_json(
    jobs: Jobs, elsewhere: str
) -> None:
    asked = "arguments: {orderId: '${input.order}', lines: [{sku: a, n: 2}]}"

    result = await run(jobs, elsewhere, call("ship", f"activity: foreign, {asked}"), order=42)

    assert result.results["ship"] == {"orderId": 42, "ok": True}


async def test_an_activity_that_gives_no_heartbeat_is_tried_again(
    jobs: Jobs, elsewhere: str
) -> None:
    fields = "arguments: '${job.operation}', heartbeat: 1s, retry: {first_delay: 50ms}"

    result = await run(jobs, elsewhere, call("work", f"activity: stall, {fields}"))

    assert result.results["work"] == 2


async def test_each_timeout_is_told_by_its_name(jobs: Jobs, elsewhere: str) -> None:
    stall = "activity: stall, arguments: '${job.operation}'"
    told = await failures(
        jobs,
        elsewhere,
        heartbeat=f"{stall}, heartbeat: 1s, retry: {{attempts: 1}}",
        timeout=f"{stall}, timeout: 1s, retry: {{attempts: 1}}",
        queue=f"{stall}, task_queue: nobody, queue_timeout: 1s",
        total=f"{stall}, total_timeout: 1s",
    )

    assert {
        name: error["message"].partition("; before that")[0] for name, error in told.items()
    } == {
        "heartbeat": "stall: it gave no heartbeat in time",
        "timeout": "stall: it did not end within its timeout",
        "queue": "stall: no worker took it from its task queue in time",
        "total": "stall: it did not end within its total timeout",
    }


@pytest.mark.parametrize("size", [10, 200_000])
async def test_later_nodes_reach_into_a_result_of_any_size(
    jobs: Jobs, elsewhere: str, size: int
) -> None:
    result = await run(
        jobs,
        elsewhere,
        call("look", "activity: give, arguments: '${input.size}'", then="note"),
        "  - {id: note, kind: remember, variables: {rows: '${memory.results.look.rows}'}, next: ask}\n",
        "  - {id: ask, kind: think, prompt: 'Say ${memory.results.look.rows.0.n}', next: say}\n",
        say("${memory.results.gone | memory.results.look.rows.1.n}"),
        size=size,
    )

    state = await jobs.memory("ada").working_memory.get("s1")
    held = result.results["look"]
    assert state.variables["rows"] == [{"n": 1.5}, {"n": 1e22}]
    assert state.messages[-1].content == "1e+22"
    assert state.tool_calls[0].result == held
    if size > 16_384:
        whole = canonical_json(await give(size))
        assert (held["sha256"], held["size_bytes"]) == (sha256_hex(whole), len(whole))
        assert set(held) == {"ref", "sha256", "size_bytes"}


async def test_large_results_are_in_the_history_once_and_do_not_hold_up_the_workflow(
    jobs: Jobs, elsewhere: str
) -> None:
    result = await run(
        jobs,
        elsewhere,
        call("look", "activity: give, arguments: 1500000", then="many"),
        call("many", "activity: count, arguments: 280000", then="say"),
        say("${memory.results.look.rows.0.n}"),
    )

    many = result.results["many"]["size_bytes"]
    history = await jobs.handle(result.job_id).fetch_history()
    size = sum(event.ByteSize() for event in history.events)
    assert many > 1_800_000
    assert 1_500_000 + many < size < 1_600_000 + many
    assert not any(  # as one that does not yield for two seconds
        event.HasField("workflow_task_failed_event_attributes")
        or event.HasField("workflow_task_timed_out_event_attributes")
        for event in history.events
    )


async def test_a_result_that_cannot_be_kept_fails_the_node_in_words(
    jobs: Jobs, elsewhere: str
) -> None:
    encodings = {"foreign": "binary/encrypted", "broken": "json/plain", "proto": "json/protobuf"}
    sealed_as = {n: f"activity: sealed, arguments: {e}" for n, e in encodings.items()}

    told = await failures(
        jobs,
        elsewhere,
        **sealed_as,
        bytes="activity: raw_bytes",
        large="activity: give, arguments: 3000000",
    )

    for name, encoding in encodings.items():
        assert told[name]["type"] == "InvalidInputError"
        assert f"cannot be read (its encoding is {encoding})" in told[name]["message"]
    assert told["bytes"]["message"].startswith("result: is a bytes")
    assert told["large"]["message"].startswith("it gave a result over the size")


async def test_a_plan_may_keep_smaller_results_and_a_tool_cannot_forge_a_reference(
    jobs: Jobs, elsewhere: str
) -> None:
    result = await run(
        jobs,
        elsewhere,
        call("small", "activity: give, arguments: 10, store_above: 20", then="look"),
        call("look", "activity: forge", then="say"),
        say("${memory.results.look.ref}"),
    )

    forged = (await forge())["ref"]
    assert set(result.results["small"]) == {"ref", "sha256", "size_bytes"}
    assert (await jobs.texts())[-1] == forged
    assert result.results["look"]["ref"] != forged

"""Tools of a worker that is written in Go, by Temporal's own SDK, and knows nothing of Mnestic."""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from filelock import FileLock

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.errors import JobFailedError
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.state import RuntimeState
from mnestic.starter.jobs.plans import parse_plan

pytestmark = [pytest.mark.nightly, pytest.mark.usefixtures("worker")]

SOURCES = Path(__file__).with_name("go_worker")
BUILD_LIMIT_S = 900
ATTEMPTS = 3  # at a test, where Temporal promises no more than that one is made in the end
RunPlan = Callable[..., Awaitable[JobResult]]


@pytest.fixture(scope="module")
def go_worker() -> Path:
    """The program, built once a machine for each version of its sources."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("there is no `go` on PATH to build the worker with: https://go.dev/doc/install")
    sources = sorted(SOURCES.iterdir())
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    name = f"go-worker-{platform.machine()}-{digest[:12]}"
    cached = Path(platformdirs.user_cache_dir("mnestic", appauthor=False)) / "tests" / name
    cached.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(cached.with_suffix(".lock")):
        if not os.access(cached, os.X_OK):
            with tempfile.TemporaryDirectory(dir=cached.parent) as draft:
                program = Path(draft) / "worker"
                command = [go, "build", "-trimpath", "-mod=readonly", "-o", program, "."]
                env = os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}
                subprocess.run(command, cwd=SOURCES, env=env, check=True, timeout=BUILD_LIMIT_S)
                program.replace(cached)
    return cached


@pytest.fixture(scope="module")
def go_queue(processes: Any, servers: RuntimeState, go_worker: Path) -> Iterator[str]:
    """The task queue of a worker in Go, which runs for the whole module."""
    queue = f"go-{uuid.uuid4().hex[:12]}"
    running = processes.start(go_worker, servers.temporal_address, "default", queue)
    yield queue
    assert running.stop().code == 0, running.err


@pytest.fixture
def run_plan(client: MnesticClient, go_queue: str) -> RunPlan:
    """Runs a plan of nodes in YAML to its end."""

    async def run(nodes: str, **inputs: Any) -> JobResult:
        plan = parse_plan(f"name: go\nnodes:{nodes.replace('QUEUE', go_queue)}", source="test")
        job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs=inputs)
        return await client.wait_for_result(job_id)

    return run


async def test_an_activity_in_go_takes_and_gives_values_of_its_own_types(
    run_plan: RunPlan, client: MnesticClient
) -> None:
    result = await run_plan(
        """
        - {id: ping, kind: tool, activity: go.ping, task_queue: QUEUE, next: price}
        - id: price
          kind: tool
          activity: go.price
          task_queue: QUEUE
          arguments: {id: "${input.order}", rate: 0.5, lines: [{sku: a, price: 2.5, count: 4}]}
          next: say
        - {id: say, kind: emit, channel: c, content: "${results.price.total}", next: end}
        """,
        order="o-17",
    )

    state = await client.memory("ada").working_memory.get("s1")
    assert result.results["ping"] is None
    assert result.results["price"] == {"orderId": "o-17", "total": 15, "runtime": "go"}
    assert [call.activity for call in state.tool_calls] == ["go.ping", "go.price"]
    assert [message.content for message in state.messages] == ["15"]


async def test_heartbeats_of_go_keep_an_attempt_and_their_lack_ends_it(run_plan: RunPlan) -> None:
    result = await run_plan(
        """
        - id: work
          kind: tool
          activity: go.silent
          task_queue: QUEUE
          timeout: 30s
          heartbeat: 1s
          retry: {first_delay: 50ms}
          next: end
        """
    )

    assert result.results["work"] >= 2


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("heartbeat: 1s, retry: {attempts: 1}", "go.silent: it gave no heartbeat in time"),
        ("timeout: 1s, retry: {attempts: 1}", "go.silent: it did not end within its timeout"),
        ("total_timeout: 1s", "go.silent: it did not end within its total timeout"),
    ],
)
async def test_each_timeout_of_an_activity_in_go_is_told(
    run_plan: RunPlan, fields: str, told: str
) -> None:
    work = f"id: work, kind: tool, activity: go.silent, task_queue: QUEUE, {fields}, next: end"

    with pytest.raises(JobFailedError, match=f"node work failed: {told}"):
        await run_plan(f" [{{{work}}}]")


async def test_an_error_of_go_is_tried_again(run_plan: RunPlan) -> None:
    result = await run_plan(
        """
        - {id: work, kind: tool, activity: go.busy, task_queue: QUEUE, retry: {first_delay: 10ms}, next: end}
        """
    )

    assert result.results["work"] == 3


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        (
            'activity: go.refuse, arguments: "4711"',
            {"type": "CardBlocked", "message": "card 4711 is blocked"},
        ),
        (
            "activity: go.busy, retry: {attempts: 2, first_delay: 10ms}",
            {"type": "TillBusy", "message": "the till is busy"},
        ),
        (
            "activity: go.busy, retry: {not_on: [TillBusy]}",
            {"type": "TillBusy", "message": "the till is busy"},
        ),
        (
            "activity: go.jam, retry: {attempts: 1}",
            {"type": "NodeFailedError", "message": "the printer is jammed"},
        ),
    ],
    ids=["not-retryable", "out-of-attempts", "not-on", "without-a-type"],
)
async def test_a_failure_of_go_is_caught_with_its_type(
    run_plan: RunPlan, client: MnesticClient, fields: str, error: dict[str, str]
) -> None:
    nodes = f"""
        - {{id: pay, kind: tool, task_queue: QUEUE, timeout: 20s, {fields}, next: end, catch: mend}}
        - {{id: mend, kind: emit, channel: c, content: "${{results.pay.error.type}}", next: end}}
        """
    # A task that is lost between server and worker, as when the machine stands still, takes one of the attempts.
    for _ in range(ATTEMPTS):
        result = await run_plan(nodes)
        if result.results["pay"]["error"]["type"] != "TimeoutError":
            break

    state = await client.memory("ada").working_memory.get("s1")
    assert result.results["pay"] == {"error": error}
    assert state.messages[-1].content == error["type"]


async def test_a_large_result_of_go_is_kept_by_reference(
    run_plan: RunPlan, client: MnesticClient
) -> None:
    result = await run_plan(
        """
        - {id: read, kind: tool, activity: go.statement, task_queue: QUEUE, arguments: 200000, next: note}
        - {id: note, kind: remember, variables: {rows: "${memory.results.read.rows}"}, next: end}
        """
    )

    state = await client.memory("ada").working_memory.get("s1")
    rows = [{"sku": "é😀", "price": 0.1, "count": 2**53}, {"sku": "b", "price": 1e22, "count": 0}]
    whole = canonical_json({"text": "x" * 200_000, "rows": rows})
    held = result.results["read"]
    assert set(held) == {"ref", "sha256", "size_bytes"}
    assert (held["sha256"], held["size_bytes"]) == (sha256_hex(whole), len(whole))
    assert state.variables["rows"] == rows
    assert state.tool_calls[0].result == held

"""`python worker.py` alone, as a cluster runs it, on servers that others started."""

import asyncio
import json
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from temporalio.api.enums.v1 import EventType, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest

from mnestic.memory.knowledge.ingestion import IngestCounts
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan, read_plan
from mnestic.starter.settings import Settings

pytestmark = pytest.mark.acceptance

LIMIT_S = 300.0
THINK = """
name: thinking
nodes:
  - {id: muse, kind: think, prompt: "What now?", next: end}
"""


class Loopback:
    """An HTTP server that keeps what it was sent, and answers when it is let."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self.bodies: list[tuple[str, bytes]] = []
        self.answer = b"{}"

    @property
    def spans(self) -> set[str]:
        """Names of the spans that were sent to it over OTLP."""
        sent = [
            ExportTraceServiceRequest.FromString(body)
            for path, body in list(self.bodies)
            if path == "/v1/traces"
        ]
        return {
            span.name
            for request in sent
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }


@pytest.fixture
def loopback() -> Iterator[tuple[Loopback, str]]:
    """The server, and its address."""
    told = Loopback()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            told.asked.set()
            told.may_answer.wait(LIMIT_S)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(told.answer)))
            self.end_headers()
            self.wfile.write(told.answer)

        def log_message(self, *_: object) -> None:
            """Tests read the bodies instead."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield told, f"http://127.0.0.1:{server.server_port}"
    told.may_answer.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def port() -> int:
    """A port that is free."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        found: int = server.getsockname()[1]
    return found


async def pollers(client: MnesticClient) -> list[str]:
    request = DescribeTaskQueueRequest(
        namespace=client.temporal.namespace,
        task_queue=TaskQueue(name=client.settings.task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    answer = await client.temporal.workflow_service.describe_task_queue(request)
    return [poller.identity for poller in answer.pollers]


async def until_polls(client: MnesticClient, worker: Any) -> None:
    """Waits until Temporal sees the worker."""
    async with asyncio.timeout(LIMIT_S):
        while not any(name.startswith(f"{worker.pid}@") for name in await pollers(client)):
            assert worker.process.poll() is None, worker.err
            await asyncio.sleep(0.05)


async def until_waits(client: MnesticClient, job_id: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        while (job := await client.describe_job(job_id)).state != "waiting":
            assert job.closed_at is None, f"job {job_id} ended as {job.state}"
            await asyncio.sleep(0.05)


async def ended_activities(client: MnesticClient, job_id: str) -> list[str]:
    """Who completed activities of a job."""
    workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
    history = await client.temporal.get_workflow_handle(workflow_id).fetch_history()
    return [
        event.activity_task_completed_event_attributes.identity
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
    ]


async def test_a_worker_alone_takes_a_job_and_is_measured_and_traced(
    client: MnesticClient,
    processes: Any,
    root: Path,
    plan: Path,
    environment: dict[str, str],
    loopback: tuple[Loopback, str],
    port: int,
) -> None:
    collector, address = loopback
    collector.may_answer.set()
    env = environment | {
        "MNESTIC_PROMETHEUS_ADDRESS": f"127.0.0.1:{port}",
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
    }

    worker = processes.start(sys.executable, root / "worker.py", env=env)
    await until_polls(client, worker)
    job_id = await client.start_job(
        read_plan(plan), agent_id="ada", session_id="s1", inputs={"name": "Mara"}
    )
    await until_waits(client, job_id)
    receipt = await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)
    metrics = await asyncio.to_thread(lambda: urlopen(f"http://127.0.0.1:{port}/metrics").read())
    await asyncio.to_thread(worker.stop)

    assert receipt is not None
    assert result.waits == 1
    assert b"temporal_activity_execution_latency" in metrics
    assert client.settings.task_queue.encode() in metrics
    assert worker.code == 0
    assert {"RunActivity:mnestic.remember", "RunActivity:mnestic.restore"} <= collector.spans


async def test_an_activity_that_runs_at_the_stop_is_allowed_to_end(
    client: MnesticClient,
    processes: Any,
    root: Path,
    environment: dict[str, str],
    loopback: tuple[Loopback, str],
) -> None:
    model, address = loopback
    message = {"role": "assistant", "content": "A thought.", "refusal": None}
    model.answer = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "slow",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        }
    ).encode()
    env = environment | {"OPENAI_BASE_URL": f"{address}/v1"}

    worker = processes.start(sys.executable, root / "worker.py", env=env)
    await until_polls(client, worker)
    plan = parse_plan(THINK, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")
    assert await asyncio.to_thread(model.asked.wait, LIMIT_S)
    worker.process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(worker.until, lambda: "worker stopping" in worker.err, what="its stop")
    before = await ended_activities(client, job_id)
    model.may_answer.set()
    await asyncio.to_thread(worker.until_over)

    ended = await ended_activities(client, job_id)
    assert worker.code == 0, worker.err
    assert before == []
    assert [identity.split("@")[0] for identity in ended] == [str(worker.pid)]
    assert "Traceback" not in worker.err


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("MNESTIC_MODEL_TIMEOUT_S", "abc", 2),
        ("MNESTIC_PROMETHEUS_ADDRESS", "nowhere", 2),
        ("MNESTIC_DATABASE_URL", "postgresql://u:secret@127.0.0.1:9/none", 3),
    ],
)
def test_a_worker_that_cannot_start_says_why_in_a_line(
    processes: Any, root: Path, environment: dict[str, str], name: str, value: str, code: int
) -> None:
    done = processes.run(sys.executable, root / "worker.py", env=environment | {name: value})

    assert done.code == code, done.err
    assert len(done.errors) == 1
    assert "Traceback" not in done.err
    assert "secret" not in done.err
    if code == 2:
        assert name in done.errors[0]


async def test_a_worker_refuses_ports_that_others_have(
    processes: Any, root: Path, environment: dict[str, str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        env = environment | {"MNESTIC_PROMETHEUS_ADDRESS": address}

        done = await asyncio.to_thread(processes.run, sys.executable, root / "worker.py", env=env)

    assert done.code == 2, done.err
    assert address in done.errors[0]
    assert "Traceback" not in done.err


async def test_a_worker_learns_from_what_was_added_without_temporal(
    settings: Settings, environment: dict[str, str], processes: Any, root: Path
) -> None:
    async with await MemoryConnection.connect(settings) as connection:
        memory = connection.memory("ada")
        await memory.add("I live in Ghent.", speaker="Mara")
        worker = processes.start(sys.executable, root / "worker.py", env=environment)
        async with asyncio.timeout(LIMIT_S):
            while await memory.messages.count() != IngestCounts(learned=1):
                assert worker.process.poll() is None, worker.err
                await asyncio.sleep(0.05)
        facts, _ = await memory.facts.list()
        await asyncio.to_thread(worker.stop)

    assert [(fact.subject, fact.object) for fact in facts] == [("Mara", "Ghent")]
    assert worker.code == 0, worker.err
    assert "Traceback" not in worker.err

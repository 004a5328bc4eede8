"""`python worker.py` alone, as a cluster runs it, on servers that others started."""

import asyncio
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
from tests.chat_server import ChatServer
from tests.job_states import until_state

pytestmark = pytest.mark.acceptance

LIMIT_S = 300.0
THINK = """
name: thinking
nodes:
  - {id: muse, kind: think, prompt: "What now?", next: end}
"""


@pytest.fixture
def collector() -> Iterator[tuple[set[str], str]]:
    """The names of the spans that were sent to a collector over OTLP, and its address."""
    spans: set[str] = set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                sent = ExportTraceServiceRequest.FromString(body).resource_spans
                scopes = (scope for resource in sent for scope in resource.scope_spans)
                spans.update(span.name for scope in scopes for span in scope.spans)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield spans, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


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
    collector: tuple[set[str], str],
) -> None:
    spans, address = collector
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    env = environment | {
        "MNESTIC_PROMETHEUS_ADDRESS": f"127.0.0.1:{port}",
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
    }

    worker = processes.start(sys.executable, root / "worker.py", env=env)
    await until_polls(client, worker)
    job_id = await client.start_job(
        read_plan(plan), agent_id="ada", session_id="s1", inputs={"name": "Mara"}
    )
    await until_state(client, job_id, limit_s=LIMIT_S)
    receipt = await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)
    metrics = await asyncio.to_thread(lambda: urlopen(f"http://127.0.0.1:{port}/metrics").read())
    await asyncio.to_thread(worker.stop)

    assert receipt is not None
    assert result.waits == 1
    assert b"temporal_activity_execution_latency" in metrics
    assert client.settings.task_queue.encode() in metrics
    assert worker.code == 0
    assert {"RunActivity:mnestic.remember", "RunActivity:mnestic.restore"} <= spans


async def test_an_activity_that_runs_at_the_stop_is_allowed_to_end(
    client: MnesticClient,
    processes: Any,
    root: Path,
    environment: dict[str, str],
    chat_server: ChatServer,
) -> None:
    chat_server.completes("A thought.")
    chat_server.pause_s = LIMIT_S  # until it is released
    env = environment | {"OPENAI_BASE_URL": chat_server.base_url}

    worker = processes.start(sys.executable, root / "worker.py", env=env)
    await until_polls(client, worker)
    plan = parse_plan(THINK, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")
    await asyncio.to_thread(worker.until, lambda: chat_server.requests, what="a request")
    worker.process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(worker.until, lambda: "worker stopping" in worker.err, what="its stop")
    before = await ended_activities(client, job_id)
    chat_server.released.set()
    await asyncio.to_thread(worker.until_over)

    ended = await ended_activities(client, job_id)
    assert worker.code == 0, worker.err
    assert before == []
    assert [identity.split("@")[0] for identity in ended] == [str(worker.pid)]
    assert "Traceback" not in worker.err


async def test_a_worker_that_cannot_start_says_why_in_a_line(
    processes: Any, root: Path, environment: dict[str, str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for name, value, code, why in (
            ("MNESTIC_MODEL_TIMEOUT_S", "abc", 2, "MNESTIC_MODEL_TIMEOUT_S"),
            ("MNESTIC_PROMETHEUS_ADDRESS", "nowhere", 2, "MNESTIC_PROMETHEUS_ADDRESS"),
            ("MNESTIC_PROMETHEUS_ADDRESS", address, 2, address),
            ("MNESTIC_DATABASE_URL", "postgresql://u:secret@127.0.0.1:9/none", 3, "127.0.0.1:9"),
        ):
            done = await asyncio.to_thread(
                processes.run, sys.executable, root / "worker.py", env=environment | {name: value}
            )
            (error,) = done.errors
            assert (done.code, why in error) == (code, True), done.err
            assert "Traceback" not in done.err
            assert "secret" not in done.err


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

"""Postgres and Temporal that end while jobs run, wait and are resumed, and come back.

They are started here, by the parts of the embedded runtime, since `mnestic up` starts its parts again
as soon as they end.
"""

import asyncio
import os
import random
import signal
import threading
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from temporalio.testing import TimeSkipper

from benchmarks.messages import messages
from mnestic.memory.errors import ResumeRefusedError
from mnestic.memory.knowledge.ingestion import IngestCounts
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded import postgres, temporal_server
from mnestic.starter.embedded.ports import is_free
from mnestic.starter.embedded.process_group import ProcessGroup
from mnestic.starter.embedded.provision import find_temporal
from mnestic.starter.jobs.plans import read_plan
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate
from tests.acceptance.knowledge import read_knowledge

pytestmark = pytest.mark.acceptance

AGENT = "ada"
JOBS = 200
AGENTS = 10
MESSAGES = 1000
BATCH = 200
STORY_LIMIT_S = 600.0
AT_ONCE = 40  # requests of one client that are on their way
LOOP = read_plan(Path(__file__).with_name("loop.yaml"))


def free_port() -> int:
    """A port that nobody takes while its server is away.

    No runtime looks for one there, and none is given to an outgoing connection.
    """
    return next(port for port in iter(lambda: random.randrange(20_000, 30_000), 0) if is_free(port))


class Servers:
    """Postgres and Temporal, in a thread of their own; each can be ended and started again."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._crew = ProcessGroup(data_dir / "logs" / "guardian.log")
        self._port = free_port()
        self.settings = Settings(data_dir=data_dir)

    def start(self) -> None:
        self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._thread.start()
        self._run(self._crew.__aenter__())
        _, address = self._run(postgres.start_postgres(self._data_dir, self._crew))
        migrate(address.admin_url)
        self._program = self._run(find_temporal(lambda _: None, self._crew))
        temporal = self._run(self._start_temporal())
        self.settings = Settings(
            data_dir=self._data_dir,
            database_url=SecretStr(address.app_url),
            database_admin_url=SecretStr(address.admin_url),
            temporal_address=temporal.target,
        )

    def stop(self) -> None:
        self._run(self._crew.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def end(self, name: str, number: signal.Signals) -> None:
        """Ends a server by its pid, and waits until it is gone."""
        (part,) = [part for part in self._crew._parts if part.spec.name == name]
        os.kill(part.mark.pid, number)
        gone = asyncio.run_coroutine_threadsafe(part.wait(STORY_LIMIT_S), self._loop)
        assert await asyncio.wrap_future(gone) is not None

    async def start_again(self, name: str) -> None:
        """Starts a server on the same data, at the same address."""
        await asyncio.to_thread(self._start_again, name)

    @asynccontextmanager
    async def without(self, name: str, number: signal.Signals) -> AsyncIterator[None]:
        """Ends a server for as long as a block."""
        await self.end(name, number)
        try:
            yield
        finally:
            await self.start_again(name)

    def new_settings(self) -> Settings:
        """Settings of a tenant and a task queue that nobody else uses."""
        tenant = f"t-{uuid.uuid4().hex[:12]}"
        return self.settings.model_copy(update={"tenant_id": tenant, "task_queue": tenant})

    def _start_again(self, name: str) -> None:
        if name == temporal_server.NAME:
            self._run(self._start_temporal())
            return
        self._run(postgres.start_postgres(self._data_dir, self._crew))

    async def _start_temporal(self) -> temporal_server.TemporalServer:
        return await temporal_server.start_temporal(
            self._program, self._data_dir, self._crew, port=self._port
        )

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(300)


@pytest.fixture(scope="module")
def own_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Servers of this module."""
    servers = Servers(tmp_path_factory.mktemp("outages") / "data")
    servers.start()
    yield servers
    servers.stop()


@pytest.fixture
async def both(own_servers: Servers, senders: Any) -> AsyncIterator[Any]:
    """Two clients of a tenant of their own."""
    async with senders(own_servers.new_settings()) as both:
        yield both


async def start(both: Any, job_id: str, *, agent_id: str = AGENT) -> str:
    """Starts a loop in a session of its own."""
    found: str = await both.clients[0].start_job(
        LOOP, agent_id=agent_id, session_id=job_id, job_id=job_id
    )
    return found


def expected(job_id: str, texts: tuple[str, ...]) -> Counter[Any]:
    """What a loop has kept of the texts that were sent, in the order of their receipts."""
    kept: Counter[Any] = Counter(
        [("episode", job_id, "completed"), ("derived entry", job_id, "completed")]
    )
    for number, text in enumerate(texts, start=1):
        kept["message", job_id, str(number), "user", text] += 1
        kept["wait", f"{job_id}/w{number}", "resumed", f"{job_id}/{text}"] += 1
        kept["snapshot", job_id, "true"] += 1
        kept["resource", job_id, "user", text] += 1
        kept["entry", job_id, "interaction", text] += 1
    return kept


@pytest.mark.parametrize(
    ("name", "number"),
    [
        (postgres.NAME, signal.SIGINT),
        (postgres.NAME, signal.SIGKILL),
        (temporal_server.NAME, signal.SIGTERM),
        (temporal_server.NAME, signal.SIGKILL),
    ],
)
async def test_a_job_goes_on_by_itself_when_a_server_is_back(
    own_servers: Servers,
    both: Any,
    start_worker: Callable[..., Any],
    name: str,
    number: signal.Signals,
) -> None:
    worker = start_worker(both.settings)
    job_id = await start(both, "job")
    texts: list[str] = []
    is_back = asyncio.Event()

    async def send_until_it_is_back() -> None:
        while not is_back.is_set():
            texts.append(f"text {len(texts) + 1}")
            await both.send(job_id, texts[-1])
        texts.append("the last")
        await both.send(job_id, texts[-1], last=True)

    async def has_told(times: int) -> bool:
        return len(both.receipts) >= times

    async def both_were_left_alone() -> bool:
        return both.in_vain >= in_vain_before + 2

    sending = asyncio.create_task(send_until_it_is_back())
    await both.until(lambda: has_told(4))
    in_vain_before = both.in_vain
    async with own_servers.without(name, number):
        await both.until(both_were_left_alone)
    is_back.set()
    await sending
    result = await both.clients[0].wait_for_result(job_id)

    assert worker.process.poll() is None, worker.err
    assert result.waits == len(texts)
    assert await both.kept() == expected(job_id, tuple(texts))
    await asyncio.to_thread(worker.stop)


@pytest.mark.parametrize("instead", ["another request", "its timeout"])
async def test_a_wait_ends_once_when_the_request_that_ended_it_was_lost(
    own_servers: Servers, both: Any, start_worker: Callable[..., Any], instead: str
) -> None:
    one, other = both.clients
    dying = start_worker(both.settings, "after_restore_commit")
    job_id = await start(both, "job")
    await both.until_parked(job_id, waits=1)

    lost = asyncio.create_task(
        one.resume_job(job_id, {"text": "first", "last": False}, request_id="job/first")
    )
    await asyncio.to_thread(dying.until_over, STORY_LIMIT_S)
    async with own_servers.without(temporal_server.NAME, signal.SIGKILL):  # forgets the update
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
    handle = one.temporal.get_workflow_handle(job_workflow_id(both.settings.tenant_id, job_id))
    worker = start_worker(both.settings)
    refused = None
    if instead == "its timeout":
        await TimeSkipper(one.temporal).fast_forward(handle, timedelta(days=1, hours=1))
    else:
        with pytest.raises(ResumeRefusedError) as told:
            await other.resume_job(
                job_id, {"text": "second", "last": True}, request_id="job/second"
            )
        refused = str(told.value)
    await both.until_parked(job_id, waits=2)
    first = await both.send(job_id, "first")
    second = await both.send(job_id, "second", last=True)
    await one.wait_for_result(job_id)

    assert dying.code == -signal.SIGKILL
    assert refused in (None, "job job was not resumed: wait job/w1 was resumed by job/first")
    assert (first.wait_id, second.wait_id) == ("job/w1", "job/w2")
    assert await both.kept() == expected(job_id, ("first", "second"))
    await asyncio.to_thread(worker.stop)


async def test_two_hundred_waiting_jobs_are_all_resumed_once_after_a_restart_of_everything(
    own_servers: Servers, both: Any, start_worker: Callable[..., Any]
) -> None:
    jobs = tuple(f"job-{number}" for number in range(JOBS))
    turn = asyncio.Semaphore(AT_ONCE)

    async def begin(number: int, job_id: str) -> None:
        async with turn:
            await start(both, job_id, agent_id=f"agent-{number % AGENTS}")

    async def all_wait() -> bool:
        found, _ = await both.clients[0].list_jobs(waiting=True, limit=JOBS)
        return len(found) == JOBS

    async def resume(job_id: str) -> None:
        async with turn:
            await both.send(job_id, f"for {job_id}", last=True)

    first = start_worker(both.settings)
    await asyncio.gather(*(begin(number, job_id) for number, job_id in enumerate(jobs)))
    await both.until(all_wait)
    first.process.kill()
    async with (
        own_servers.without(temporal_server.NAME, signal.SIGKILL),
        own_servers.without(postgres.NAME, signal.SIGKILL),
    ):
        pass
    second = start_worker(both.settings)
    await asyncio.gather(*(resume(job_id) for job_id in jobs))
    await asyncio.gather(*(both.clients[0].wait_for_result(job_id) for job_id in jobs))

    kept = await both.kept()
    wanted = sum((expected(job_id, (f"for {job_id}",)) for job_id in jobs), Counter[Any]())
    assert len(both.receipts) == JOBS
    assert (wanted - kept, kept - wanted) == (Counter(), Counter())
    await asyncio.to_thread(second.stop)


async def test_learning_goes_on_when_postgres_is_back_and_what_is_sent_again_changes_nothing(
    own_servers: Servers, start_worker: Callable[..., Any]
) -> None:
    settings = own_servers.new_settings()
    said = list(messages(MESSAGES, seed=3, telling=0.5))
    batches = [said[first : first + BATCH] for first in range(0, MESSAGES, BATCH)]
    worker = start_worker(settings)

    async with await MnesticClient.connect(settings) as client:
        memory = client.memory(AGENT)
        new = [await memory.ingest(batch) for batch in batches]
        ingest = await start_ingest(client, agent_id=AGENT)
        async with asyncio.timeout(STORY_LIMIT_S):
            while (await memory.messages.count()).learned == 0:  # noqa: ASYNC110 - the database tells
                await asyncio.sleep(0.02)
        async with own_servers.without(postgres.NAME, signal.SIGKILL):
            pass
        left = (await memory.messages.count()).waiting
        await ingest.result()
        before = await asyncio.to_thread(read_knowledge, settings)
        again = [await memory.ingest(batch) for batch in batches]
        await (await start_ingest(client, agent_id=AGENT)).result()
        after = await asyncio.to_thread(read_knowledge, settings)

    assert (sum(new), sum(again)) == (MESSAGES, 0)
    assert left > 0
    assert [before[name].total() for name in ("resource", "entry", "embedding")] == [MESSAGES] * 3
    assert after == before
    await asyncio.to_thread(worker.stop)


async def test_messages_of_every_tenant_are_extracted_once_temporal_is_back(
    own_servers: Servers, start_worker: Callable[..., Any]
) -> None:
    mine, *others = [own_servers.new_settings() for _ in range(3)]
    worker = start_worker(mine)

    async with own_servers.without(temporal_server.NAME, signal.SIGKILL):
        for settings in others:
            async with await MemoryConnection.connect(settings) as connection:
                await connection.memory(AGENT).add("I live in Ghent.", speaker="Mara")
                assert await connection.memory(AGENT).messages.count() == IngestCounts(received=1)

    for settings in others:
        async with await MemoryConnection.connect(settings) as connection:
            memory = connection.memory(AGENT)
            async with asyncio.timeout(STORY_LIMIT_S):
                while not (await memory.messages.count()).learned:  # noqa: ASYNC110 - the database tells
                    await asyncio.sleep(0.1)
            facts, _ = await memory.facts.list()
            assert [(fact.subject, fact.object) for fact in facts] == [("Mara", "Ghent")]
    await asyncio.to_thread(worker.stop)

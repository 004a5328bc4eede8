"""Whole processes: started as a user starts them, watched, and ended by their own pid."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from psycopg import sql

from mnestic.memory.errors import ResumeRefusedError, UnavailableError
from mnestic.memory.waits import ResumeReceipt
from mnestic.starter.client import MnesticClient
from mnestic.starter.embedded.process_mark import ProcessMark
from mnestic.starter.embedded.state import RuntimeState, read_state
from mnestic.starter.settings import Settings

ROOT = Path(__file__).parents[2]
MNESTIC = str(Path(sys.executable).with_name("mnestic"))
START_LIMIT_S = 300.0
STOP_LIMIT_S = 120.0
STORY_LIMIT_S = 600.0  # for one step of a job whose worker or servers go and come
OURS = ("MNESTIC_", "TEMPORAL_", "OPENAI_", "OTEL_")
LONGEST = ("test_ingest_crashes", "test_crashes", "test_long_job", "test_outages")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with the modules that take longest, so that none of them is left for the end."""
    items.sort(
        key=lambda item: (
            LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST)
        )
    )


def until(ready: Callable[[], Any], *, what: str, limit_s: float = START_LIMIT_S) -> Any:
    """Asks until the answer is true, and returns it."""
    deadline = time.monotonic() + limit_s
    while not (found := ready()):
        assert time.monotonic() < deadline, f"{what} did not come within {limit_s:.0f} s"
        time.sleep(0.05)
    return found


class Running:
    """A process whose output goes to files, so that no pipe can fill up and stop it."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process, self._out, self._err = process, out, err

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8")

    @property
    def code(self) -> int:
        """The exit code, once it has ended."""
        assert self.process.returncode is not None
        return self.process.returncode

    @property
    def errors(self) -> list[str]:
        """What it printed as errors."""
        return [line for line in self.err.splitlines() if line.startswith("error:")]

    @property
    def document(self) -> Any:
        """Its standard output, which is one JSON document and nothing else."""
        return json.loads(self.out)

    def until(self, ready: Callable[[], Any], *, what: str) -> Any:
        """Waits for something while the process runs."""

        def ready_or_over() -> Any:
            assert self.process.poll() is None, f"ended with {self.code} before {what}: {self.err}"
            return ready()

        return until(ready_or_over, what=what)

    def until_over(self, limit_s: float = STOP_LIMIT_S) -> "Running":
        self.process.wait(limit_s)
        return self

    def stop(self, number: signal.Signals = signal.SIGTERM) -> "Running":
        self.process.send_signal(number)
        return self.until_over()


class Processes:
    """Starts processes in a bare environment and in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[Running] = []

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        bare = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        return {**bare, "COLUMNS": "200", **more}

    def start(
        self, *command: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Running:
        number = len(self._started)
        out, err = self.folder / f"{number}.out", self.folder / f"{number}.err"
        with out.open("wb") as to_out, err.open("wb") as to_err:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=to_out,
                stderr=to_err,
                cwd=cwd or self.folder,
                env=self.environment(env or {}),
            )
        running = Running(process, out, err)
        self._started.append(running)
        return running

    def run(
        self,
        *command: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        limit_s: float = START_LIMIT_S,
    ) -> Running:
        return self.start(*command, env=env, cwd=cwd).until_over(limit_s)

    def end(self) -> None:
        for running in self._started:
            if running.process.poll() is None:
                running.process.kill()
                running.process.wait()


class Up:
    """A `mnestic up` that is ready, and commands that reach it."""

    def __init__(self, processes: Processes, running: Running, data: Path, program: str) -> None:
        self.processes, self.running, self.data = processes, running, data
        self._program = program
        state = read_state(data)
        assert state is not None, "up says that it is ready, and nothing was written down"
        self.state: RuntimeState = state
        self.family = tuple(psutil.Process(running.pid).children(recursive=True))

    @property
    def parts(self) -> dict[str, ProcessMark]:
        return {mark.name: mark for mark in self.state.parts}

    def command(self, *words: str) -> Running:
        return self.processes.run(self._program, "--data", str(self.data), *words)

    def asked(self, *words: str) -> Any:
        """The document that a command answers, which must succeed."""
        done = self.command(*words, "--json")
        assert done.code == 0, done.err
        return done.document

    def until_job(self, job_id: str, state: str) -> Any:
        """The job once it is in a state."""

        def in_state() -> Any:
            job = self.asked("job", "show", job_id)
            return job if job["state"] == state else None

        return until(in_state, what=f"job {job_id} in state {state}")

    def left(self) -> list[str]:
        """Processes of this runtime that still run once all had the time to end."""
        _, alive = psutil.wait_procs(self.family, timeout=STOP_LIMIT_S)
        return [process.name() for process in alive]


StartUp = Callable[..., Any]


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Processes of one module; none outlives it."""
    processes = Processes(tmp_path_factory.mktemp("processes"))
    yield processes
    processes.end()


@pytest.fixture(scope="module")
def mnestic() -> str:
    """The command that this environment has."""
    return MNESTIC


@pytest.fixture(scope="module")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="module")
def start_up(processes: Processes, mnestic: str) -> Iterator[StartUp]:
    """Starts `mnestic up --json` on a data directory and waits until it is ready."""
    with ExitStack() as stack:

        @contextmanager
        def start(data: Path, program: str, options: tuple[str, ...]) -> Iterator[Up]:
            running = processes.start(program, "up", "--json", "--data", str(data), *options)
            running.until(lambda: running.out.endswith("\n"), what="ready")
            up = Up(processes, running, data, program)
            try:
                yield up
            finally:
                if running.process.poll() is None:
                    running.stop()

        def start_and_leave(data: Path, *options: str, program: str = mnestic) -> Up:
            return stack.enter_context(start(data, program, options))

        yield start_and_leave


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan that remembers a name, waits three weeks for a word, and says both."""
    path = tmp_path_factory.mktemp("plans") / "greeting.yaml"
    path.write_text(
        """\
name: greeting
nodes:
  - id: note
    kind: remember
    records: [{namespace: profile, key: name, value: "${input.name}"}]
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
""",
        encoding="utf-8",
    )
    return path


# Every row that a job's memory consists of, as its identity; the ledger is not asked.
KEPT = """
SELECT ARRAY['message', session_id, place::text, message ->> 'role', message ->> 'content']
  FROM mnestic.working_memory,
       json_array_elements(state -> 'messages') WITH ORDINALITY AS _ (message, place)
UNION ALL
SELECT ARRAY['tool call', session_id, place::text, call #>> '{arguments,conversation}']
  FROM mnestic.working_memory,
       json_array_elements(state -> 'tool_calls') WITH ORDINALITY AS _ (call, place)
UNION ALL
SELECT ARRAY['episode', job_id, COALESCE(payload ->> 'text', payload ->> 'outcome')]
  FROM mnestic.episode
UNION ALL
SELECT ARRAY['record', namespace, key, version::text, value #>> '{}']
  FROM mnestic.long_term_record
UNION ALL
SELECT ARRAY['wait', wait_id, state, request_id] FROM mnestic.job_wait
UNION ALL
SELECT ARRAY['snapshot', job_id, (encode(sha256(body), 'hex') = sha256)::text]
  FROM mnestic.memory_snapshot
UNION ALL
SELECT ARRAY['resource', session_id, speaker, content] FROM mnestic.resource
UNION ALL
SELECT ARRAY['entry', session_id, entry_type, content] FROM mnestic.entry
"""
Kept = tuple[str | None, ...]


class Senders:
    """Two clients that send each request both, and write down what they were told."""

    def __init__(self, one: MnesticClient, other: MnesticClient) -> None:
        self.clients = (one, other)
        self.settings = one.settings
        self.receipts: dict[str, ResumeReceipt] = {}
        self.in_vain = 0  # requests that got no receipt, and were sent again

    async def send(
        self, job_id: str, text: str, *, last: bool = False, request_id: str | None = None
    ) -> ResumeReceipt:
        """Sends a text from both clients at once, by each until it has the receipt."""
        name = request_id or f"{job_id}/{text}"
        payload = {"text": text, "last": last}
        one, other = await asyncio.gather(
            *(self._until_told(client, job_id, payload, request_id=name) for client in self.clients)
        )
        assert one == other, "two clients were told different things of one request"
        assert one.request_id == name
        self.receipts[name] = one
        return one

    async def until_parked(self, job_id: str, *, waits: int) -> None:
        """Waits until the job is at its n-th wait."""

        async def parked() -> bool:
            job = await self.clients[0].describe_job(job_id)
            assert job.closed_at is None, f"job {job_id} ended as {job.state}"
            return job.state == "waiting" and len(job.waits) == waits

        await self.until(parked)

    async def until(self, ready: Callable[[], Awaitable[Any]]) -> None:
        """Asks until the answer is true, also while servers are away."""
        async with asyncio.timeout(STORY_LIMIT_S):
            async for _ in _tries():
                with suppress(UnavailableError):
                    if await ready():
                        return

    async def kept(self) -> Counter[Kept]:
        """What is in the database of this tenant's memory."""
        url = self.settings.database_url
        assert url is not None
        async with await psycopg.AsyncConnection.connect(url.get_secret_value()) as connection:
            await connection.execute(
                "SELECT set_config('role', 'mnestic_app', true), "
                "set_config('mnestic.tenant_id', %s, true)",
                (self.settings.tenant_id,),
            )
            rows = await (await connection.execute(KEPT)).fetchall()
        return Counter(tuple(identity) for (identity,) in rows)

    async def _until_told(
        self, client: MnesticClient, job_id: str, payload: Any, *, request_id: str
    ) -> ResumeReceipt:
        async with asyncio.timeout(STORY_LIMIT_S):
            async for _ in _tries():
                try:
                    receipt = await client.resume_job(
                        job_id, payload, request_id=request_id, limit=timedelta(seconds=5)
                    )
                except (UnavailableError, ResumeRefusedError):  # it was not taken yet
                    receipt = None
                if receipt is not None:
                    return receipt
                self.in_vain += 1
        raise AssertionError("the tries never end")


async def _tries() -> AsyncIterator[None]:
    """Tries without end, soon at first, then each second, so that many of them may wait at once."""
    pause_s = 0.02
    while True:
        yield
        await asyncio.sleep(pause_s)
        pause_s = min(1.0, 1.5 * pause_s)


@pytest.fixture(scope="module")
def senders() -> Callable[[Settings], Any]:
    """Two clients, connected for as long as a block."""

    @asynccontextmanager
    async def connect(settings: Settings) -> AsyncIterator[Senders]:
        async with AsyncExitStack() as stack:
            one, other = [
                await stack.enter_async_context(await MnesticClient.connect(settings))
                for _ in range(2)
            ]
            yield Senders(one, other)

    return connect


# Every row of a table but what clocks and runs say; an entry's number is a place in a sequence, which others
# take places of too, so its id stands for it.
ROWS = """
SELECT (to_jsonb(t) - %(left_out)s::text[] #- '{{source,workflow_run}}'
        || jsonb_build_object('entry', e.id))::text
  FROM mnestic.{table} AS t
  LEFT JOIN mnestic.entry AS e
    ON e.tenant_id = t.tenant_id
   AND e.number = COALESCE(to_jsonb(t) ->> 'entry_number', to_jsonb(t) ->> 'complete_to')::bigint
 WHERE t.tenant_id = %(tenant)s
"""
TABLES = """
SELECT table_name FROM information_schema.columns
 WHERE table_schema = 'mnestic' AND column_name = 'tenant_id'
"""
LEFT_OUT = ["number", "entry_number", "complete_to", "created_at", "updated_at", "recorded_at"]
NO_KNOWLEDGE = {"audit_log", "agent_revision", "operation", "llm_usage", "signal"}
Knowledge = dict[str, Counter[str]]


def read_knowledge(admin_url: str, tenant: str) -> Knowledge:
    """All rows of a tenant by table, but those that tell how it came to them."""
    with psycopg.connect(admin_url) as connection:
        names = {name for (name,) in connection.execute(TABLES)} - NO_KNOWLEDGE
        return {
            name: Counter(
                row
                for (row,) in connection.execute(
                    sql.SQL(ROWS).format(table=sql.Identifier(name)),
                    {"tenant": tenant, "left_out": LEFT_OUT},
                )
            )
            for name in sorted(names)
        }


@pytest.fixture(scope="module")
def knowledge() -> Callable[[str, str], Knowledge]:
    """Reads what a database knows of a tenant."""
    return read_knowledge


@pytest.fixture(scope="module")
def start_worker(processes: Processes, root: Path) -> Callable[..., Running]:
    """Starts the product's worker, or one that kills itself at a point."""

    def start(settings: Settings, *point: str) -> Running:
        assert settings.database_url is not None
        env = {
            "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
            "TEMPORAL_ADDRESS": str(settings.temporal_address),
            "MNESTIC_TASK_QUEUE": settings.task_queue,
            "MNESTIC_TENANT_ID": settings.tenant_id,
        }
        program = Path(__file__).with_name("crashing_worker.py") if point else root / "worker.py"
        return processes.start(sys.executable, program, *point, env=env)

    return start

"""A worker killed at each point of a job's work: nothing is lost, nothing is doubled.

A text is sent until its sender has a receipt, or once, as a signal that nobody asks after: it may name
its wait, or not. The stories are told side by side, since each waits most of its time for Temporal to
notice that the worker is gone.
"""

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.jobs.waits import ResumeReceipt
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import read_plan
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker

pytestmark = pytest.mark.acceptance
together = pytest.mark.asyncio(loop_scope="module")

AGENT = "ada"
TEXTS = ("one", "two", "three")
AT_ONCE = 5  # stories; more would only wait for the processor
DIARY = read_plan(Path(__file__).with_name("diary.yaml"))


class Way(StrEnum):
    """How the text is sent that is on its way, or to come next, when the worker is killed."""

    UNTIL_TOLD = "sent-until-told"
    ONCE = "signalled-once"
    ONCE_TO_ITS_WAIT = "signalled-once-to-its-wait"


OPENING = ("before_snapshot_commit", "after_snapshot_commit", "after_open_before_wait")


@dataclass(frozen=True, kw_only=True)
class Crash:
    """Where the worker is killed, at which passing, and what leads there.

    `poke` is the number of the wait at which the job is told to go on in a new run; 0: before its
    first one. `times` is how many workers are lost one after another.
    """

    point: str
    passing: int = 2
    poke: int | None = None
    times: int = 1
    way: Way = Way.UNTIL_TOLD

    def __str__(self) -> str:
        poked = {None: "", 0: "-poked-before-it-waits"}.get(self.poke, "-poked-while-it-waits")
        lost = "" if self.times == 1 else f"-{self.times}-times"
        return f"{self.point}{poked}{lost}-{self.way}"

    @property
    def number(self) -> int:
        """Which text it is, and so the number of its wait."""
        return self.poke or min(self.passing, 2)

    @property
    def is_first(self) -> bool:
        """Whether the worker is killed before the text is sent; else the text may lead to the point."""
        named = self.way is Way.ONCE_TO_ITS_WAIT and self.point in OPENING
        poked = self.way is not Way.UNTIL_TOLD and self.poke == self.number
        return named or poked or self.point == "while_waiting"


KILLED = (  # first those that wait a minute, for an activity's time to be up
    Crash(point="before_remember_commit", passing=3),
    Crash(point="after_remember_commit_before_completion", passing=4),
    Crash(point="before_snapshot_commit"),
    Crash(point="after_snapshot_commit"),
    Crash(point="after_snapshot_commit", passing=1, times=2),
    Crash(point="after_open_before_wait"),
    Crash(point="while_waiting"),
    Crash(point="while_waiting", poke=2),
    Crash(point="during_restore_before_commit"),
    Crash(point="after_restore_commit"),
    Crash(point="after_restore_commit", passing=1, times=2),
    Crash(point="after_restore_before_task_completion"),
    Crash(point="after_tool_commit"),
    Crash(point="after_call_commit", passing=3),
    Crash(point="after_call_before_task_completion"),
    Crash(point="before_continue_as_new", passing=1, poke=2),
    Crash(point="before_continue_as_new", passing=1, poke=0),
    Crash(point="after_the_new_run_began", passing=1, poke=2),
    Crash(point="after_the_new_run_began", passing=1, poke=0),
)
TOLD = (  # only once a request has its receipt
    "before_remember_commit",
    "after_tool_commit",
    "after_call_commit",
    "after_call_before_task_completion",
)
CRASHES = tuple(
    replace(crash, way=way)
    for crash in KILLED
    for way in (Way if crash.times == 1 and crash.point not in TOLD else (Way.UNTIL_TOLD,))
)


@dataclass(kw_only=True)
class Story:
    """What the clients did and were told, what the workers left, and what is in the database."""

    job_id: str
    codes: list[int] = field(default_factory=list)
    receipts: dict[str, ResumeReceipt] = field(default_factory=dict)
    signalled: int = 0
    kept: Counter[Any] = field(default_factory=Counter)
    waits: int = 0
    runs: int = 1


class Teller:
    """Tells the story of one job whose worker is killed."""

    def __init__(self, crash: Crash, senders: Any, start_worker: Callable[..., Any]) -> None:
        self._crash, self._senders, self._start_worker = crash, senders, start_worker
        self._client: MnesticClient = senders.clients[0]
        self._settings: Settings = senders.settings
        self._killed, self._signalled = asyncio.Event(), 0

    async def tell(self) -> Story:
        await self._client.memory(AGENT).messages.append([raw(text) for text in TEXTS])
        job_id = f"job-{self._settings.tenant_id}"
        await self._client.start_job(DIARY, agent_id=AGENT, session_id=job_id, job_id=job_id)
        story = Story(job_id=job_id)
        if self._crash.poke == 0:
            await self._signal(job_id)
            await self._client.poke_job(job_id)
        sending = asyncio.create_task(self._send(job_id))
        try:
            await self._lose_workers(story)
            await self._end(story, sending)
        finally:
            sending.cancel()
        return story

    async def _send(self, job_id: str) -> None:
        for number, text in enumerate(TEXTS, start=1):
            if self._crash.poke == number:
                await self._senders.until_parked(job_id, waits=number)
                await self._client.poke_job(job_id)
            if number == self._crash.number and self._crash.is_first:
                await self._killed.wait()
            if number != self._crash.number or self._crash.way is Way.UNTIL_TOLD:
                await self._senders.send(job_id, text, last=text == TEXTS[-1])
            elif self._signalled == 0:
                if self._crash.way is Way.ONCE_TO_ITS_WAIT:
                    await self._senders.until_parked(job_id, waits=number)
                await self._signal(job_id)

    async def _signal(self, job_id: str) -> None:
        """Sends the crash's text as a signal; nobody hears what becomes of it."""
        self._signalled += 1
        number = self._crash.number
        text = TEXTS[number - 1]
        await self._client.resume_job(
            job_id,
            {"text": text, "last": False},
            request_id=f"{job_id}/{text}",
            wait_id=f"{job_id}/w{number}" if self._crash.way is Way.ONCE_TO_ITS_WAIT else None,
            by="signal",
            any_wait=True,
        )

    async def _lose_workers(self, story: Story) -> None:
        for _ in range(self._crash.times):
            if self._crash.point == "while_waiting":
                worker = self._start_worker(self._settings)
                await self._senders.until_parked(story.job_id, waits=2)
                if self._crash.poke is not None:
                    await self._senders.until(lambda: is_parked_anew(self._client, story.job_id))
                worker.process.kill()
            else:
                worker = self._start_worker(
                    self._settings, self._crash.point, str(self._crash.passing)
                )
            await self._senders.until(lambda worker=worker: is_over(worker))
            story.codes.append(worker.code)
            assert worker.code == -signal.SIGKILL, worker.err
        if self._crash.is_first and self._crash.way is not Way.UNTIL_TOLD:
            await self._signal(story.job_id)
        self._killed.set()

    async def _end(self, story: Story, sending: asyncio.Task[None]) -> None:
        worker = self._start_worker(self._settings)
        await sending
        story.waits = (await self._client.wait_for_result(story.job_id)).waits
        story.runs = await count_runs(self._client, story.job_id)
        story.kept = await self._senders.kept()
        story.receipts, story.signalled = self._senders.receipts, self._signalled
        await asyncio.to_thread(worker.stop)


def raw(text: str) -> Resource:
    """A message of the outside world, which the tool reads."""
    return Resource(
        session_id=text,
        source_id=text,
        channel="post",
        speaker="Nadia",
        content=text,
        at=datetime(2025, 3, 1, tzinfo=UTC),
    )


def expected(job_id: str, texts: tuple[str, ...]) -> Counter[Any]:
    """What a diary has kept of the texts that were sent, in the order of their receipts."""
    kept: Counter[Any] = Counter(
        [("episode", job_id, "completed"), ("derived entry", job_id, "completed")]
    )
    for number, text in enumerate(texts, start=1):
        kept.update(
            [
                ("message", job_id, str(2 * number - 1), "user", text),
                ("message", job_id, str(2 * number), "assistant", text),
                ("tool call", job_id, str(number), text),
                ("record", "texts", text, "1", f"{job_id}/w{number}"),
                ("episode", job_id, text),
                ("derived entry", job_id, text),
                ("wait", f"{job_id}/w{number}", "resumed", f"{job_id}/{text}"),
                ("snapshot", job_id, "true"),
                ("resource", text, "Nadia", text),
                ("resource", job_id, "assistant", text),
                ("entry", job_id, "interaction", text),
            ]
        )
    kept["record", "texts", "latest", str(len(texts)), texts[-1]] += 1
    return kept


async def count_runs(client: MnesticClient, job_id: str) -> int:
    """How many runs the job has taken, by following each to the one before."""
    workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
    run_id, runs = None, 0
    while runs == 0 or run_id:
        handle = client.temporal.get_workflow_handle(workflow_id, run_id=run_id)
        async for first in handle.fetch_history_events(page_size=1):
            run_id = first.workflow_execution_started_event_attributes.continued_execution_run_id
            break
        runs += 1
    return runs


async def is_over(worker: Any) -> bool:
    """Whether a process has ended."""
    return worker.process.poll() is not None


async def is_parked_anew(client: MnesticClient, job_id: str) -> bool:
    """Whether the job is in its second run, and has come to its wait there."""
    workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
    described = await client.temporal.get_workflow_handle(workflow_id).describe()
    return await count_runs(client, job_id) == 2 and described.history_length >= 4


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stories(
    new_settings: Callable[[Path], Settings],
    senders: Any,
    start_worker: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[dict[Crash, asyncio.Task[Story]]]:
    """All stories, which go on while any of them is awaited."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def tell(crash: Crash) -> Story:
        settings = new_settings(tmp_path_factory.mktemp("crash") / "data")
        async with turn, senders(settings) as both:
            return await Teller(crash, both, start_worker).tell()

    tasks = {crash: asyncio.create_task(tell(crash)) for crash in CRASHES}
    yield tasks
    for task in tasks.values():
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks.values(), return_exceptions=True)


@together
@pytest.mark.parametrize("crash", CRASHES, ids=str)
async def test_a_killed_worker_loses_and_doubles_nothing(
    crash: Crash, stories: dict[Crash, asyncio.Task[Story]]
) -> None:
    story = await stories[crash]

    assert story.codes == [-signal.SIGKILL] * crash.times
    assert story.kept == expected(story.job_id, TEXTS)
    assert {name: receipt.wait_id for name, receipt in story.receipts.items()} == {
        f"{story.job_id}/{text}": f"{story.job_id}/w{number}"
        for number, text in enumerate(TEXTS, start=1)
        if crash.way is Way.UNTIL_TOLD or number != crash.number
    }
    assert story.signalled == (crash.way is not Way.UNTIL_TOLD or crash.poke == 0)
    assert story.waits == len(TEXTS)
    assert story.runs == (1 if crash.poke is None else 2)


async def test_a_job_whose_worker_caches_nothing_loses_and_doubles_nothing(
    settings: Settings, memory: PostgresMemory, senders: Any
) -> None:
    texts = tuple(f"text {number}" for number in range(1, 7))
    activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    async with senders(settings) as both:
        client: MnesticClient = both.clients[0]
        await client.memory(AGENT).messages.append([raw(text) for text in texts])
        await client.start_job(DIARY, agent_id=AGENT, session_id="job", job_id="job")

        async with make_worker(
            client.temporal, settings, activities=activities, max_cached_workflows=0
        ):
            for number, text in enumerate(texts):
                if number % 3 == 2:
                    await client.poke_job("job")
                await both.send("job", text, last=text == texts[-1])
            await client.wait_for_result("job")

        assert await count_runs(client, "job") == 3
        assert await both.kept() == expected("job", texts)

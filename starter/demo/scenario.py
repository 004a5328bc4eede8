"""The demo: a job reads a conversation, waits three weeks, loses its worker, and comes back."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict
from temporalio.service import RPCError
from temporalio.testing import TimeSkipper

from mnestic.activities.jobs.conversations import PEOPLE
from mnestic.memory.jobs.agent_job import JobDescription
from mnestic.memory.jobs.plans import Plan, RememberNode
from mnestic.memory.jobs.writes import RecordWrite
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.demo.counts import Count, StoredSnapshot, count_writes
from mnestic.starter.importers.turns import Conversation, ConversationSession
from mnestic.starter.jobs.plans import parse_plan

_SESSION = "demo"
_CHANNEL = "conversation"
_DAYS_AWAY = 21
_WAIT_LIMIT_S = 60.0

PrintStep = Callable[[str], None]


class Workers:
    """How the demo starts a worker and kills it."""

    def __init__(
        self, start: Callable[[], Awaitable[int]], kill: Callable[[], Awaitable[int | None]]
    ) -> None:
        self.start, self.kill = start, kill


class DemoReport(BaseModel):
    """The result of the demo; `elapsed_s` excludes the start of the servers."""

    model_config = ConfigDict(frozen=True)

    job_id: str
    sessions: int
    turns: int
    waits: int
    resumes_sent: int
    resumes_applied: int
    snapshots: tuple[StoredSnapshot, ...]
    restores_verified: int
    drift: tuple[dict[str, Any], ...]
    worker_kills: int
    days_waited: int
    writes_expected: int
    writes_present: int
    writes_duplicated: int
    temporal_ui: str | None
    elapsed_s: float

    @property
    def sound(self) -> bool:
        """Whether every count is as it must be."""
        return (
            self.writes_present == self.writes_expected
            and self.writes_duplicated == 0
            and self.waits == self.sessions - 1
            and self.resumes_applied == self.waits
            and self.restores_verified == self.waits
            and len(self.snapshots) == self.waits
            and (self.waits == 0 or len(self.drift) > 0)
        )


class Demo:
    """One run of the demo, on servers that are up."""

    def __init__(
        self,
        client: MnesticClient,
        workers: Workers,
        conversation: Conversation,
        *,
        print_step: PrintStep,
        time_skipping: bool,
    ) -> None:
        self._client, self._workers, self._print_step = client, workers, print_step
        self._sessions = conversation.sessions
        self._time_skipping = time_skipping
        self._agent = f"demo-{uuid.uuid4().hex[:8]}"
        self._memory = client.memory(self._agent)
        self._job = ""
        self._resumes_sent = 0
        self._kills = 0
        self._days = 0
        self._drift: tuple[dict[str, Any], ...] = ()

    async def run(self) -> DemoReport:
        """Runs the story from its beginning to its end, and counts.

        Raises:
            MnesticError: something did not answer, or refused.
        """
        began = time.monotonic()
        await self._workers.start()
        try:
            await self._run_story()
        except BaseException:
            await self._leave_nothing_waiting()
            raise
        return await self._count_writes(began)

    async def _run_story(self) -> None:
        await self._begin()
        last = len(self._sessions) - 1
        middle = (last + 1) // 2
        for index, session in enumerate(self._sessions[1:], start=1):
            await self._parked(waits=index)
            await self._deliver(session)
            if index == middle:
                await self._away_and_back(session, last=index == last)
            else:
                await self._resume(session, last=index == last)
        result = await self._client.wait_for_result(self._job)
        self._print_step(
            f"The job has ended: {len(self._sessions)} sessions read, {result.waits} waits."
        )

    async def _leave_nothing_waiting(self) -> None:
        """The demo's workers end with it, so nobody could resume or cancel its job later."""
        if not self._job:
            return
        workflow_id = job_workflow_id(self._client.settings.tenant_id, self._job)
        try:
            await self._client.temporal.get_workflow_handle(workflow_id).terminate(
                "the demo failed"
            )
        except RPCError as error:
            self._print_step(f"(Job {self._job} has ended or does not answer: {error.message})")

    async def _begin(self) -> None:
        first = self._sessions[0]
        await self._deliver(first)
        self._job = await self._client.start_job(
            demo_plan(),
            agent_id=self._agent,
            session_id=_SESSION,
            inputs={"session": first.id, "last": len(self._sessions) == 1},
        )
        self._print_step(f"Job {self._job} of agent {self._agent} reads session {first.id}.")
        self._print_step(f"Watch it: {self._client.job_link(self._job)}")

    async def _deliver(self, session: ConversationSession) -> None:
        """Plays the outside world: the messages of a session arrive."""
        await self._memory.messages.append(
            [
                Resource(
                    session_id=session.id,
                    source_id=turn.id,
                    channel=_CHANNEL,
                    speaker=turn.speaker,
                    content=turn.text,
                    at=turn.at,
                )
                for turn in session.turns
            ]
        )

    async def _parked(self, *, waits: int) -> JobDescription:
        """Waits until the job is at its n-th wait.

        Raises:
            JobFailedError: it ended instead.
        """
        async with asyncio.timeout(_WAIT_LIMIT_S):
            while True:
                job = await self._client.describe_job(self._job)
                if job.state == "waiting" and len(job.waits) == waits:
                    return job
                if job.closed_at is not None:
                    await self._client.wait_for_result(self._job)
                await asyncio.sleep(0.02)

    async def _resume(self, session: ConversationSession, *, last: bool) -> None:
        self._resumes_sent += 1
        await self._client.resume_job(self._job, _payload(session, last=last))
        self._print_step(f"Session {session.id} has arrived; the job continues.")

    async def _away_and_back(self, session: ConversationSession, *, last: bool) -> None:
        job = await self._parked(waits=len((await self._client.describe_job(self._job)).waits))
        wait = job.waits[-1]
        self._print_step(f"The job waits ({wait.wait_id}), its memory is sealed in the database.")
        pid = await self._workers.kill()
        self._kills += 1
        self._print_step(f"kill -9 {pid}: the worker is gone.")
        await self._skip()
        other = await self._change_a_record()
        await self._workers.start()
        self._print_step("A new worker starts.")
        await self._client.wait_for_result(other)
        await self._resume_three_times(session, last=last)
        state = await self._memory.working_memory.get(_SESSION)
        self._drift = tuple(state.variables.get("drift", ()))
        self._print_step("The snapshot is verified, the memory restored. What changed meanwhile:")
        for change in self._drift:
            versions = f"version {change['snapshot_version']} → {change['current_version']}"
            name = f"{change['namespace']}/{change['key']}".lstrip("/")
            self._print_step(f"  {name} {change['kind']}, {versions}")

    async def _skip(self) -> None:
        """Moves the clock of the job alone."""
        if not self._time_skipping:
            self._print_step("(Your own Temporal server: its clock is not moved.)")
            return
        workflow_id = job_workflow_id(self._client.settings.tenant_id, self._job)
        handle = self._client.temporal.get_workflow_handle(workflow_id)
        skipper = TimeSkipper(self._client.temporal)
        await skipper.fast_forward(handle, timedelta(days=_DAYS_AWAY))
        self._days = _DAYS_AWAY
        self._print_step(f"{_DAYS_AWAY} days pass on the job's clock.")

    async def _change_a_record(self) -> str:
        """A second job of the same agent changes a record about a speaker."""
        name = self._sessions[0].turns[0].speaker
        known = (await self._memory.records.get(PEOPLE, name)).value
        plan = Plan(
            name="learn-something",
            nodes=(
                RememberNode(
                    id="learn",
                    kind="remember",
                    records=(
                        RecordWrite(namespace=PEOPLE, key="${input.name}", value="${input.value}"),
                    ),
                    next="end",
                ),
            ),
        )
        job_id = await self._client.start_job(
            plan,
            agent_id=self._agent,
            session_id="other",
            inputs={"name": name, "value": {**known, "note": "was here again"}},
        )
        self._print_step(f"Meanwhile job {job_id} changes what the agent knows of {name}.")
        return job_id

    async def _resume_three_times(self, session: ConversationSession, *, last: bool) -> None:
        request_id = uuid.uuid4().hex
        payload = _payload(session, last=last)
        self._resumes_sent += 3
        receipts = await asyncio.gather(
            self._client.resume_job(self._job, payload, request_id=request_id),
            self._client.resume_job(
                self._job, payload, request_id=request_id, by="signal", any_wait=True
            ),
            self._client.resume_job(self._job, payload, request_id=request_id),
        )
        same = len({receipt for receipt in receipts if receipt is not None})
        self._print_step(
            f"Session {session.id} has arrived; the request is sent 3 times, {same} receipt."
        )

    async def _count_writes(self, began: float) -> DemoReport:
        count: Count = await count_writes(
            self._client.endpoints.database_url.get_secret_value(),
            tenant_id=self._client.settings.tenant_id,
            agent_id=self._agent,
            job_id=self._job,
            sessions=self._sessions,
        )
        return DemoReport(
            job_id=self._job,
            sessions=len(self._sessions),
            turns=sum(len(session.turns) for session in self._sessions),
            waits=count.waits,
            resumes_sent=self._resumes_sent,
            resumes_applied=count.resumed,
            snapshots=count.snapshots,
            restores_verified=count.verified,
            drift=self._drift,
            worker_kills=self._kills,
            days_waited=self._days,
            writes_expected=count.expected,
            writes_present=count.present,
            writes_duplicated=count.duplicated,
            temporal_ui=self._client.job_link(self._job),
            elapsed_s=round(time.monotonic() - began, 2),
        )


def demo_plan() -> Plan:
    """The plan that the demo runs."""
    text = files("mnestic.starter").joinpath("samples/demo.yaml").read_text(encoding="utf-8")
    return parse_plan(text, source="demo.yaml")


def _payload(session: ConversationSession, *, last: bool) -> dict[str, Any]:
    return {"session": session.id, "last": last}

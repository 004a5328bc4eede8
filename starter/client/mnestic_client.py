"""`MnesticClient`: start, resume, find and end jobs, and reach memory, from Python."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from temporalio.client import WorkflowExecutionStatus

from mnestic.memory.canonical import check_size
from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.agent_job import JobDescription, JobInput, JobResult, JobSummary
from mnestic.memory.jobs.differences import JobDifference
from mnestic.memory.jobs.plan_inputs import check_inputs
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.timeline import JobTimeline
from mnestic.memory.jobs.transcripts import JobTranscript
from mnestic.memory.jobs.waits import (
    RESUMED,
    JobState,
    JobWait,
    ResumeReceipt,
    ResumeRequest,
)
from mnestic.memory.names import job_workflow_id
from mnestic.memory.scope import check_id
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.tenant_connection import Connection
from mnestic.starter.jobs.diff import diff_job
from mnestic.starter.jobs.forgotten_jobs import describe_forgotten_job
from mnestic.starter.jobs.forks import ForkTerms, fork_input
from mnestic.starter.jobs.history import job_history
from mnestic.starter.jobs.listing import describe_job, list_job_ids, list_jobs
from mnestic.starter.jobs.lookup import find_job
from mnestic.starter.jobs.plans import require_sound
from mnestic.starter.jobs.results import job_result
from mnestic.starter.jobs.resumes import override_request, request_id_of, resume_job
from mnestic.starter.jobs.selection import JobSelection
from mnestic.starter.jobs.start import check_job, start_job
from mnestic.starter.jobs.transcript import job_transcript
from mnestic.starter.jobs.waits import find_open_wait
from mnestic.starter.rpc import rpc_errors


class MnesticClient(Connection):
    """A connection to Temporal and to memory; use it as an async context manager."""

    async def start_job(
        self,
        plan: Plan,
        *,
        agent_id: str,
        session_id: str,
        inputs: Mapping[str, Any] | None = None,
        job_id: str | None = None,
        priority: int | None = None,
    ) -> str:
        """Starts a job and returns its id.

        Of jobs that queue for a worker, those of priority 1 go first and those of 5 last (3 without
        it); jobs of one priority take turns by tenant.

        Raises:
            InvalidInputError: the plan is unsound, an id is malformed, there is no such priority, or
                the inputs are too large or lack what the plan's templates name.
            AlreadyExistsError: a job of that id was started before.
            TemporalUnavailableError: Temporal does not answer.
        """
        job_input = check_job(
            plan,
            agent_id=agent_id,
            session_id=session_id,
            inputs=inputs,
            job_id=job_id,
            settings=self.settings,
        )
        return await self._start(job_input, priority=priority)

    async def fork_job(
        self,
        job_id: str,
        *,
        wait: int | str | None = None,
        as_job: str | None = None,
        session_id: str | None = None,
        plan: Plan | None = None,
        priority: int | None = None,
    ) -> str:
        """Starts a job at a wait of another, with the memory of its snapshot; returns the new id.

        The other job may be running, over, or forgotten by Temporal; it is left alone. The plan's
        budget is the new job's own: what the other has used up does not count.

        Args:
            job_id: The job to fork.
            wait: Number or id of the wait; the latest one without it.
            as_job: The new job's id; made up without it.
            session_id: The new job's session, in which nothing was written; the new id without it.
            plan: Another plan, which has the wait's node too.
            priority: From 1 to 5; the other job's without it, unless Temporal has forgotten that.

        Raises:
            NotFoundError: there is no such job or wait.
            InvalidInputError: the plan has no such wait or needs inputs that the job has not, the wait is
                another job's, or there is no such priority.
            AlreadyExistsError: a job of the new id was started before, or something was written in
                the new session.
        """
        terms = ForkTerms(
            job_id=check_id(job_id, what="job id"),
            wait=wait,
            as_job=as_job,
            session_id=session_id,
            plan=plan,
            priority=priority,
        )
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            job_input, priority = await fork_input(
                self.temporal, self._memory, terms, settings=self.settings
            )
        require_sound(job_input.plan)
        cursor = None if job_input.progress is None else job_input.progress.cursor
        check_inputs(job_input.plan, job_input.inputs, cursor=cursor)
        return await self._start(job_input, priority=priority)

    async def resume_job(
        self,
        job_id: str,
        payload: Any = None,
        *,
        outcome: str = RESUMED,
        request_id: str | None = None,
        wait_id: str | None = None,
        expected_sha256: str | None = None,
        by: Literal["update", "signal"] = "update",
        limit: timedelta = timedelta(seconds=30),
    ) -> ResumeReceipt | None:
        """Resumes a waiting job, and returns once its memory is restored.

        A request that is sent again under the same `request_id` gets the first receipt. By
        `signal`, or when no worker answers within the limit, the request is left with Temporal, and
        there is no receipt yet: send it again under its id to get it. Name the wait (`find_open_wait`)
        where an answer to another one would be wrong: what no worker answers is for the wait that is
        open now, but a `signal` without `wait_id` for the one that is when a worker takes it, or next.

        Raises:
            ResumeRefusedError: no wait of this job takes the request.
            SnapshotCorruptedError: the stored snapshot is not what was written; the job is parked.
            PayloadTooLargeError: says the limit and the size; nothing was sent.
            NotFoundError: there is no such job.
        """
        check_size(payload, what="payload", limit_bytes=self.settings.max_payload_bytes)
        request = ResumeRequest(
            request_id=request_id_of(request_id),
            wait_id=wait_id,
            outcome=outcome,
            payload=payload,
            expected_sha256=expected_sha256,
        )
        return await self._send(job_id, request, by=by, limit=limit)

    async def find_open_wait(self, job_id: str) -> JobWait | None:
        """The wait at which a job is parked, what it asks and its form; None between waits.

        Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await find_open_wait(self._handle(job_id), job_id=job_id, memory=self._memory)

    async def override_job(
        self,
        job_id: str,
        payload: Any = None,
        *,
        reason: FreeText,
        by: str | None = None,
        policy: Literal["pinned", "rebase"] = "rebase",
        outcome: str = RESUMED,
        request_id: str | None = None,
        limit: timedelta = timedelta(seconds=30),
    ) -> ResumeReceipt | None:
        """Lets a job go on that needs attention; the reason is kept in the audit log.

        By `rebase` it goes on with memory as it is now, also when its snapshot is lost; by `pinned`
        with its snapshot, also when working memory cannot be read. The outcome may be `timeout` too;
        under the `request_id` of a request that the job keeps, outcome and payload are that one's.

        Raises:
            ResumeRefusedError: the job needs no attention, or has no such outcome.
            SnapshotUnverifiedError: the snapshot is not verified, and `pinned` needs it.
        """
        check_size(payload, what="payload", limit_bytes=self.settings.max_payload_bytes)
        request = override_request(
            payload, reason=reason, by=by, policy=policy, outcome=outcome, request_id=request_id
        )
        return await self._send(job_id, request, limit=limit)

    async def list_jobs(
        self,
        *,
        waiting: bool = False,
        state: JobState | None = None,
        agent_id: str | None = None,
        plan: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[tuple[JobSummary, ...], str | None]:
        """Jobs of the tenant, latest first, and the cursor of the next page.

        Args:
            waiting: Only those that are parked, also for attention.
            state: Only those in this state.
            agent_id: Only those of this agent.
            plan: Only those of this plan, by its name; of a workflow of your own, by its type.
            limit: How many at most.
            cursor: Where an earlier page ended.

        Raises:
            InvalidInputError: there is no such state, the agent is no id, or the cursor is of another list.
        """
        tenant_id = self.settings.tenant_id
        select = JobSelection(waiting=waiting, state=state, agent_id=agent_id, plan=plan)
        with rpc_errors(self.endpoints.temporal_address, job_id="*"):
            return await list_jobs(
                self.temporal, tenant_id=tenant_id, select=select, limit=limit, cursor=cursor
            )

    async def find_job_ids(self, job_id: str, *, limit: int = 10) -> tuple[str, ...]:
        """The ids of jobs that begin so: as much of an id as a person gives; of a job of just this id, it alone.

        Raises:
            InvalidInputError: no id begins so.
        """
        tenant_id = self.settings.tenant_id
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            if await find_job(self._handle(job_id)) is not None:
                return (job_id,)
            listed = await list_job_ids(self.temporal, job_id, tenant_id=tenant_id, limit=limit)
        stored = await self._memory.list_job_ids(job_id, tenant_id=tenant_id, limit=limit)
        if job_id in stored:
            return (job_id,)
        return tuple(sorted({*listed, *stored})[:limit])

    async def describe_job(self, job_id: str) -> JobDescription:
        """Where a job is, and its waits. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            description = await find_job(self._handle(job_id))
            tenant_id, memory = self.settings.tenant_id, self._memory
            if description is None:
                return await describe_forgotten_job(job_id, tenant_id=tenant_id, memory=memory)
            return await describe_job(
                self.temporal, description, job_id=job_id, tenant_id=tenant_id, memory=memory
            )

    async def job_history(self, job_id: str) -> JobTimeline:
        """What happened to a job, from Temporal's history and our rows. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        check_id(job_id, what="job id")
        tenant_id = self.settings.tenant_id
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await job_history(
                self.temporal, job_id=job_id, tenant_id=tenant_id, memory=self._memory
            )

    async def job_transcript(self, job_id: str) -> JobTranscript:
        """What a job thought, called, said and was told, in the order of time. Needs no worker.

        It holds texts of memory: prompts as far as Temporal's history has them, replies and emitted messages, tool calls
        and episodes as far as memory has them.

        Raises:
            NotFoundError: there is no such job.
        """
        check_id(job_id, what="job id")
        tenant_id = self.settings.tenant_id
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await job_transcript(
                self.temporal, job_id=job_id, tenant_id=tenant_id, memory=self._memory
            )

    async def diff_job(self, job_id: str, wait: int | str | None = None) -> JobDifference:
        """A snapshot of a job against its memory now. Needs no worker.

        Args:
            job_id: The job.
            wait: The wait whose snapshot it is, by number or id; the open one, else the latest.

        Raises:
            SnapshotCorruptedError: the stored snapshot is not what was written.
            InvalidInputError: the job has no such wait, or did not wait yet.
            NotFoundError: there is no such job.
        """
        check_id(job_id, what="job id")
        tenant_id = self.settings.tenant_id
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await diff_job(
                self.temporal, job_id=job_id, tenant_id=tenant_id, wait=wait, memory=self._memory
            )

    async def cancel_job(self, job_id: str) -> None:
        """Asks a job to end; it writes its episode first.

        Raises:
            NotFoundError: there is no such job, or it is over.
        """
        handle = self._handle(job_id)
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
                raise NotFoundError(what="running job", name=job_id)
            await handle.cancel()

    async def wait_for_result(self, job_id: str) -> JobResult:
        """Waits until a job is over.

        Raises:
            JobFailedError: it failed, or was cancelled or terminated; says why.
            NotFoundError: there is no such job.
        """
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await job_result(self._handle(job_id), job_id=job_id)

    def job_link(self, job_id: str, *, run_id: str | None = None) -> str | None:
        """The job's page in the Temporal UI, if the UI's address is known; with a run, its card.

        Raises:
            InvalidInputError: the id is malformed.
        """
        check_id(job_id, what="job id")
        return self.endpoints.link_to(
            job_workflow_id(self.settings.tenant_id, job_id), run_id=run_id
        )

    async def _start(self, job_input: JobInput, *, priority: int | None = None) -> str:
        with rpc_errors(self.endpoints.temporal_address, job_id=job_input.job_id):
            await start_job(
                self.temporal, self._memory, job_input, settings=self.settings, priority=priority
            )
        return job_input.job_id

    async def _send(
        self,
        job_id: str,
        request: ResumeRequest,
        *,
        by: Literal["update", "signal"] = "update",
        limit: timedelta,
    ) -> ResumeReceipt | None:
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await resume_job(
                self._handle(job_id),
                request,
                job_id=job_id,
                by=by,
                limit=limit,
                memory=self._memory,
            )

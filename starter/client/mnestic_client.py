"""`MnesticClient`: start, resume, steer, find and explain jobs, and reach memory, from Python."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any, Literal, Self, Unpack

from temporalio.client import Client, WorkflowExecutionStatus

from mnestic.memory.canonical import check_size
from mnestic.memory.errors import BuildUnavailableError, NotFoundError
from mnestic.memory.jobs.agent_job import JobInput, JobResult
from mnestic.memory.jobs.plan_checks import check_inputs
from mnestic.memory.jobs.waits import (
    RESUMED,
    ResumeReceipt,
    ResumeRequest,
    WaitExtended,
)
from mnestic.memory.names import PAUSE, UNPAUSE
from mnestic.memory.ports import Memory
from mnestic.memory.scope import check_id
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.inbox import InboxClient
from mnestic.starter.client.job_queries import JobQueries
from mnestic.starter.client.memory_connection import ConnectionArguments
from mnestic.starter.deployments import POLLS_WITHIN, Deployment
from mnestic.starter.jobs.extensions import extend_wait
from mnestic.starter.jobs.forks import ForkTerms, fork_input
from mnestic.starter.jobs.plans import GivenPlan, read_given_plan, require_sound
from mnestic.starter.jobs.pokes import PokeResult, poke_job
from mnestic.starter.jobs.results import job_result
from mnestic.starter.jobs.resumes import override_request, request_id_of, resume_job
from mnestic.starter.jobs.start import check_job, start_job
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.maintenance.maintenance_client import MaintenanceClient
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.temporal_connection import TemporalConnection
from mnestic.starter.wiring import Endpoints, open_connections


class MnesticClient(JobQueries):
    """A connection to memory and to Temporal; use it as an async context manager.

    To `poke_job` a worker counts as long as its last poll is no older than `polls_within`.
    """

    polls_within: timedelta = POLLS_WITHIN

    def __init__(
        self,
        temporal: Client,
        memory: Memory,
        *,
        settings: Settings,
        endpoints: Endpoints,
        **more: Unpack[ConnectionArguments],
    ) -> None:
        """Wraps connections that are open already; `more` are arguments of `MemoryConnection`.

        Raises:
            InvalidInputError: the tenant of the settings is no id.
        """
        connection = TemporalConnection(
            temporal=temporal, address=endpoints.temporal_address, task_queue=settings.task_queue
        )
        lazy_temporal = LazyTemporal(settings, connected=connection)
        super().__init__(memory, settings=settings, lazy_temporal=lazy_temporal, **more)
        self.temporal, self.endpoints = temporal, endpoints
        self._extraction = ExtractionStarts(lazy_temporal, tenant_id=settings.tenant_id)
        self.maintenance = MaintenanceClient(connection, memory, tenant_id=settings.tenant_id)

    @classmethod
    async def connect(cls, settings: Settings | None = None) -> Self:
        """Connects to Postgres and Temporal of the settings, or of the runtime that is up.

        Raises:
            InvalidInputError: the tenant is no id.
            ConfigurationError: an address is missing or malformed.
            DatabaseUnavailableError: Postgres does not answer.
            TemporalUnavailableError: Temporal does not answer.
            SchemaVersionError: the database is of another version.
        """
        settings = settings or load_settings()
        check_id(settings.tenant_id, what="tenant")
        async with AsyncExitStack() as opened:
            found = await open_connections(settings, opened)
            client = cls(
                found.temporal,
                found.memory,
                settings=settings,
                endpoints=found.endpoints,
                models=found.models,
            )
            client._closing = opened.pop_all()
        return client

    def inbox(self, agent_id: str) -> InboxClient:
        """The inbox of one agent, which takes messages to ingest."""
        address = self.endpoints.temporal_address
        return InboxClient(
            self.temporal, self._memory, agent_id=agent_id, settings=self.settings, address=address
        )

    async def start_job(
        self,
        plan: GivenPlan,
        *,
        agent_id: str,
        session_id: str,
        inputs: Mapping[str, Any] | None = None,
        job_id: str | None = None,
        priority: int | None = None,
    ) -> str:
        """Starts a job and returns its id. The plan may be an object or YAML text as well.

        Queued jobs of priority 1 run first, of 5 last; the default is 3. Within a priority, tenants take turns.

        Raises:
            InvalidInputError: the plan or an id is invalid, there is no such priority, or inputs are too large
                or missing.
            AlreadyExistsError: a job of that id was started before.
            TemporalUnavailableError: Temporal does not answer.
        """
        job_input = check_job(
            await asyncio.to_thread(read_given_plan, plan),
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
        plan: GivenPlan | None = None,
        priority: int | None = None,
    ) -> str:
        """Starts a job at a wait of another job, with the memory of its snapshot; returns the new id.

        The other job does not change. It may be running or ended, and Temporal may have deleted its history.
        The new job has the whole budget of its plan.

        Args:
            job_id: The job to fork.
            wait: Number or id of the wait; by default the latest one.
            as_job: The new job's id; generated by default.
            session_id: The new job's session, which must be empty; by default the new job's id.
            plan: Another plan, which must have the wait's node.
            priority: From 1 to 5; by default the other job's, if Temporal still knows it.

        Raises:
            NotFoundError: there is no such job or wait.
            InvalidInputError: the plan has no such wait or needs inputs that the job does not have, the wait
                belongs to another job, or there is no such priority.
            AlreadyExistsError: a job with the new id was started before, or the new session is not empty.
        """
        terms = ForkTerms(
            job_id=check_id(job_id, what="job id"),
            wait=wait,
            as_job=as_job,
            session_id=session_id,
            plan=None if plan is None else await asyncio.to_thread(read_given_plan, plan),
            priority=priority,
        )
        with self._job_errors(job_id):
            job_input, priority = await fork_input(
                self.temporal, self._memory, terms, settings=self.settings
            )
        require_sound(job_input.plan)
        cursor = None if job_input.progress is None else job_input.progress.cursor
        check_inputs(job_input.plan, job_input.inputs, cursor=cursor)
        return await self._start(job_input, priority=priority)

    async def resume_job(  # noqa: PLR0913 - the fields of the request, and how it is sent
        self,
        job_id: str,
        payload: Any = None,
        *,
        outcome: str = RESUMED,
        request_id: str | None = None,
        wait_id: str | None = None,
        expected_sha256: str | None = None,
        by: Literal["update", "signal"] = "update",
        any_wait: bool = False,
        limit: timedelta = timedelta(seconds=30),
        actor: str | None = None,
    ) -> ResumeReceipt | None:
        """Resumes a waiting job, and returns once its memory is restored.

        The same `request_id` again gets the first receipt; with another answer it is refused. With `by="signal"`, or if no worker answers within
        the limit, Temporal stores the request and the result is None: send the request again with its id to
        get the receipt. Pass `wait_id` (`find_open_wait`) if your answer would be wrong for another wait. A
        signal needs it, or `any_wait=True`: then it answers the wait that is open when a worker takes the signal, or else the next one.
        An update that no worker answers is sent as a signal for the wait that is open now. The receipt names the `actor`.

        Raises:
            InvalidInputError: a signal names no wait, and not `any_wait`; nothing was sent.
            ResumeRefusedError: no wait of this job accepts the request.
            SnapshotCorruptedError: the stored snapshot has another hash; the job needs attention.
            PayloadTooLargeError: the payload exceeds the limit; nothing was sent.
            NotFoundError: there is no such job.
        """
        self._check_payload(payload)
        request = ResumeRequest(
            request_id=request_id_of(request_id),
            wait_id=wait_id,
            outcome=outcome,
            payload=payload,
            expected_sha256=expected_sha256,
            actor=actor,
        )
        return await self._send(job_id, request, by=by, any_wait=any_wait, limit=limit)

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
        """Lets a job that needs attention continue; the audit log records the reason.

        With `rebase` the job uses memory as it is now, even if its snapshot is lost. With `pinned` it uses
        its snapshot, even if working memory cannot be read. The outcome may also be `timeout`. With the
        `request_id` of a request that is stored in the job, that request's outcome and payload are used.

        Raises:
            ResumeRefusedError: the job does not need attention, or has no such outcome.
            SnapshotUnverifiedError: `pinned` needs the snapshot, which cannot be verified.
        """
        self._check_payload(payload)
        request = override_request(
            payload, reason=reason, by=by, policy=policy, outcome=outcome, request_id=request_id
        )
        return await self._send(job_id, request, limit=limit)

    async def extend_wait(
        self,
        job_id: str,
        *,
        by: timedelta | None = None,
        until: datetime | None = None,
        wait_id: str | None = None,
        request_id: str | None = None,
    ) -> WaitExtended:
        """Sets a later deadline for the open wait: by a duration, or until a time.

        The same `request_id` again gets the first result.

        Raises:
            InvalidInputError: the job does not wait, or the deadline is not later.
            WorkerUnavailableError: no worker answers.
        """
        with self._job_errors(job_id):
            return await extend_wait(
                self._handle(job_id), by=by, until=until, wait_id=wait_id, request_id=request_id
            )

    async def pause_job(self, job_id: str) -> None:
        """Pauses a job before its next step. A deadline that passes takes effect when the job continues.

        Raises:
            NotFoundError: there is no such job, or it has ended.
        """
        with self._job_errors(job_id):
            await self._handle(job_id).signal(PAUSE)

    async def unpause_job(self, job_id: str) -> None:
        """Lets a paused job continue.

        Raises:
            NotFoundError: there is no such job, or it has ended.
        """
        with self._job_errors(job_id):
            await self._handle(job_id).signal(UNPAUSE)

    async def poke_job(self, job_id: str, *, untried: bool = False) -> PokeResult:
        """Moves a job to a new run at its wait, with the current build of the worker.

        If the job's build has no worker left, the job moves to the current build with its history. So this
        version's code first tries to replay that history.

        Args:
            job_id: The job.
            untried: Move it without that check. If the current build cannot replay the history either, the
                job stands still until a worker with a suitable build runs.

        Raises:
            InvalidInputError: the job must move, and this version's code cannot replay its history;
                nothing has changed.
            NotFoundError: there is no such job, or it has ended.
        """
        with self._job_errors(job_id):
            return await poke_job(
                self._handle(job_id), job_id=job_id, deployment=self._deployment, untried=untried
            )

    async def find_missing_worker(self, job_id: str) -> BuildUnavailableError | None:
        """Why no running worker can take a job: none of its build polls. None if one can, and of a job that is over.

        Raises:
            NotFoundError: there is no such job.
        """
        return await self._deployment.find_missing_worker(job_id)

    @property
    def _deployment(self) -> Deployment:
        return Deployment(
            self.temporal,
            settings=self.settings,
            address=self.endpoints.temporal_address,
            polls_within=self.polls_within,
        )

    async def cancel_job(self, job_id: str) -> None:
        """Asks a job to end; it writes its episode first.

        Raises:
            NotFoundError: there is no such job, or it has ended.
        """
        handle = self._handle(job_id)
        with self._job_errors(job_id):
            if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
                raise NotFoundError(what="running job", name=job_id)
            await handle.cancel()

    async def wait_for_result(self, job_id: str) -> JobResult:
        """Waits until a job has ended.

        Raises:
            JobFailedError: it failed, or was cancelled or terminated; has the cause.
            NotFoundError: there is no such job.
        """
        with self._job_errors(job_id):
            return await job_result(self._handle(job_id), job_id=job_id)

    async def _start(self, job_input: JobInput, *, priority: int | None) -> str:
        with self._job_errors(job_input.job_id):
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
        any_wait: bool = False,
        limit: timedelta,
    ) -> ResumeReceipt | None:
        with self._job_errors(job_id):
            return await resume_job(
                self._handle(job_id),
                request,
                job_id=job_id,
                by=by,
                any_wait=any_wait,
                limit=limit,
                memory=self._memory,
            )

    def _check_payload(self, payload: Any) -> None:
        """Refuses a payload that is too large, or that is not JSON.

        Raises:
            InvalidInputError: it is not JSON.
            PayloadTooLargeError: it is too large.
        """
        check_size(payload, what="payload", limit_bytes=self.settings.max_payload_bytes)

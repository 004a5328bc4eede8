"""`MnesticClient`: start, resume, find and end jobs, and reach memory, from Python."""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    TerminatedError,
    WorkflowAlreadyStartedError,
)

from mnestic.memory.canonical import canonical_json, check_size
from mnestic.memory.differences import JobDifference
from mnestic.memory.errors import (
    AlreadyExistsError,
    JobFailedError,
    NotFoundError,
    PayloadTooLargeError,
)
from mnestic.memory.jobs import JobDescription, JobInput, JobResult, JobSummary
from mnestic.memory.names import AGENT_JOB, job_workflow_id
from mnestic.memory.plans import Plan
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope, check_id
from mnestic.memory.timeline import JobTimeline
from mnestic.memory.waits import RESUMED, ResumeReceipt, ResumeRequest, check_request_id
from mnestic.starter.job_diff import diff_job
from mnestic.starter.job_history import job_history
from mnestic.starter.job_listing import describe_job, list_jobs
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.plans import require_sound
from mnestic.starter.resuming import resume_job
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.wiring import Endpoints, connect_temporal, find_endpoints, open_memory

LARGEST_PLAN_BYTES = 262_144
_NEVER_AGAIN = WorkflowIDReusePolicy.REJECT_DUPLICATE


class MnesticClient:
    """A connection to Temporal and to memory; use it as an async context manager."""

    def __init__(
        self, temporal: Client, memory: Memory, *, settings: Settings, endpoints: Endpoints
    ) -> None:
        self.temporal = temporal
        self.settings = settings
        self.endpoints = endpoints
        self._memory = memory

    @classmethod
    async def connect(cls, settings: Settings | None = None) -> Self:
        """Connects to what the settings, or the runtime that is up, say.

        Raises:
            ConfigurationError: nothing says where to connect.
            DatabaseUnavailableError: Postgres does not answer.
            TemporalUnavailableError: Temporal does not answer.
            SchemaVersionError: the database is of another version.
        """
        settings = settings or load_settings()
        endpoints = find_endpoints(settings)
        memory = open_memory(endpoints)
        try:
            await memory.check()
            temporal = await connect_temporal(endpoints)
        except BaseException:
            await memory.close()
            raise
        return cls(temporal, memory, settings=settings, endpoints=endpoints)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections to Postgres; Temporal's closes with the process."""
        await self._memory.close()

    def memory(self, agent_id: str) -> MemoryClient:
        """The memory of one agent."""
        check_id(agent_id, what="agent")
        return MemoryClient(self._memory, tenant_id=self.settings.tenant_id, agent_id=agent_id)

    async def start_job(
        self,
        plan: Plan,
        *,
        agent_id: str,
        session_id: str,
        inputs: Mapping[str, Any] | None = None,
        job_id: str | None = None,
    ) -> str:
        """Starts a job and returns its id.

        Raises:
            InvalidInputError: the plan is unsound, an id is malformed or the inputs are too large.
            AlreadyExistsError: a job of that id was started before.
            TemporalUnavailableError: Temporal does not answer.
        """
        require_sound(plan)
        _check_plan_size(plan)
        inputs = dict(inputs or {})
        check_size(inputs, what="inputs", limit_bytes=self.settings.max_payload_bytes)
        job_id = check_id(job_id or uuid.uuid4().hex[:12], what="job id")
        scope = Scope(
            tenant_id=check_id(self.settings.tenant_id, what="tenant"),
            agent_id=check_id(agent_id, what="agent"),
            session_id=check_id(session_id, what="session"),
        )
        asked = JobInput(
            job_id=job_id,
            scope=scope,
            plan=plan,
            inputs=inputs,
            max_payload_bytes=self.settings.max_payload_bytes,
        )
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            try:
                await self.temporal.start_workflow(
                    AGENT_JOB,
                    asked,
                    id=job_workflow_id(scope.tenant_id, job_id),
                    task_queue=self.settings.task_queue,
                    id_reuse_policy=_NEVER_AGAIN,
                    memo={"plan": plan.name},
                    search_attributes=_search_attributes(scope),
                    static_summary=f"{plan.name} of {agent_id}",
                )
            except WorkflowAlreadyStartedError:
                raise AlreadyExistsError(what="job", name=job_id) from None
        return job_id

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
        there is no receipt yet: send it again under its id to get it.

        Raises:
            ResumeRefusedError: no wait of this job takes the request.
            SnapshotCorruptedError: the stored snapshot is not what was written; the job is parked.
            PayloadTooLargeError: says the limit and the size; nothing was sent.
            NotFoundError: there is no such job.
        """
        check_size(payload, what="payload", limit_bytes=self.settings.max_payload_bytes)
        request_id = request_id if request_id is not None else uuid.uuid4().hex
        check_request_id(request_id)
        request = ResumeRequest(
            request_id=request_id,
            wait_id=wait_id,
            outcome=outcome,
            payload=payload,
            expected_sha256=expected_sha256,
        )
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await resume_job(
                self._handle(job_id),
                request,
                job_id=job_id,
                by=by,
                limit=limit,
                memory=self._memory,
            )

    async def list_jobs(
        self, *, waiting: bool = False, limit: int = 50, cursor: str | None = None
    ) -> tuple[tuple[JobSummary, ...], str | None]:
        """Jobs of the tenant, latest first, and the cursor of the next page.

        With `waiting`, only those that are parked, also for attention.
        """
        with rpc_errors(self.endpoints.temporal_address, job_id="*"):
            return await list_jobs(
                self.temporal,
                tenant_id=self.settings.tenant_id,
                waiting=waiting,
                limit=limit,
                cursor=cursor,
            )

    async def describe_job(self, job_id: str) -> JobDescription:
        """Where a job is, and its waits. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await describe_job(self._handle(job_id), job_id=job_id, memory=self._memory)

    async def job_history(self, job_id: str) -> JobTimeline:
        """What happened to a job, from Temporal's history and our rows. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        check_id(job_id, what="job id")
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await job_history(
                self.temporal,
                job_id=job_id,
                tenant_id=self.settings.tenant_id,
                memory=self._memory,
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
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await diff_job(
                self.temporal,
                job_id=job_id,
                tenant_id=self.settings.tenant_id,
                wait=wait,
                memory=self._memory,
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
            try:
                return await self._handle(job_id).result()
            except WorkflowFailureError as error:
                raise _failed(job_id, error) from None

    def job_link(self, job_id: str) -> str | None:
        """The job's page in the Temporal UI, if the UI's address is known."""
        if self.endpoints.temporal_ui is None:
            return None
        workflow_id = job_workflow_id(self.settings.tenant_id, job_id).replace("/", "%2F")
        namespace = self.endpoints.temporal_namespace
        return f"{self.endpoints.temporal_ui}/namespaces/{namespace}/workflows/{workflow_id}"

    def _handle(self, job_id: str) -> WorkflowHandle[Any, JobResult]:
        check_id(job_id, what="job id")
        workflow_id = job_workflow_id(self.settings.tenant_id, job_id)
        return self.temporal.get_workflow_handle(workflow_id, result_type=JobResult)


def _check_plan_size(plan: Plan) -> None:
    size = len(canonical_json(plan.model_dump(mode="json")))
    if size > LARGEST_PLAN_BYTES:
        raise PayloadTooLargeError(what="plan", size_bytes=size, limit_bytes=LARGEST_PLAN_BYTES)


def _search_attributes(scope: Scope) -> TypedSearchAttributes:
    values = {
        "JobState": "running",
        "TenantId": scope.tenant_id,
        "AgentId": scope.agent_id,
        "SessionId": scope.session_id,
    }
    return TypedSearchAttributes(
        [SearchAttributePair(SearchAttributeKey.for_keyword(k), v) for k, v in values.items()]
    )


def _failed(job_id: str, error: WorkflowFailureError) -> JobFailedError:
    cause = error.cause
    if isinstance(cause, CancelledError):
        return JobFailedError(job_id=job_id, how="was cancelled", why="someone asked for it")
    if isinstance(cause, TerminatedError):
        return JobFailedError(job_id=job_id, how="was terminated", why=str(cause))
    why = cause.message if isinstance(cause, ApplicationError) else str(cause)
    return JobFailedError(job_id=job_id, how="failed", why=why)

"""`JobCalls`: the calls behind the methods of `MnesticClient` about jobs.

They stand apart from `MnesticClient`, which describes the methods for users and checks their texts: here are ids
checked, Temporal's errors translated, and the modules of `starter/jobs/` called.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle

from mnestic.memory.canonical import check_size
from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.agent_job import (
    JobDescription,
    JobInput,
    JobResult,
    JobStatus,
    JobSummary,
)
from mnestic.memory.jobs.differences import JobDifference
from mnestic.memory.jobs.plan_inputs import check_inputs
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.resumptions import Resumption
from mnestic.memory.jobs.timeline import JobTimeline
from mnestic.memory.jobs.transcripts import JobTranscript
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt, ResumeRequest, WaitExtended
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.memory.scope import check_id
from mnestic.starter.deployments import Deployment
from mnestic.starter.jobs.extensions import extend_wait
from mnestic.starter.jobs.forgotten_jobs import describe_forgotten_job
from mnestic.starter.jobs.forks import ForkTerms, fork_input
from mnestic.starter.jobs.history import job_history
from mnestic.starter.jobs.listing import describe_job, list_job_ids, list_jobs
from mnestic.starter.jobs.lookup import find_job
from mnestic.starter.jobs.plans import require_sound
from mnestic.starter.jobs.pokes import PokeResult, poke_job
from mnestic.starter.jobs.results import job_result
from mnestic.starter.jobs.resumes import resume_job
from mnestic.starter.jobs.resumptions import diff_job, read_plan, read_resumption
from mnestic.starter.jobs.selection import JobSelection
from mnestic.starter.jobs.start import start_job
from mnestic.starter.jobs.status import find_status
from mnestic.starter.jobs.transcript import job_transcript
from mnestic.starter.jobs.waits import find_open_wait
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import Endpoints


@dataclass(frozen=True, kw_only=True)
class JobCalls:
    """The calls about jobs of one tenant. `MnesticClient` says what each does and raises."""

    temporal: Client
    memory: Memory
    settings: Settings
    endpoints: Endpoints

    def handle(self, job_id: str) -> WorkflowHandle[Any, JobResult]:
        """The handle of a job's workflow.

        Raises:
            InvalidInputError: the id is malformed.
        """
        check_id(job_id, what="job id")
        workflow_id = job_workflow_id(self._tenant_id, job_id)
        return self.temporal.get_workflow_handle(workflow_id, result_type=JobResult)

    def check_payload(self, payload: Any) -> None:
        """Refuses a payload that is too large, or that is not JSON.

        Raises:
            InvalidInputError: it is not JSON.
            PayloadTooLargeError: it is too large.
        """
        check_size(payload, what="payload", limit_bytes=self.settings.max_payload_bytes)

    def link(self, job_id: str, *, run_id: str | None) -> str | None:
        """See `MnesticClient.job_link`."""
        check_id(job_id, what="job id")
        return self.endpoints.link_to(job_workflow_id(self._tenant_id, job_id), run_id=run_id)

    async def start(self, job_input: JobInput, *, priority: int | None) -> str:
        """See `MnesticClient.start_job`."""
        with self._rpc(job_input.job_id):
            await start_job(
                self.temporal, self.memory, job_input, settings=self.settings, priority=priority
            )
        return job_input.job_id

    async def fork(self, terms: ForkTerms) -> str:
        """See `MnesticClient.fork_job`."""
        with self._rpc(terms.job_id):
            job_input, priority = await fork_input(
                self.temporal, self.memory, terms, settings=self.settings
            )
        require_sound(job_input.plan)
        cursor = None if job_input.progress is None else job_input.progress.cursor
        check_inputs(job_input.plan, job_input.inputs, cursor=cursor)
        return await self.start(job_input, priority=priority)

    async def send(
        self,
        job_id: str,
        request: ResumeRequest,
        *,
        by: Literal["update", "signal"] = "update",
        limit: timedelta,
    ) -> ResumeReceipt | None:
        """See `MnesticClient.resume_job` and `MnesticClient.override_job`."""
        with self._rpc(job_id):
            return await resume_job(
                self.handle(job_id),
                request,
                job_id=job_id,
                by=by,
                limit=limit,
                memory=self.memory,
            )

    async def extend_wait(
        self,
        job_id: str,
        *,
        by: timedelta | None,
        until: datetime | None,
        wait_id: str | None,
        request_id: str | None,
    ) -> WaitExtended:
        """See `MnesticClient.extend_wait`."""
        with self._rpc(job_id):
            return await extend_wait(
                self.handle(job_id), by=by, until=until, wait_id=wait_id, request_id=request_id
            )

    async def signal(self, job_id: str, name: str) -> None:
        """Sends a signal without arguments."""
        with self._rpc(job_id):
            await self.handle(job_id).signal(name)

    async def poke(self, job_id: str, *, untried: bool, polls_within: timedelta) -> PokeResult:
        """See `MnesticClient.poke_job`."""
        address = self.endpoints.temporal_address
        deployment = Deployment(
            self.temporal, settings=self.settings, address=address, polls_within=polls_within
        )
        with self._rpc(job_id):
            return await poke_job(
                self.handle(job_id), job_id=job_id, deployment=deployment, untried=untried
            )

    async def cancel(self, job_id: str) -> None:
        """See `MnesticClient.cancel_job`."""
        handle = self.handle(job_id)
        with self._rpc(job_id):
            if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
                raise NotFoundError(what="running job", name=job_id)
            await handle.cancel()

    async def wait_for_result(self, job_id: str) -> JobResult:
        """See `MnesticClient.wait_for_result`."""
        with self._rpc(job_id):
            return await job_result(self.handle(job_id), job_id=job_id)

    async def find_open_wait(self, job_id: str) -> JobWait | None:
        """See `MnesticClient.find_open_wait`."""
        with self._rpc(job_id):
            return await find_open_wait(self.handle(job_id), job_id=job_id, memory=self.memory)

    async def find_status(self, job_id: str) -> JobStatus | None:
        """See `MnesticClient.find_job_status`."""
        with self._rpc(job_id):
            return await find_status(self.handle(job_id))

    async def list_page(
        self, select: JobSelection, *, limit: int, cursor: str | None
    ) -> tuple[tuple[JobSummary, ...], str | None]:
        """See `MnesticClient.list_jobs`."""
        with self._rpc("*"):
            return await list_jobs(
                self.temporal, tenant_id=self._tenant_id, select=select, limit=limit, cursor=cursor
            )

    async def find_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """See `MnesticClient.find_job_ids`."""
        with self._rpc(prefix):
            if await find_job(self.handle(prefix)) is not None:
                return (prefix,)
            listed = await list_job_ids(
                self.temporal, prefix, tenant_id=self._tenant_id, limit=limit
            )
        stored = await self.memory.list_job_ids(prefix, tenant_id=self._tenant_id, limit=limit)
        if prefix in stored:
            return (prefix,)
        return tuple(sorted({*listed, *stored})[:limit])

    async def describe(self, job_id: str) -> JobDescription:
        """See `MnesticClient.describe_job`."""
        tenant_id, memory = self._tenant_id, self.memory
        with self._rpc(job_id):
            execution = await find_job(self.handle(job_id))
            if execution is None:
                return await describe_forgotten_job(job_id, tenant_id=tenant_id, memory=memory)
            return await describe_job(
                self.temporal, execution, job_id=job_id, tenant_id=tenant_id, memory=memory
            )

    async def history(self, job_id: str) -> JobTimeline:
        """See `MnesticClient.job_history`."""
        check_id(job_id, what="job id")
        with self._rpc(job_id):
            return await job_history(
                self.temporal, job_id=job_id, tenant_id=self._tenant_id, memory=self.memory
            )

    async def transcript(self, job_id: str) -> JobTranscript:
        """See `MnesticClient.job_transcript`."""
        check_id(job_id, what="job id")
        with self._rpc(job_id):
            return await job_transcript(
                self.temporal, job_id=job_id, tenant_id=self._tenant_id, memory=self.memory
            )

    async def resumption(self, job_id: str, wait: int | str | None) -> Resumption:
        """See `MnesticClient.job_resumption`."""
        check_id(job_id, what="job id")
        with self._rpc(job_id):
            return await read_resumption(
                self.temporal,
                job_id=job_id,
                tenant_id=self._tenant_id,
                wait=wait,
                memory=self.memory,
            )

    async def plan(self, job_id: str) -> Plan:
        """See `MnesticClient.job_plan`."""
        check_id(job_id, what="job id")
        with self._rpc(job_id):
            return await read_plan(
                self.temporal, job_id=job_id, tenant_id=self._tenant_id, memory=self.memory
            )

    async def diff(self, job_id: str, wait: int | str | None) -> JobDifference:
        """See `MnesticClient.diff_job`."""
        check_id(job_id, what="job id")
        with self._rpc(job_id):
            return await diff_job(
                self.temporal,
                job_id=job_id,
                tenant_id=self._tenant_id,
                wait=wait,
                memory=self.memory,
            )

    @property
    def _tenant_id(self) -> str:
        return self.settings.tenant_id

    def _rpc(self, job_id: str) -> AbstractContextManager[None]:
        """Translates Temporal's errors about a job."""
        return rpc_errors(self.endpoints.temporal_address, job_id=job_id)

"""`JobQueries`: the part of `MnesticClient` that lists, describes and explains jobs, and changes none."""

from contextlib import AbstractContextManager
from typing import Any, TypedDict

from temporalio.client import Client, WorkflowHandle

from mnestic.memory.jobs.agent_job import JobDescription, JobResult, JobStatus, JobSummary
from mnestic.memory.jobs.differences import JobDifference
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.timeline import JobTimeline
from mnestic.memory.jobs.transcripts import JobTranscript
from mnestic.memory.jobs.waits import JobState, JobWait, Resumption
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.memory.scope import check_id
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.jobs.forgotten_jobs import describe_forgotten_job
from mnestic.starter.jobs.history import job_history
from mnestic.starter.jobs.listing import describe_job, list_job_ids, list_jobs
from mnestic.starter.jobs.lookup import find_job
from mnestic.starter.jobs.resumptions import diff_job, read_plan, read_resumption
from mnestic.starter.jobs.selection import JobSelection
from mnestic.starter.jobs.status import find_status
from mnestic.starter.jobs.transcript import job_transcript
from mnestic.starter.jobs.waits import find_open_wait
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.wiring import Endpoints


class StoredJob(TypedDict):
    """What names a job's rows."""

    job_id: str
    tenant_id: str
    memory: Memory


class JobQueries(MemoryConnection):
    """Reads about jobs; all but `find_job_status` need no worker."""

    temporal: Client
    endpoints: Endpoints

    async def find_open_wait(self, job_id: str) -> JobWait | None:
        """The open wait of a job, with its question and its form; None between waits. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        handle = self._handle(job_id)
        with self._job_errors(job_id):
            return await find_open_wait(handle, job_id=job_id, memory=self._memory)

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
            waiting: Only parked jobs, including those that need attention.
            state: Only jobs in this state.
            agent_id: Only jobs of this agent.
            plan: Only jobs with a plan of this name; for your own workflows, the workflow's type.
            limit: How many at most.
            cursor: Where an earlier page ended.

        Raises:
            InvalidInputError: there is no such state, the agent is no id, or the cursor is of another list.
        """
        select = JobSelection(waiting=waiting, state=state, agent_id=agent_id, plan=plan)
        with self._job_errors("*"):
            return await list_jobs(
                self.temporal, tenant_id=self._tenant_id, select=select, limit=limit, cursor=cursor
            )

    async def find_job_ids(self, job_id: str, *, limit: int = 10) -> tuple[str, ...]:
        """The ids of jobs that begin with a text; only the id itself if it is the whole id of a job.

        Raises:
            InvalidInputError: no id can begin with this text.
        """
        tenant_id = self._tenant_id
        with self._job_errors(job_id):
            if await find_job(self._handle(job_id)) is not None:
                return (job_id,)
            listed = await list_job_ids(self.temporal, job_id, tenant_id=tenant_id, limit=limit)
        stored = await self._memory.list_job_ids(job_id, tenant_id=tenant_id, limit=limit)
        if job_id in stored:
            return (job_id,)
        return tuple(sorted({*listed, *stored})[:limit])

    async def describe_job(self, job_id: str) -> JobDescription:
        """A job's state and its waits. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        tenant_id, memory = self._tenant_id, self._memory
        with self._job_errors(job_id):
            execution = await find_job(self._handle(job_id))
            if execution is None:
                return await describe_forgotten_job(job_id, tenant_id=tenant_id, memory=memory)
            return await describe_job(
                self.temporal, execution, job_id=job_id, tenant_id=tenant_id, memory=memory
            )

    async def find_job_status(self, job_id: str) -> JobStatus | None:
        """Where a job is in its plan, as its worker says; None while no worker answers, and of a workflow of your own.

        Raises:
            NotFoundError: there is no such job.
        """
        with self._job_errors(job_id):
            return await find_status(self._handle(job_id))

    async def job_history(self, job_id: str) -> JobTimeline:
        """The timeline of a job, from Temporal's history and rows in Postgres. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        with self._job_errors(job_id):
            return await job_history(self.temporal, **self._stored_job(job_id))

    async def job_transcript(self, job_id: str) -> JobTranscript:
        """The prompts, replies, tool calls and messages of a job, and the answers to its waits. Needs no worker.

        It contains texts from memory. Prompts come from Temporal's history, and the rest from Postgres, as far as
        they still exist.

        Raises:
            NotFoundError: there is no such job.
        """
        with self._job_errors(job_id):
            return await job_transcript(self.temporal, **self._stored_job(job_id))

    async def diff_job(self, job_id: str, wait: int | str | None = None) -> JobDifference:
        """The difference between a snapshot of a job and its memory now. Needs no worker.

        Args:
            job_id: The job.
            wait: Number or id of the wait; by default the open one, or else the latest.

        Raises:
            SnapshotCorruptedError: the stored snapshot has another hash.
            InvalidInputError: the job has no such wait, or has not waited yet.
            NotFoundError: there is no such job.
        """
        with self._job_errors(job_id):
            return await diff_job(self.temporal, wait=wait, **self._stored_job(job_id))

    async def job_plan(self, job_id: str) -> Plan:
        """The plan that a job runs, as of its latest wait. Needs no worker.

        Raises:
            NotFoundError: there is no such job, or its plan is stored nowhere any more.
        """
        with self._job_errors(job_id):
            return await read_plan(self.temporal, **self._stored_job(job_id))

    def job_link(self, job_id: str, *, run_id: str | None = None) -> str | None:
        """The job's page in the Temporal UI, if the UI's address is known; with a run, its card.

        Raises:
            InvalidInputError: the id is malformed.
        """
        check_id(job_id, what="job id")
        return self.endpoints.link_to(job_workflow_id(self._tenant_id, job_id), run_id=run_id)

    async def job_resumption(self, job_id: str, wait: int | str | None = None) -> Resumption:
        """What a job continues with after a wait: its place in the plan, and the snapshot of its memory.

        Args:
            job_id: The job.
            wait: Number or id of the wait; by default the open one, or else the latest.

        Raises:
            SnapshotCorruptedError: the stored snapshot has another hash.
            InvalidInputError: the job has no such wait, or has not waited yet.
            NotFoundError: there is no such job.
        """
        with self._job_errors(job_id):
            return await read_resumption(self.temporal, wait=wait, **self._stored_job(job_id))

    @property
    def _tenant_id(self) -> str:
        return self.settings.tenant_id

    def _handle(self, job_id: str) -> WorkflowHandle[Any, JobResult]:
        """The handle of a job's workflow.

        Raises:
            InvalidInputError: the id is malformed.
        """
        check_id(job_id, what="job id")
        workflow_id = job_workflow_id(self._tenant_id, job_id)
        return self.temporal.get_workflow_handle(workflow_id, result_type=JobResult)

    def _stored_job(self, job_id: str) -> StoredJob:
        """What names a job's rows.

        Raises:
            InvalidInputError: the id is malformed.
        """
        check_id(job_id, what="job id")
        return {"job_id": job_id, "tenant_id": self._tenant_id, "memory": self._memory}

    def _job_errors(self, job_id: str) -> AbstractContextManager[None]:
        """Translates Temporal's errors about a job."""
        return rpc_errors(self.endpoints.temporal_address, job_id=job_id)

"""`JobQueries`: the part of `MnesticClient` that lists, describes and explains jobs, and changes none."""

from mnestic.memory.jobs.agent_job import JobDescription, JobStatus, JobSummary
from mnestic.memory.jobs.differences import JobDifference
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.resumptions import Resumption
from mnestic.memory.jobs.timeline import JobTimeline
from mnestic.memory.jobs.transcripts import JobTranscript
from mnestic.memory.jobs.waits import JobState, JobWait
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.jobs.job_calls import JobCalls
from mnestic.starter.jobs.selection import JobSelection


class JobQueries(MemoryConnection):
    """Reads about jobs; all but `find_job_status` need no worker."""

    _jobs: JobCalls

    async def find_open_wait(self, job_id: str) -> JobWait | None:
        """The open wait of a job, with its question and its form; None between waits. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        return await self._jobs.find_open_wait(job_id)

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
        return await self._jobs.list_page(select, limit=limit, cursor=cursor)

    async def find_job_ids(self, job_id: str, *, limit: int = 10) -> tuple[str, ...]:
        """The ids of jobs that begin with a text; only the id itself if it is the whole id of a job.

        Raises:
            InvalidInputError: no id can begin with this text.
        """
        return await self._jobs.find_ids(job_id, limit=limit)

    async def describe_job(self, job_id: str) -> JobDescription:
        """A job's state and its waits. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        return await self._jobs.describe(job_id)

    async def find_job_status(self, job_id: str) -> JobStatus | None:
        """Where a job is in its plan, as its worker says; None while no worker answers, and of a workflow of your own.

        Raises:
            NotFoundError: there is no such job.
        """
        return await self._jobs.find_status(job_id)

    async def job_history(self, job_id: str) -> JobTimeline:
        """The timeline of a job, from Temporal's history and rows in Postgres. Needs no worker.

        Raises:
            NotFoundError: there is no such job.
        """
        return await self._jobs.history(job_id)

    async def job_transcript(self, job_id: str) -> JobTranscript:
        """The prompts, replies, tool calls and messages of a job, and the answers to its waits. Needs no worker.

        It contains texts from memory. Prompts come from Temporal's history, and the rest from Postgres, as far as
        they still exist.

        Raises:
            NotFoundError: there is no such job.
        """
        return await self._jobs.transcript(job_id)

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
        return await self._jobs.diff(job_id, wait)

    async def job_plan(self, job_id: str) -> Plan:
        """The plan that a job runs, as of its latest wait. Needs no worker.

        Raises:
            NotFoundError: there is no such job, or its plan is stored nowhere any more.
        """
        return await self._jobs.plan(job_id)

    def job_link(self, job_id: str, *, run_id: str | None = None) -> str | None:
        """The job's page in the Temporal UI, if the UI's address is known; with a run, its card.

        Raises:
            InvalidInputError: the id is malformed.
        """
        return self._jobs.link(job_id, run_id=run_id)

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
        return await self._jobs.resumption(job_id, wait)

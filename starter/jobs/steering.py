"""Steering a job that is under way: a later deadline, pause, unpause, poke.

It stands apart from the rest of `MnesticClient`, which is built on it, because none of it reaches memory.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle

from mnestic.memory.errors import BuildUnavailableError
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.memory.jobs.waits import WaitExtended
from mnestic.memory.names import PAUSE, POKE, UNPAUSE, job_workflow_id
from mnestic.memory.scope import check_id
from mnestic.starter.checked_texts import ChecksTexts
from mnestic.starter.deployments import POLLS_WITHIN, Deployment, Move
from mnestic.starter.jobs.extensions import extend_wait
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import Endpoints


@dataclass(frozen=True, kw_only=True)
class PokeResult:
    """What came of a poke.

    `moved` is the job's move from a build without workers; while `stands_still` holds, no worker of the
    current build is there, and the job goes on once one is.
    """

    moved: Move | None
    stands_still: BuildUnavailableError | None


class JobSteering(ChecksTexts):
    """The part of a client that needs Temporal alone.

    To `poke_job` a worker counts as long as its last poll is no older than `polls_within`.
    """

    polls_within: timedelta = POLLS_WITHIN

    def __init__(self, temporal: Client, *, settings: Settings, endpoints: Endpoints) -> None:
        self.temporal = temporal
        self.settings = settings
        self.endpoints = endpoints

    async def extend_wait(
        self,
        job_id: str,
        *,
        by: timedelta | None = None,
        until: datetime | None = None,
        wait_id: str | None = None,
    ) -> WaitExtended:
        """Sets a later deadline for the open wait: by a duration, or until a time.

        Raises:
            InvalidInputError: the job does not wait, or the deadline is not later.
            WorkerUnavailableError: no worker answers.
        """
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await extend_wait(self._handle(job_id), by=by, until=until, wait_id=wait_id)

    async def pause_job(self, job_id: str) -> None:
        """Pauses a job before its next step. A deadline that passes takes effect when the job continues.

        Raises:
            NotFoundError: there is no such job, or it has ended.
        """
        await self._signal(job_id, PAUSE)

    async def unpause_job(self, job_id: str) -> None:
        """Lets a paused job continue.

        Raises:
            NotFoundError: there is no such job, or it has ended.
        """
        await self._signal(job_id, UNPAUSE)

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
        address = self.endpoints.temporal_address
        deployment = Deployment(
            self.temporal, settings=self.settings, address=address, polls_within=self.polls_within
        )
        find = deployment.find_move if untried else deployment.find_safe_move
        move = await find(job_id)
        await self._signal(job_id, POKE)
        if move is not None:
            await deployment.move(job_id)
        return PokeResult(moved=move, stands_still=await deployment.find_standstill())

    async def _signal(self, job_id: str, name: str) -> None:
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            await self._handle(job_id).signal(name)

    def _handle(self, job_id: str) -> WorkflowHandle[Any, JobResult]:
        check_id(job_id, what="job id")
        workflow_id = job_workflow_id(self.settings.tenant_id, job_id)
        return self.temporal.get_workflow_handle(workflow_id, result_type=JobResult)

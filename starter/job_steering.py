"""Steering a job that is under way: a later deadline, pause, unpause, poke.

It stands apart from the rest of `MnesticClient`, which is built on it, because none of it reaches memory.
"""

from datetime import datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle

from mnestic.memory.errors import BuildUnavailableError
from mnestic.memory.jobs import JobResult
from mnestic.memory.names import PAUSE, POKE, UNPAUSE, job_workflow_id
from mnestic.memory.scope import check_id
from mnestic.memory.waits import WaitExtended
from mnestic.starter.checked_texts import ChecksTexts
from mnestic.starter.deployments import Deployment
from mnestic.starter.extending import extend_wait
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import Endpoints


class JobSteering(ChecksTexts):
    """The part of a client that needs Temporal alone."""

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
        """Gives the open wait a later deadline: by so much, or until then.

        Raises:
            InvalidInputError: the job does not wait, or the deadline is not later.
            WorkerUnavailableError: no worker answers.
        """
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            return await extend_wait(self._handle(job_id), by=by, until=until, wait_id=wait_id)

    async def pause_job(self, job_id: str) -> None:
        """Holds a job before its next step; its deadlines pass, and count once it goes on.

        Raises:
            NotFoundError: there is no such job, or it is over.
        """
        await self._signal(job_id, PAUSE)

    async def unpause_job(self, job_id: str) -> None:
        """Lets a paused job go on.

        Raises:
            NotFoundError: there is no such job, or it is over.
        """
        await self._signal(job_id, UNPAUSE)

    async def poke_job(self, job_id: str) -> BuildUnavailableError | None:
        """Has a job go on in a new run at its wait, by the current build of the worker.

        A job whose own build has no worker left is moved to the current build first. If that has
        none either, the job stands still until it has one; that is what is returned, not raised.

        Raises:
            NotFoundError: there is no such job, or it is over.
        """
        await self._signal(job_id, POKE)
        address = self.endpoints.temporal_address
        deployment = Deployment(self.temporal, settings=self.settings, address=address)
        await deployment.move_if_stranded(job_id)
        return await deployment.find_standstill()

    async def _signal(self, job_id: str, name: str) -> None:
        with rpc_errors(self.endpoints.temporal_address, job_id=job_id):
            await self._handle(job_id).signal(name)

    def _handle(self, job_id: str) -> WorkflowHandle[Any, JobResult]:
        check_id(job_id, what="job id")
        workflow_id = job_workflow_id(self.settings.tenant_id, job_id)
        return self.temporal.get_workflow_handle(workflow_id, result_type=JobResult)

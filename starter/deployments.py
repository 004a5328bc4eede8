"""The builds of the workers: which one gets new jobs, and which jobs still run on the others.

Temporal's SDK has no methods for it: these are calls of its service.
"""

import asyncio
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask
from pydantic import AwareDatetime, BaseModel, ConfigDict
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.deployment.v1 import WorkerDeploymentInfo
from temporalio.api.enums.v1 import (
    RoutingConfigUpdateState,
    TaskQueueType,
    VersioningBehavior,
    WorkerVersioningMode,
)
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.workflow.v1 import VersioningOverride, WorkflowExecutionOptions
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    DescribeWorkerDeploymentRequest,
    SetWorkerDeploymentCurrentVersionRequest,
    UpdateWorkflowExecutionOptionsRequest,
)
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Replayer

from mnestic.memory.errors import BuildUnavailableError, InvalidInputError
from mnestic.memory.names import AGENT_JOB, job_workflow_id
from mnestic.memory.scope import check_id
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.settings import Settings
from mnestic.workflows.plugin import MnesticPlugin

UNVERSIONED = ""  # the build of workers without a build id
# A worker polls anew each minute; one that has ended, however it did, is listed for some minutes more.
POLLS_WITHIN = timedelta(minutes=2)
_POLL_S = 0.2
_LONGEST = 300  # characters of a failure
_PROPAGATION_LIMIT_S = 10.0
_ON_ITS_WAY = RoutingConfigUpdateState.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS
_NOT_YET = frozenset({RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION})


class Build(BaseModel):
    """One build of the workers. It is obsolete without workers and running jobs."""

    model_config = ConfigDict(frozen=True)

    build_id: str
    current: bool
    running_jobs: int
    workers: int
    since: AwareDatetime


class Move(BaseModel):
    """The move of a job to another build than its own."""

    model_config = ConfigDict(frozen=True)

    from_build: str
    to_build: str

    @property
    def where(self) -> str:
        """The target of the move, for people."""
        return f"build {self.to_build}" if self.to_build else "workers without a build id"


class Deployment:
    """The workers of the settings' deployment and task queue, build by build.

    A worker counts as long as its last poll is no older than `polls_within`.
    """

    def __init__(
        self,
        temporal: Client,
        *,
        settings: Settings,
        address: str,
        polls_within: timedelta = POLLS_WITHIN,
    ) -> None:
        self._temporal, self._settings, self._address = temporal, settings, address
        self._polls_within = polls_within

    async def list_builds(self) -> tuple[Build, ...]:
        """All builds whose workers Temporal knows, latest first. Needs no worker.

        Jobs are counted in the visibility store, which is a second behind.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        with rpc_errors(self._address, job_id="*"):
            deployment_info = await self._describe()
            if deployment_info is None:
                return ()
            workers = await self._workers()
            builds = [
                Build(
                    build_id=(build_id := version.deployment_version.build_id),
                    current=build_id == _current(deployment_info),
                    running_jobs=await self._running_jobs(build_id),
                    workers=workers[build_id],
                    since=version.create_time.ToDatetime(UTC),
                )
                for version in deployment_info.version_summaries
            ]
        return tuple(sorted(builds, key=lambda build: build.since, reverse=True))

    async def make_current(
        self, build_id: str, *, limit: timedelta = timedelta(seconds=30)
    ) -> None:
        """Sends new jobs, and jobs that continue as new, to a build from now on.

        Jobs that run stay with their build. Waits for a worker of the build, for so long.

        Args:
            build_id: The build; `UNVERSIONED` for workers without a build id.
            limit: How long to wait.

        Raises:
            InvalidInputError: the id is malformed.
            BuildUnavailableError: no worker of the build polls; nothing has changed.
            TemporalUnavailableError: Temporal does not answer.
        """
        if build_id != UNVERSIONED:
            check_id(build_id, what="build id")
        deadline = time.monotonic() + limit.total_seconds()
        with rpc_errors(self._address, job_id="*"):
            while (why := await self._try_to_make_current(build_id)) is not None:
                if time.monotonic() > deadline:
                    raise BuildUnavailableError(build_id=build_id, why=why)
                await asyncio.sleep(_POLL_S)
            await self._wait_for_propagation()

    async def find_standstill(self) -> BuildUnavailableError | None:
        """Why jobs cannot start or continue in new runs: the current build has no worker. None if it has one.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        with rpc_errors(self._address, job_id="*"):
            deployment_info = await self._describe()
            current = _current(deployment_info) if deployment_info else UNVERSIONED
            polls = (await self._workers())[current] > 0
        return None if polls else BuildUnavailableError(build_id=current, why="none polls")

    async def find_missing_worker(self, job_id: str) -> BuildUnavailableError | None:
        """Why no running worker can take a job: its build has none. None if one can, and of a job that is over.

        Raises:
            NotFoundError: there is no such job.
            TemporalUnavailableError: Temporal does not answer.
        """
        with rpc_errors(self._address, job_id=job_id):
            execution = await self._execution(job_id)
            if execution.status is not WorkflowExecutionStatus.RUNNING:
                return None
            info = execution.raw_description.workflow_execution_info.versioning_info
            build_id = info.deployment_version.build_id
            if not build_id or info.versioning_override.auto_upgrade:
                return await self.find_standstill()
            polls = (await self._workers())[build_id] > 0
        return None if polls else BuildUnavailableError(build_id=build_id, why="none polls")

    async def find_move(self, job_id: str) -> Move | None:
        """To which build a job has to be moved: the current one, if no worker of its own is left.

        Raises:
            NotFoundError: there is no such job.
            TemporalUnavailableError: Temporal does not answer.
        """
        with rpc_errors(self._address, job_id=job_id):
            build_id = await self._pinned_to(job_id)
            deployment_info = await self._describe()
            if build_id is None or deployment_info is None or build_id == _current(deployment_info):
                return None
            if (await self._workers())[build_id]:
                return None
        return Move(from_build=build_id, to_build=_current(deployment_info))

    async def find_safe_move(self, job_id: str) -> Move | None:
        """As `find_move`, once this version's code has replayed the job, as the other build has to.

        That build is taken to be of this version.

        Raises:
            InvalidInputError: it does not replay; says what to do.
            NotFoundError: there is no such job.
            TemporalUnavailableError: Temporal does not answer.
        """
        move = await self.find_move(job_id)
        if move is None:
            return None
        with rpc_errors(self._address, job_id=job_id):
            obstacle = await find_obstacle(self._temporal, self._workflow_id(job_id))
        if obstacle is not None:
            why = (
                f"is on build {move.from_build}, which has no worker, and was not moved to "
                f"{move.where}: {obstacle}. Start a worker of its build (mnestic worker --build-id "
                f"{move.from_build}), or move it all the same: mnestic job poke {job_id} --untried"
            )
            raise InvalidInputError(what=f"job {job_id}", why=why)
        return move

    async def move(self, job_id: str) -> None:
        """Moves a job to the current build, at its next workflow task, which may be due already.

        It is not pinned until it continues as new; the new run is. So `poke` goes before.

        Raises:
            NotFoundError: there is no such job, or it is over.
            TemporalUnavailableError: Temporal does not answer.
        """
        override = VersioningOverride(
            behavior=VersioningBehavior.VERSIONING_BEHAVIOR_AUTO_UPGRADE, auto_upgrade=True
        )
        request = UpdateWorkflowExecutionOptionsRequest(
            namespace=self._temporal.namespace,
            workflow_execution=WorkflowExecution(workflow_id=self._workflow_id(job_id)),
            workflow_execution_options=WorkflowExecutionOptions(versioning_override=override),
            update_mask=FieldMask(paths=["versioning_override"]),
        )
        with rpc_errors(self._address, job_id=job_id):
            await self._temporal.workflow_service.update_workflow_execution_options(request)

    async def _try_to_make_current(self, build_id: str) -> str | None:
        """Makes the build current; returns why that cannot be yet."""
        deployment_info = await self._describe()
        if build_id == (_current(deployment_info) if deployment_info else UNVERSIONED):
            return None
        if not (await self._workers())[build_id]:
            return "none polls"  # Temporal itself accepts a build whose worker has ended
        request = SetWorkerDeploymentCurrentVersionRequest(
            namespace=self._temporal.namespace,
            deployment_name=self._settings.deployment,
            build_id=build_id,
        )
        try:
            await self._temporal.workflow_service.set_worker_deployment_current_version(request)
        except RPCError as error:
            if error.status in _NOT_YET:
                return error.message
            raise
        return None

    async def _wait_for_propagation(self) -> None:
        """Waits until the task queues have the new routing; after the limit it reaches them by itself."""
        deadline = time.monotonic() + _PROPAGATION_LIMIT_S
        while (
            deployment_info := await self._describe()
        ) is not None and time.monotonic() < deadline:
            if deployment_info.routing_config_update_state != _ON_ITS_WAY:
                return
            await asyncio.sleep(_POLL_S)

    async def _describe(self) -> WorkerDeploymentInfo | None:
        """The deployment, None while no worker of it has polled."""
        request = DescribeWorkerDeploymentRequest(
            namespace=self._temporal.namespace, deployment_name=self._settings.deployment
        )
        service = self._temporal.workflow_service
        try:
            return (await service.describe_worker_deployment(request)).worker_deployment_info
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise

    async def _workers(self) -> Counter[str]:
        """How many workers of each build poll the task queue, and how many without one."""
        request = DescribeTaskQueueRequest(
            namespace=self._temporal.namespace,
            task_queue=TaskQueue(name=self._settings.task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
        answer = await self._temporal.workflow_service.describe_task_queue(request)
        oldest = datetime.now(UTC) - self._polls_within
        polling = {
            (poller.identity, self._build_of(poller))
            for poller in answer.pollers
            if poller.last_access_time.ToDatetime(UTC) > oldest
        }
        return Counter(build_id for _, build_id in polling if build_id is not None)

    def _build_of(self, poller: PollerInfo) -> str | None:
        """The build of a worker; None if it is of another deployment."""
        options = poller.deployment_options
        if options.worker_versioning_mode != WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED:
            return UNVERSIONED
        return options.build_id if options.deployment_name == self._settings.deployment else None

    async def _running_jobs(self, build_id: str) -> int:
        counted = await self._temporal.count_workflows(
            f"TemporalWorkerDeploymentVersion = '{self._settings.deployment}:{build_id}' "
            "AND ExecutionStatus = 'Running'"
        )
        return counted.count

    async def _pinned_to(self, job_id: str) -> str | None:
        """The build of a job; None when it is on none yet, or on workers without builds."""
        execution = await self._execution(job_id)
        info = execution.raw_description.workflow_execution_info.versioning_info
        return info.deployment_version.build_id or None

    async def _execution(self, job_id: str) -> WorkflowExecutionDescription:
        return await self._temporal.get_workflow_handle(self._workflow_id(job_id)).describe()

    def _workflow_id(self, job_id: str) -> str:
        check_id(job_id, what="job id")
        return job_workflow_id(self._settings.tenant_id, job_id)


def _current(deployment_info: WorkerDeploymentInfo) -> str:
    """The build that new jobs go to; empty for workers without builds."""
    return deployment_info.routing_config.current_deployment_version.build_id


async def find_obstacle(temporal: Client, workflow_id: str) -> str | None:
    """Replays a job's history, as a worker would: why this version's code cannot go on with a workflow; None if it replays its history.

    Raises:
        RPCError: Temporal does not answer, or knows no such workflow.
    """
    handle: Any = temporal.get_workflow_handle(workflow_id)
    found = await handle.describe()
    if found.workflow_type != AGENT_JOB:
        return f"its code, {found.workflow_type}, is not part of this version"
    codec = temporal.data_converter.payload_codec
    replayer = Replayer(workflows=[], plugins=[MnesticPlugin(codec=codec)])
    replayed = await replayer.replay_workflow(
        await handle.fetch_history(), raise_on_replay_failure=False
    )
    failure = replayed.replay_failure
    if failure is None:
        return None
    message = str(failure)
    message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
    return f"the code of this version does not replay it ({type(failure).__name__}: {message})"

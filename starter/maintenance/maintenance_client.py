"""The maintenance of a tenant's memory: its policy, its Schedules, runs by hand, and reports."""

import uuid
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import Any

from temporalio.client import WorkflowHandle
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from mnestic.activities.knowledge.ingest_starts import start_ingest
from mnestic.memory.errors import InvalidInputError, TemporalUnavailableError
from mnestic.memory.maintenance.embeddings import AgentEmbeddings
from mnestic.memory.maintenance.integrity import IndexSample
from mnestic.memory.maintenance.policies import (
    MAINTENANCE_KINDS,
    MaintenanceKind,
    MaintenancePolicy,
)
from mnestic.memory.maintenance.reports import (
    MaintenanceProgress,
    MaintenanceReport,
    MaintenanceRequest,
    MaintenanceRun,
    MemoryGrowth,
    is_future,
)
from mnestic.memory.maintenance.samples import Sample
from mnestic.memory.names import MAINTENANCE, maintenance_queue, maintenance_workflow_id
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT, check_id
from mnestic.starter.checked_texts import ChecksTexts
from mnestic.starter.maintenance.progress import describe_run, find_progress
from mnestic.starter.maintenance.scheduled_policy import ScheduledPolicy
from mnestic.starter.maintenance.schedules import MaintenanceSchedule, MaintenanceSchedules
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.temporal_connection import TemporalConnection


class MaintenanceClient(ChecksTexts):
    """Maintains the memory of a tenant."""

    def __init__(self, connection: TemporalConnection, memory: Memory, *, tenant_id: str) -> None:
        """Prepares the client.

        Args:
            connection: Where runs are started, and where the Schedules are.
            memory: Where the policy and the reports are.
            tenant_id: The tenant.

        Raises:
            InvalidInputError: the tenant is no id.
        """
        self._connection, self._memory = connection, memory
        self._tenant_id = check_id(tenant_id, what="tenant")
        self._schedules = MaintenanceSchedules(
            connection.temporal, tenant_id=tenant_id, task_queue=connection.task_queue
        )
        self._policy = ScheduledPolicy(memory, self._schedules, tenant_id=tenant_id, actor="client")

    async def policy(self) -> MaintenancePolicy:
        """The policy in force.

        Raises:
            StoredValueError: a value is stored that cannot be; `set_policy` sets it again.
        """
        return await self._policy.read()

    async def set_policy(self, path: str, value: Any) -> MaintenancePolicy:
        """Changes one value of the policy; if it is one of the times of a kind, its Schedule gets these times.

        A Schedule that could not follow does so when a worker starts, or with the next change of the policy.

        Args:
            path: The names that lead to the value, with dots, such as `nightly.times.hour`.
            value: The value, as JSON has it.

        Returns:
            The policy in force from now on.

        Raises:
            InvalidInputError: nothing has that path, or it cannot have that value; nothing has changed.
            StoredValueError: the value is stored, and another one is stored that cannot be.
            TemporalUnavailableError: the value is stored, and its Schedule does not follow yet.
        """
        if await self._policy.store(path, value):
            try:
                with self._rpc_errors():
                    await self._policy.align()
            except TemporalUnavailableError as error:
                why = (
                    f"{error.why}; {path} is stored, and the Schedule follows when a worker starts"
                )
                raise TemporalUnavailableError(where=error.where, why=why) from error
        return await self.policy()

    async def start(
        self,
        kind: MaintenanceKind,
        *,
        agent_id: str | None = None,
        dry_run: bool = False,
        allow_removals: bool = False,
        renew_vectors: bool = False,
        run_id: str | None = None,
    ) -> WorkflowHandle[Any, MaintenanceReport]:
        """Starts a run now.

        Args:
            kind: What is done.
            agent_id: The one agent to maintain; all by default.
            dry_run: Whether nothing is to be changed; the report says what would be.
            allow_removals: Whether more of the agent's facts and entries may be removed than the policy allows.
            renew_vectors: Whether a monthly run makes all vectors again, also where their model is the same.
            run_id: An id of your own: a second start with it gets the first run.

        Raises:
            InvalidInputError: the agent or the run is no id, or one is named for a backup, or removals are to be allowed for all agents,
                or a run that is not monthly is to renew vectors.
            TemporalUnavailableError: Temporal does not answer.
        """
        if agent_id is not None:
            check_id(agent_id, what="agent")
            if kind == "backup":
                why = f"is {agent_id}, and a backup is of a whole tenant; leave it out"
                raise InvalidInputError(what="agent", why=why)
        elif allow_removals:
            why = "is for one agent, whose problem you have seen; name the agent"
            raise InvalidInputError(what="allow_removals", why=why)
        if renew_vectors and kind != "monthly":
            why = f"is of the monthly run, not of the {kind} one"
            raise InvalidInputError(what="renew_vectors", why=why)
        request = MaintenanceRequest(
            tenant_id=self._tenant_id,
            kind=kind,
            agent_id=agent_id,
            dry_run=dry_run,
            allow_removals=allow_removals,
            renew_vectors=renew_vectors,
        )
        run = uuid.uuid4().hex[:12] if run_id is None else check_id(run_id, what="run")
        workflow_id = f"{maintenance_workflow_id(self._tenant_id, kind)}-{run}"
        temporal = self._connection.temporal
        with self._rpc_errors():
            try:
                return await temporal.start_workflow(
                    MAINTENANCE,
                    request,
                    id=workflow_id,
                    task_queue=maintenance_queue(self._connection.task_queue),
                    id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                    result_type=MaintenanceReport,
                )
            except WorkflowAlreadyStartedError:
                return temporal.get_workflow_handle(workflow_id, result_type=MaintenanceReport)

    async def find_progress(self, run_id: str) -> MaintenanceProgress | None:
        """How far a run is; None if there is no such run, or while no worker says so.

        Args:
            run_id: The last part of the workflow's id, which is the id of the report too.

        Raises:
            InvalidInputError: it is no id.
        """
        name = maintenance_workflow_id(self._tenant_id, check_id(run_id, what="run"))
        temporal = self._connection.temporal
        return await find_progress(temporal, temporal.get_workflow_handle(name))

    async def describe_run(self, run_id: str) -> MaintenanceRun:
        """A run by its id: whether it still runs, and how far it is.

        Args:
            run_id: The last part of the workflow's id, which is the id of the report too.

        Raises:
            InvalidInputError: it is no id.
            NotFoundError: there is no such run, or Temporal has it no longer.
            TemporalUnavailableError: Temporal does not answer.
        """
        name = maintenance_workflow_id(self._tenant_id, check_id(run_id, what="run"))
        temporal = self._connection.temporal
        with rpc_errors(self._connection.address, job_id=run_id):
            return await describe_run(temporal, temporal.get_workflow_handle(name), run_id=run_id)

    async def list_reports(
        self, kind: MaintenanceKind | None = None, *, limit: int = 20, cursor: str | None = None
    ) -> tuple[tuple[MaintenanceReport, ...], str | None]:
        """Reports of runs, newest first, and the cursor of the next page.

        Raises:
            InvalidInputError: the limit or the cursor is invalid.
        """
        async with self._transaction(write=False) as transaction:
            return await transaction.maintenance_reports.list_reports(
                kind, limit=limit, cursor=cursor
            )

    async def list_last_reports(self) -> tuple[MaintenanceReport, ...]:
        """The report of the last run of each kind for all agents, among its last hundred.

        Dry runs, runs for one agent and backups that backed up nothing are passed over.
        """
        async with self._transaction(write=False) as transaction:
            pages = [
                await transaction.maintenance_reports.list_reports(kind, limit=100)
                for kind in MAINTENANCE_KINDS
            ]
        whole = ([report for report in page if report.is_whole] for page, _ in pages)
        return tuple(reports[0] for reports in whole if reports)

    async def growth(self) -> MemoryGrowth:
        """How much the tenant's memory holds, and by how much it has grown since the last run of each kind."""
        last = await self.list_last_reports()
        async with self._transaction(write=False) as transaction:
            sizes = await transaction.maintenance_reports.measure()
        since_last = {one.kind: sizes.since(one.sizes) for one in last if one.sizes}
        return MemoryGrowth(sizes=sizes, since_last=since_last)

    async def list_samples(self) -> tuple[Sample, ...]:
        """What an operator watches of the tenant's memory, as it is now; `GET /v1/metrics` serves it to Prometheus."""
        async with self._transaction(write=False) as transaction:
            return await transaction.maintenance_reports.list_samples()

    async def sample_index(self) -> IndexSample:
        """Whether the indexes find a sample of the tenant's entries, by their own words and vectors."""
        async with self._transaction(write=False) as transaction:
            return await transaction.embeddings.sample_index()

    async def list_embeddings(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[AgentEmbeddings, ...], str | None]:
        """The embeddings of each agent, by name: whose vectors searches compare; and the cursor of the next page.

        Raises:
            InvalidInputError: the limit or the cursor is invalid.
        """
        async with self._transaction(write=False) as transaction:
            return await transaction.embeddings.list_agents(limit=limit, cursor=cursor)

    async def switch_embeddings_back(self, agent_id: str) -> AgentEmbeddings:
        """Has searches of an agent compare the vectors of the previous model again, from the next search on.

        The monthly run does not switch to the other model again until `accept_embeddings`. Entries that were written since
        the switch get their vectors of the previous model in the background; until then their words find them.

        Raises:
            InvalidInputError: the agent is no id, there are no earlier vectors, or somebody has switched back already.
            TemporalUnavailableError: Temporal does not answer; it was switched back.
        """
        async with self._transaction(write=True, agent_id=agent_id) as transaction:
            back = await transaction.embeddings.switch_back(now=await transaction.now())
        with self._rpc_errors():
            await start_ingest(
                self._connection.temporal,
                tenant_id=self._tenant_id,
                agent_id=agent_id,
                task_queue=self._connection.task_queue,
            )
        return back

    async def accept_embeddings(self, agent_id: str) -> AgentEmbeddings:
        """Has the next monthly run try the model again from which somebody switched back.

        Raises:
            InvalidInputError: the agent is no id, or nobody has switched back.
        """
        async with self._transaction(write=True, agent_id=agent_id) as transaction:
            return await transaction.embeddings.accept()

    async def list_schedules(self) -> tuple[MaintenanceSchedule, ...]:
        """The Schedules; a worker creates them when it starts.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        with self._rpc_errors():
            return await self._schedules.list()

    async def pause(self, kind: MaintenanceKind, *, note: str | None = None) -> None:
        """Pauses a Schedule until it is resumed.

        Raises:
            NotFoundError: there is no such Schedule.
            TemporalUnavailableError: Temporal does not answer.
        """
        with self._rpc_errors():
            await self._schedules.pause(kind, note=note)

    async def resume(self, kind: MaintenanceKind, *, note: str | None = None) -> None:
        """Resumes a paused Schedule.

        Raises:
            NotFoundError: there is no such Schedule.
            TemporalUnavailableError: Temporal does not answer.
        """
        with self._rpc_errors():
            await self._schedules.resume(kind, note=note)

    async def backfill(self, kind: MaintenanceKind, *, since: datetime, until: datetime) -> None:
        """Starts the runs of a period in the past, one after the other.

        Raises:
            InvalidInputError: the period ends before it begins or in the future, or it is of backups, which are of now.
            NotFoundError: there is no such Schedule.
            TemporalUnavailableError: Temporal does not answer.
        """
        if kind == "backup":
            why = "makes backups of now, not of then; run one: mnestic maintenance run backup"
            raise InvalidInputError(what="backfill", why=why)
        async with self._transaction(write=False) as transaction:
            now = await transaction.now()
        if is_future(until, now=now):
            why = f"ends in the future; end it at {now:%Y-%m-%dT%H:%MZ} or before"
            raise InvalidInputError(what="backfill", why=why)
        with self._rpc_errors():
            await self._schedules.backfill(kind, since=since, until=until)

    def _rpc_errors(self) -> AbstractContextManager[None]:
        return rpc_errors(self._connection.address, job_id=f"maintenance of {self._tenant_id}")

    def _transaction(
        self, *, write: bool, agent_id: str | None = None
    ) -> AbstractAsyncContextManager[Transaction]:
        of = EVERY_AGENT if agent_id is None else check_id(agent_id, what="agent")
        return self._memory.transaction(
            tenant_id=self._tenant_id, agent_id=of, actor="client", write=write
        )

"""The activities of `Maintenance`: a batch of agents, the vector indexes of a tenant, the report."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.maintenance.batches import BATCH_SIZES, Batch, BatchRun, BatchSizes
from mnestic.activities.maintenance.cleanup import clean_up
from mnestic.activities.maintenance.monthly import maintain_monthly
from mnestic.activities.maintenance.nightly import maintain_nightly
from mnestic.activities.maintenance.weekly import maintain_weekly
from mnestic.memory.errors import MnesticError, StoredValueError, UnavailableError
from mnestic.memory.maintenance.policies import MaintenanceKind, MaintenancePolicy, policy_of
from mnestic.memory.maintenance.removal_guard import WINDOW, ActiveMemory, find_excess, removable
from mnestic.memory.maintenance.reports import MaintenanceReport, run_name
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory, TokenCounter, Transaction
from mnestic.memory.scope import EVERY_AGENT, Id

log = logging.getLogger("mnestic.maintenance")
BATCH = 200  # agents of one activity
IndexVectors = Callable[[str, str | None, bool], Awaitable[tuple[int, int]]]
"""Builds the indexes that a tenant lacks, or one agent of it, or in a dry run counts them; returns how many are built and dropped."""
CALLS = "model_calls_estimated"
"""The count of a dry run that says how many calls of a chat model the run would make."""


class MaintenanceStep(BaseModel):
    """What is maintained: an agent, or a batch of a tenant's agents, those after `after` by name."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    kind: MaintenanceKind
    scheduled_at: AwareDatetime
    agent_id: Id | None = None
    after: str | None = None
    dry_run: bool = False
    allow_removals: bool = False
    renew_vectors: bool = False

    @property
    def actor(self) -> str:
        """Who does it, for the audit log."""
        return f"maintenance/{self.kind}"

    @property
    def run(self) -> str:
        """How the run is named, by which what it has done is found."""
        return run_name(self.kind, self.scheduled_at)


class StepResult(BaseModel):
    """What was done, by name. `after` is the last agent of the batch, or None if it was the last batch.

    It was a `dry_run` also if nobody has switched this kind of maintenance on.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    agents: int = 0
    counts: dict[str, int] = {}
    problems: tuple[str, ...] = ()
    after: str | None = None
    dry_run: bool = False


class MaintenanceFinished(BaseModel):
    """The report of a run that has ended."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    report: MaintenanceReport


class MaintenanceActivities:
    """The steps of `Maintenance`."""

    def __init__(
        self,
        memory: Memory,
        *,
        index_vectors: IndexVectors,
        count_tokens: TokenCounter,
        sizes: BatchSizes = BATCH_SIZES,
    ) -> None:
        self._memory, self._index_vectors = memory, index_vectors
        self._count_tokens, self._sizes = count_tokens, sizes

    @activity.defn(name="mnestic.maintain_agents")
    async def maintain(self, params: MaintenanceStep) -> StepResult:
        """Maintains agents, one after the other, each in transactions of its own.

        Idempotent: what was done for an agent stands in the ledger, batch by batch. Another attempt goes on after the agent
        of the last heartbeat.
        """
        with failures():
            progress = StepProgress.of_last_attempt(StepResult(after=params.after))
            batch = await self._batch(params, after=progress.done.after)
            policy = await read_policy(self._memory, params)
            if policy.is_off(params.kind):
                params = params.model_copy(update={"dry_run": True})
                progress.note_off(params)
            async with heartbeats(progress.dump):
                for agent_id in batch:
                    maintained = self._maintain(params, agent_id, policy=policy)
                    progress.add(agent_id, await attempt(agent_id, maintained))
            is_last = len(batch) < BATCH or params.agent_id is not None
            return progress.done.model_copy(update={"after": None}) if is_last else progress.done

    @activity.defn(name="mnestic.index_vectors")
    async def index(self, params: MaintenanceStep) -> StepResult:
        """Builds the indexes of vectors and records that are lacking, and drops those that are not worth their place.

        For one agent it is that of its vectors alone. A dry run counts them. Idempotent. Where this worker may not do it, that is the problem of the result.
        """
        with failures():
            async with heartbeats():
                try:
                    built, dropped = await self._index_vectors(
                        params.tenant_id, params.agent_id, params.dry_run
                    )
                except UnavailableError:
                    raise  # the next attempt may succeed
                except MnesticError as error:
                    return StepResult(problems=(f"indexes: {error}",))
        return StepResult(counts={"indexes_built": built, "indexes_dropped": dropped})

    @activity.defn(name="mnestic.finish_maintenance")
    async def finish(self, params: MaintenanceFinished) -> MaintenanceReport:
        """Stores the report of a run, with when it ended, what its model calls took, and how much memory there is.

        Idempotent: the first report stands.
        """
        with failures():
            async with self._memory.transaction(
                tenant_id=params.tenant_id, agent_id=EVERY_AGENT, actor="maintenance", write=True
            ) as transaction:
                reports = transaction.maintenance_reports
                ended = {
                    "finished_at": await transaction.now(),
                    "usage": await transaction.usage.sum_by_run(params.report.run),
                    "sizes": await reports.measure(),
                }
                return await reports.add(params.report.model_copy(update=ended))

    async def _batch(self, params: MaintenanceStep, *, after: str | None) -> tuple[str, ...]:
        if params.agent_id is not None:
            return () if after == params.agent_id else (params.agent_id,)
        return await self._memory.list_agent_ids(
            tenant_id=params.tenant_id, after=after, limit=BATCH
        )

    async def _maintain(
        self, params: MaintenanceStep, agent_id: str, *, policy: MaintenancePolicy
    ) -> StepResult:
        """Maintains an agent once, batch by batch; returns the counts, also of an earlier attempt.

        If more would be removed than the policy allows, all else is done, and that is the problem of the result.
        """
        batch, excess = await self._first_batch(params, agent_id, policy=policy)
        if excess is not None:
            batch, _ = await self._first_batch(params, agent_id, policy=policy, stopped=excess)
        counts, stopped, place = batch.counts, batch.stopped, 0
        while batch.after is not None:
            place += 1
            try:
                batch = await self._next_batch(
                    params, agent_id, policy=policy, after=batch.after, place=place
                )
            except UnavailableError:
                raise
            except MnesticError as error:
                log.exception("an agent is maintained in part", extra={"agent_id": agent_id})
                why = (
                    f"agent {agent_id}: {error}; {place} parts were done, and the next run goes on"
                )
                return StepResult(counts=counts + Counter(agents_stopped=1), problems=(why,))
            counts = counts + batch.counts
        if stopped is not None:
            return StepResult(counts=counts + Counter(agents_stopped=1), problems=(stopped,))
        return StepResult(counts=counts)

    async def _first_batch(
        self,
        params: MaintenanceStep,
        agent_id: str,
        *,
        policy: MaintenancePolicy,
        stopped: str | None = None,
    ) -> tuple[Batch, str | None]:
        """Does the first batch, if the guard allows all of them; else changes nothing, and says why. A dry run counts all.

        If the guard has `stopped` the run, the batch is one without removals, and says why.
        """
        operation = Operation(key=f"{params.run}/{agent_id}", name="maintenance")
        request = operation.request_hash(params.kind)
        async with self._transaction(params, agent_id) as transaction:
            if params.kind == "weekly":  # it makes new texts, of what everybody may read
                await transaction.keep_to(None)
            if (stored := await transaction.replay(operation, request)) is not None:
                return Batch.load(stored), None
            now = params.scheduled_at
            before = await transaction.maintenance.count_active(now)
            earlier = await transaction.maintenance.count_archived(now - WINDOW, now)
            batch = await self._work(
                transaction, params, policy=policy, before=before, removes=stopped is None
            )
            batch = batch._replace(stopped=stopped)
            after = await transaction.maintenance.count_active(now)
            if (left := batch.left_active) is not None:
                after = ActiveMemory(after.facts - left.facts, after.entries - left.entries)
            excess = find_excess(
                agent_id,
                kind=params.kind,
                before=before,
                after=after,
                archived=ActiveMemory(batch.all_counts["faded"], batch.all_counts["archived"]),
                earlier=earlier,
                policy=policy,
            )
            is_stopped = excess is not None and not params.allow_removals
            if params.dry_run or is_stopped or not batch.is_to_store:
                transaction.discard()
            else:
                await transaction.complete(operation, batch.dump(is_allowed=params.allow_removals))
            if params.dry_run and batch.left is not None:
                batch = Batch(batch.all_counts, stopped=stopped)
            return batch, excess if is_stopped else None

    async def _next_batch(
        self,
        params: MaintenanceStep,
        agent_id: str,
        *,
        policy: MaintenancePolicy,
        after: str,
        place: int,
    ) -> Batch:
        """Does a later batch, which begins after another, in a transaction of its own."""
        operation = Operation(key=f"{params.run}/{agent_id}/{place}", name="maintenance")
        request = operation.request_hash([params.kind, after])
        async with self._transaction(params, agent_id) as transaction:
            if params.kind == "weekly":  # it makes new texts, of what everybody may read
                await transaction.keep_to(None)
            if (stored := await transaction.replay(operation, request)) is not None:
                return Batch.load(stored)
            batch = await self._work(transaction, params, policy=policy, after=after)
            if params.dry_run or not batch.is_to_store:
                transaction.discard()
            else:
                await transaction.complete(operation, batch.dump(is_allowed=params.allow_removals))
            return batch

    def _transaction(
        self, params: MaintenanceStep, agent_id: str
    ) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=agent_id, actor=params.actor, write=True
        )

    async def _work(
        self,
        transaction: Transaction,
        params: MaintenanceStep,
        *,
        policy: MaintenancePolicy,
        before: ActiveMemory | None = None,
        after: str | None = None,
        removes: bool = True,
    ) -> Batch:
        """Does a batch of the work of a kind for the agent of a transaction: the first, of what is active `before`, or one `after` another."""
        now = params.scheduled_at
        at = max(now, await transaction.now())
        batch_run = BatchRun(now, at, params.run, self._sizes, removes)
        if params.kind == "monthly":  # its other work is on the whole tenant
            return await maintain_monthly(transaction, batch_run, after=after)
        if params.kind == "cleanup":
            return await clean_up(transaction, batch_run, policy=policy.cleanup, after=after)
        if params.kind == "weekly":
            entries = 0 if before is None else before.entries
            return await maintain_weekly(
                transaction,
                batch_run,
                policy=policy.weekly,
                compressed=entries if params.allow_removals else int(removable(entries, policy)),
                after=after,
            )
        return await maintain_nightly(
            transaction,
            batch_run,
            policy=policy.nightly,
            count_tokens=self._count_tokens,
            after=after,
        )


async def attempt(
    agent_id: str,
    work: Awaitable[StepResult],
    *,
    step: str | None = None,
    stops: tuple[type[Exception], ...] = (),
) -> StepResult:
    """Works for an agent; what keeps a step from that is a problem of the result, and the other agents get their turn.

    Args:
        agent_id: The agent.
        work: What is done, in one transaction if no step is named.
        step: A step after the maintenance of agents, which alone counts those that are stopped.
        stops: Errors that end the work for all agents, and are raised.

    Raises:
        UnavailableError: something does not answer; the next attempt may succeed.
    """
    try:
        return await work
    except UnavailableError:
        raise
    except stops:
        raise
    except MnesticError as error:
        log.exception("an agent is not maintained", extra={"agent_id": agent_id, "step": step})
        if step is not None:
            return StepResult(problems=(f"agent {agent_id}: {step}: {error}",))
        return StepResult(
            counts={"agents_stopped": 1, "damaged_rows": int(isinstance(error, StoredValueError))},
            problems=(f"agent {agent_id}: {error}; nothing of it was changed",),
        )


async def read_policy(memory: Memory, params: MaintenanceStep) -> MaintenancePolicy:
    """The tenant's policy."""
    async with memory.transaction(
        tenant_id=params.tenant_id, agent_id=EVERY_AGENT, actor=params.actor, write=False
    ) as transaction:
        return policy_of(await transaction.settings.read())


class StepProgress:
    """How far a batch is; the next attempt finds it in the heartbeats."""

    def __init__(self, done: StepResult) -> None:
        self.done = done

    @classmethod
    def of_last_attempt(cls, begun: StepResult) -> Self:
        """What an earlier attempt of this activity had done at its last heartbeat; `begun` for the first attempt."""
        details: Any = activity.info().heartbeat_details
        return cls(StepResult.model_validate(details[0]) if details else begun)

    def add(self, agent_id: str, result: StepResult) -> None:
        """Adds what was done for an agent."""
        self.done = StepResult(
            agents=self.done.agents + 1,
            counts=dict(Counter(self.done.counts) + Counter(result.counts)),
            problems=(*self.done.problems, *result.problems),
            after=agent_id,
            dry_run=self.done.dry_run,
        )

    def note_off(self, params: MaintenanceStep) -> None:
        """Says why this is a dry run, in the first batch of the run."""
        remedy = f"`mnestic maintenance policy set {params.kind}.enabled true`"
        why = f"{params.kind} is off, so nothing was changed; to switch it on, run {remedy}"
        is_said = params.after is not None or why in self.done.problems
        problems = self.done.problems if is_said else (*self.done.problems, why)
        self.done = self.done.model_copy(update={"dry_run": True, "problems": problems})

    def dump(self) -> Any:
        """What the heartbeat carries."""
        return self.done.model_dump()

"""`IngestMessages`: extracts facts from all pending messages of an agent.

Messages do not travel with it: they are in the database, and each step takes the next of them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput, IngestProgress
from mnestic.activities.maintenance.steps import MaintenanceStep
from mnestic.memory.knowledge.ingestion import Ingested, IngestRequest
from mnestic.memory.names import (
    INDEX_VECTORS,
    INGEST_MESSAGES,
    LEARNED,
    MORE,
    index_workflow_id,
    maintenance_queue,
)
from mnestic.workflows.calls import run_activity
from mnestic.workflows.handlers import answer_query, take_signal, takes_input
from mnestic.workflows.ownership import require_own_tenant
from mnestic.workflows.refused_signals import RefusedSignals

_STEP = timedelta(minutes=5)
_LOST = timedelta(
    seconds=5
)  # without a heartbeat: its worker was killed, and another takes the step
_GRACE = timedelta(seconds=10)  # for a step that is under way when a new run is due
_WORKS = 2


@workflow.defn(name=INGEST_MESSAGES, sandboxed=False)
@takes_input(IngestRequest)
class IngestMessages:
    """Runs until no message is pending; the signal `more` says that new ones were received.

    Extraction and embedding run concurrently: a model that is down delays its own work alone.
    """

    @workflow.init
    def __init__(self, params: IngestRequest) -> None:
        self._params = IngestInput(tenant_id=params.tenant_id, agent_id=params.agent_id)
        self._learned = params.so_far
        self._announced = 0  # how many signals `more` came
        self._idle: dict[
            str, int
        ] = {}  # by work that found nothing: the signals that had come before
        self._refused = RefusedSignals()
        take_signal(MORE, self._on_more, refuse=self._refuse)
        answer_query(LEARNED, lambda: self._learned)

    @workflow.run
    async def run(self, params: IngestRequest) -> Ingested:
        """Processes the agent's messages, in batches."""
        require_own_tenant(params.tenant_id)
        works = asyncio.gather(self._repeat(self._learn), self._repeat(self._embed))
        await workflow.wait_condition(lambda: works.done() or self._is_over())
        if not self._is_all_done():
            with suppress(TimeoutError):  # the next run calls a model that is down again
                await workflow.wait_condition(works.done, timeout=_GRACE)
        if works.done() or self._is_all_done():
            await works
        if not self._is_all_done():
            workflow.continue_as_new(params.model_copy(update={"so_far": self._learned}))
        return Ingested(learned=self._learned)

    def _on_more(self) -> None:
        """There are new messages."""
        self._announced += 1

    def _refuse(self, why: str) -> None:
        self._refused.note(why=why)

    async def _repeat(self, work: Callable[[], Awaitable[int]]) -> None:
        """Repeats a work, and waits while nothing is left for it, until the other has nothing left too."""
        while not self._is_over():
            announced = self._announced
            if await work():
                continue
            self._idle[work.__name__] = announced
            await workflow.wait_condition(lambda: self._announced != announced or self._is_over())  # noqa: B023

    async def _learn(self) -> int:
        """Moves a batch of messages on by each step; returns how many were moved, or 0 if no other is left."""
        extracted = await _step(IngestActivities.extract, self._params)
        learned = await _step(IngestActivities.learn, self._params)
        self._learned += extracted.learned + learned.learned
        return 0 if learned.is_last else extracted.taken + learned.taken

    async def _embed(self) -> int:
        """Gives vectors to a batch of entries; returns how many got one."""
        progress = await _step(IngestActivities.embed, self._params)
        if progress.lacks_index and not progress.taken:
            await self._start_indexing()
        return progress.taken

    async def _start_indexing(self) -> None:
        """Has maintenance build an index of the vectors, unless it has tried before, which the night does again; nobody waits for it."""
        tenant_id, agent_id = self._params.tenant_id, self._params.agent_id
        step = MaintenanceStep(
            tenant_id=tenant_id, agent_id=agent_id, kind="nightly", scheduled_at=workflow.now()
        )
        with suppress(WorkflowAlreadyStartedError):
            await workflow.start_child_workflow(
                INDEX_VECTORS,
                step,
                id=index_workflow_id(tenant_id, agent_id),
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                task_queue=maintenance_queue(workflow.info().task_queue),
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
            )

    def _is_over(self) -> bool:
        return self._is_all_done() or workflow.info().is_continue_as_new_suggested()

    def _is_all_done(self) -> bool:
        """Whether both works have found nothing since the last signal `more`."""
        return list(self._idle.values()) == [self._announced] * _WORKS


async def _step(
    step: Callable[[Any, IngestInput], Awaitable[IngestProgress]], params: IngestInput
) -> IngestProgress:
    return await run_activity(step, params, timeout=_STEP, heartbeat=_LOST)

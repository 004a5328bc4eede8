"""`AgentInbox`: receives the signals of an agent, and stores them in batches.

The activity that stores signals validates them, so that a malformed one never blocks another.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict, Field
from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError
from temporalio.workflow import ContinueAsNewVersioningBehavior

from mnestic.activities.knowledge.inboxes import InboxActivities, StoreSignalsInput
from mnestic.memory.knowledge.inbox import InboxStatus, Signal, signal_of
from mnestic.memory.names import AGENT_INBOX, POKE, STATUS
from mnestic.memory.scope import Id
from mnestic.workflows.calls import run_to_the_end
from mnestic.workflows.handlers import answer_query, takes_input
from mnestic.workflows.ownership import require_own_tenant

_STORE_TIMEOUT = timedelta(minutes=1)
_TRY_AGAIN = timedelta(minutes=1)
_REST = timedelta(hours=1)
_MOST_BYTES = 1_500_000  # of what travels in one input, below Temporal's 2 MiB
_AROUND = 200  # bytes around each signal in it
_TICK = timedelta(microseconds=1)


class InboxInput(BaseModel):
    """The agent, the size of batches, and the state of an earlier run.

    A batch is stored once it has `batch` signals, or `window` after its first one.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id
    batch: int = Field(200, ge=1, le=1000)
    window: timedelta = timedelta(milliseconds=300)
    pending: tuple[Signal, ...] = ()
    kept: int = 0
    refused: int = 0
    last_error: str | None = None


@workflow.defn(name=AGENT_INBOX, sandboxed=False)
@takes_input(InboxInput)
class AgentInbox:
    """Waits for signals and stores them.

    After an hour without signals it ends, and the next signal starts it again. Its state is in the database, and
    no worker of an old build has to stay for an idle inbox.
    """

    @workflow.init
    def __init__(self, params: InboxInput) -> None:
        self._params = params
        self._pending = list(params.pending)
        self._stored, self._refused = params.kept, params.refused
        self._last_error = params.last_error
        self._poked, self._has_stored = False, False
        # All signals come in raw: an unknown one would otherwise be dropped, or block the others.
        workflow.set_dynamic_signal_handler(self._on_signal)
        answer_query(STATUS, self.status)

    @workflow.run
    async def run(self, params: InboxInput) -> InboxStatus:
        """Stores signals until none has come for an hour; if cancelled, those that have come."""
        require_own_tenant(params.tenant_id)
        try:
            while await self._has_signals():
                await self._gather(params.window)
                await self._store(self._next_batch())
        except asyncio.CancelledError:
            while self._pending:
                await self._try_to_store(self._next_batch())
            raise
        return self.status()

    def status(self) -> InboxStatus:
        """The answer to the query `status`."""
        return InboxStatus(
            pending=len(self._pending),
            kept=self._stored,
            refused=self._refused,
            last_error=self._last_error,
        )

    def _on_signal(self, name: str, payloads: Sequence[RawValue]) -> None:
        if name == POKE:
            self._poked = True
            return
        now: datetime = workflow.now()
        at = max(now, self._pending[-1].at + _TICK) if self._pending else now
        raw = [
            (each.metadata.get("encoding", b"").decode(errors="replace"), each.data)
            for each in (one.payload for one in payloads)
        ]
        self._pending.append(signal_of(name, raw, at=at))

    async def _has_signals(self) -> bool:
        """Waits until there are signals; False if none came for an hour."""
        if not self._pending and not self._is_renewal_due():
            with suppress(TimeoutError):
                await workflow.wait_condition(
                    lambda: bool(self._pending) or self._is_renewal_due(), timeout=_REST
                )
        if self._is_renewal_due():
            self._renew()
        return bool(self._pending)

    async def _gather(self, window: timedelta) -> None:
        """Waits for the rest of a batch."""
        if not self._is_full():
            with suppress(TimeoutError):
                await workflow.wait_condition(self._is_full, timeout=window)

    async def _store(self, batch: Sequence[Signal]) -> None:
        """Stores a batch; while the database is down, that continues in new runs."""
        storing = asyncio.create_task(self._try_to_store(batch))
        try:
            await workflow.wait_condition(lambda: storing.done() or self._is_renewal_due())
        except asyncio.CancelledError:
            await storing
            raise
        if not storing.done():
            self._renew()
        storing.result()

    async def _try_to_store(self, batch: Sequence[Signal]) -> None:
        params = StoreSignalsInput(
            tenant_id=self._params.tenant_id, agent_id=self._params.agent_id, signals=tuple(batch)
        )
        try:
            result = await run_to_the_end(InboxActivities.keep, params, timeout=_STORE_TIMEOUT)
        except ActivityError as error:
            # Malformed signals are parked; this is a wrong schema, or a fault of ours.
            self._last_error = str(error.cause or error)
            await workflow.sleep(_TRY_AGAIN)
            return
        del self._pending[: len(batch)]
        self._has_stored = True
        self._stored += len(batch) - len(result.refused)
        self._refused += len(result.refused)
        self._last_error = result.refused[-1] if result.refused else self._last_error

    def _next_batch(self) -> list[Signal]:
        """The oldest signals, as many as are stored at once."""
        batch: list[Signal] = []
        room = _MOST_BYTES
        for signal in self._pending[: self._params.batch]:
            room -= signal.size_bytes + _AROUND
            if room < 0 and batch:
                break
            batch.append(signal)
        return batch

    def _is_full(self) -> bool:
        return len(self._pending) >= self._params.batch or self._pending_bytes() > _MOST_BYTES

    def _pending_bytes(self) -> int:
        return sum(signal.size_bytes + _AROUND for signal in self._pending)

    def _is_renewal_due(self) -> bool:
        """Whether to continue in a new run: for a long history, a newer build, or a poke.

        With more pending signals than a new run can carry, the inbox first stores some. A run that has stored
        nothing does not change to a newer build: if a person has pinned it to its build, runs would follow
        each other without end.
        """
        info = workflow.info()
        newer = self._has_stored and info.is_target_worker_deployment_version_changed()
        due = self._poked or newer or info.is_continue_as_new_suggested()
        return due and self._pending_bytes() <= _MOST_BYTES

    def _renew(self) -> None:
        status = self.status().model_dump(exclude={"pending"})
        carried = self._params.model_copy(update={**status, "pending": tuple(self._pending)})
        workflow.continue_as_new(
            carried, initial_versioning_behavior=ContinueAsNewVersioningBehavior.AUTO_UPGRADE
        )

"""Keeping what an agent is told: the step of `AgentInbox`."""

import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.knowledge.inbox_messages import store_signals
from mnestic.activities.knowledge.ingest_starts import start_ingest_here
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.inbox import Signal, refused_resource
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import Id

log = logging.getLogger("mnestic.inbox")


class StoreSignalsInput(BaseModel):
    """Signals as they came, in their order."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id
    signals: tuple[Signal, ...]


class StoreSignalsResult(BaseModel):
    """How many messages were new, and why signals were refused: one line each."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    new: int = 0
    refused: tuple[str, ...] = ()


class InboxActivities:
    """What an inbox does to memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.keep_signals")
    async def keep(self, params: StoreSignalsInput) -> StoreSignalsResult:
        """Keeps what signals say, each an entry at once, and has it learned from.

        A signal that cannot be kept is parked with its reason, and the others are kept all the same.

        Idempotent: what was kept before, by this attempt's like or under the same id, changes nothing.
        """
        with failures():
            refused: list[str] = []
            try:
                new = await self._keep(params, params.signals)
            except InvalidInputError:
                new = 0
                for signal in params.signals:
                    try:
                        new += await self._keep(params, [signal])
                    except InvalidInputError as error:
                        refused.append(await self._park(params, signal, str(error)))
            await start_ingest_here(tenant_id=params.tenant_id, agent_id=params.agent_id)
        return StoreSignalsResult(new=new, refused=tuple(refused))

    async def _keep(self, params: StoreSignalsInput, signals: Sequence[Signal]) -> int:
        """Keeps signals, all or none; returns how many messages were new.

        Raises:
            InvalidInputError: one of them cannot be kept.
        """
        async with self._transaction(params) as transaction:
            owner = f"{params.tenant_id}/{params.agent_id}"
            return await store_signals(transaction, signals, owner=owner)

    async def _park(self, params: StoreSignalsInput, signal: Signal, reason: str) -> str:
        """Sets a signal aside, for a person to look at; returns why."""
        log.warning("parked", extra={"signal": signal.name[:64], "why": reason})
        async with self._transaction(params) as transaction:
            begun = await transaction.ingest_states.receive(
                [IncomingMessage(resource=refused_resource(signal))]
            )
            for lesson in begun.lessons:
                await transaction.ingest_states.park(lesson, reason=reason)
        return reason

    def _transaction(self, params: StoreSignalsInput) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=params.agent_id, actor="inbox", write=True
        )

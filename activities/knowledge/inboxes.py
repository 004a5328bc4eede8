"""The activity of `AgentInbox`: stores signals as messages."""

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
    """Writes of an inbox."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.keep_signals")
    async def keep(self, params: StoreSignalsInput) -> StoreSignalsResult:
        """Stores the messages of signals, each as an entry, and starts their extraction.

        A signal that cannot be stored is parked with the reason; the others are stored.

        Idempotent: by the ids of messages; one that is stored already changes nothing.
        """
        with failures():
            refused: list[str] = []
            try:
                new = await self._store(params, params.signals)
            except InvalidInputError:
                new = 0
                for signal in params.signals:
                    try:
                        new += await self._store(params, [signal])
                    except InvalidInputError as error:
                        refused.append(await self._park(params, signal, str(error)))
            await start_ingest_here(tenant_id=params.tenant_id, agent_id=params.agent_id)
        return StoreSignalsResult(new=new, refused=tuple(refused))

    async def _store(self, params: StoreSignalsInput, signals: Sequence[Signal]) -> int:
        """Stores signals, all or none; returns how many messages were new.

        Raises:
            InvalidInputError: one of them cannot be stored.
        """
        async with self._transaction(params) as transaction:
            owner = f"{params.tenant_id}/{params.agent_id}"
            return await store_signals(transaction, signals, owner=owner)

    async def _park(self, params: StoreSignalsInput, signal: Signal, reason: str) -> str:
        """Parks a signal for a person to look at; returns the reason."""
        log.warning("parked", extra={"signal": signal.name[:64], "why": reason})
        async with self._transaction(params) as transaction:
            begun = await transaction.ingest_states.receive(
                [IncomingMessage(resource=refused_resource(signal))]
            )
            for message in begun.messages:
                await transaction.ingest_states.park(message, reason=reason)
        return reason

    def _transaction(self, params: StoreSignalsInput) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=params.agent_id, actor="inbox", write=True
        )

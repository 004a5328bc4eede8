"""Doing a memory write once, however often its activity runs."""

import uuid
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from mnestic.activities.callers import Caller
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import Scope

Result = TypeVar("Result", bound=BaseModel)
_IDS = uuid.UUID("6c1f8f0e-3a1b-4d55-9b57-6d6e65737469")


class OperationInput(BaseModel):
    """The input of every activity that writes memory."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    scope: Scope
    operation: Operation

    @property
    def actor(self) -> str:
        """Who asks, for the audit log."""
        job_id = self.operation.job_id
        return f"job/{job_id}" if job_id else f"session/{self.scope.session_id}"

    @property
    def owner(self) -> str:
        """Whose memory it is: tenant and agent."""
        return f"{self.scope.tenant_id}/{self.scope.agent_id}"

    @property
    def request_hash(self) -> str:
        """The request without its key.

        Only what was said counts, so that a field of a later version does not change the hash of a
        request that waits for its next attempt.
        """
        document = self.model_dump(mode="json", exclude={"operation"}, exclude_unset=True)
        return self.operation.request_hash(document)

    def new_id(self, kind: str) -> str:
        """An id for what the operation makes; the same at each attempt."""
        return str(uuid.uuid5(_IDS, f"{self.scope.tenant_id}/{self.operation.key}/{kind}"))

    def transaction(self, memory: Memory, *, write: bool) -> Any:
        """A transaction on the scope's memory."""
        return memory.transaction(
            tenant_id=self.scope.tenant_id,
            agent_id=self.scope.agent_id,
            actor=self.actor,
            write=write,
        )

    def caller(self, memory: Memory) -> Caller:
        """The caller whose account pays for a search."""
        return Caller(
            memory=memory,
            tenant_id=self.scope.tenant_id,
            agent_id=self.scope.agent_id,
            actor=self.actor,
            session_id=self.scope.session_id,
            job_id=self.operation.job_id,
        )

    def count_accesses(self, memory: Memory, entry_ids: Iterable[str]) -> None:
        """Counts accesses of entries of the agent."""
        memory.count_accesses(
            tuple(entry_ids), tenant_id=self.scope.tenant_id, agent_id=self.scope.agent_id
        )


async def run_once(
    memory: Memory,
    params: OperationInput,
    result_type: type[Result],
    *,
    work: Callable[[Transaction], Awaitable[Result]],
    beside: Callable[[Transaction], Awaitable[None]] | None = None,
) -> Result:
    """Does the work in one transaction with its ledger row, or returns what it gave before.

    Args:
        memory: Where both are written.
        params: The operation and its request.
        result_type: What the work gives.
        work: Done once.
        beside: Done each time, also when another attempt did the work first, such as writing down
            what this attempt has paid for.

    Raises:
        IdempotencyConflictError: the operation's key was used for another request.
    """
    async with params.transaction(memory, write=True) as transaction:
        if beside is not None:
            await beside(transaction)
        stored = await transaction.replay(params.operation, params.request_hash)
        if stored is not None:
            return result_type.model_validate(stored)
        result = await work(transaction)
        await transaction.complete(params.operation, result.model_dump(mode="json"))
        return result


async def find_done(
    transaction: Transaction, params: OperationInput, result_type: type[Result]
) -> Result | None:
    """The result of the operation if it was done before, so that a model is not called twice."""
    stored = await transaction.find_result(params.operation, params.request_hash)
    return None if stored is None else result_type.model_validate(stored)

"""A write that is done once: what a client writes, its result and an idempotency key in one transaction.

It stands apart from `activities/operations.py`, which does so for activities, since here the work is calls of a memory client.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from mnestic.activities.callers import Caller
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory, Transaction

Result = TypeVar("Result", bound=BaseModel)


class _JoinedMemory:
    """A memory of which all transactions are one that is open already."""

    def __init__(self, memory: Memory, transaction: Transaction) -> None:
        self._memory, self._transaction = memory, transaction

    @asynccontextmanager
    async def transaction(self, **_: Any) -> AsyncIterator[Transaction]:
        """The open transaction, which somebody else ends."""
        yield self._transaction

    def __getattr__(self, name: str) -> Any:
        """All else, as the memory does it."""
        return getattr(self._memory, name)


async def write_once(
    caller: Caller,
    *,
    key: str,
    request: Mapping[str, Any],
    result_type: type[Result],
    work: Callable[[Memory], Awaitable[Result]],
) -> Result:
    """Does the work once, with the memory that it is given; the same key with the same request gets the first result.

    Raises:
        IdempotencyConflictError: the key was used for another request.
    """
    operation = Operation(key=f"request/{caller.agent_id}/{key}", name="request")
    async with caller(write=True) as transaction:
        stored = await transaction.replay(operation, operation.request_hash(dict(request)))
        if stored is not None:
            return result_type.model_validate(stored)
        result = await work(cast(Memory, _JoinedMemory(caller.memory, transaction)))
        await transaction.complete(operation, result.model_dump(mode="json"))
        return result

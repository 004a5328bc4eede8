"""Requests with an idempotency key: a write with its result in one transaction, or an id for what Temporal does once.

What Temporal cannot do once by an id, such as pausing a job, is done before its result is stored.

`activities/operations.py` does so for activities; here the work is calls of a client.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from mnestic.activities.callers import Caller
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory, Transaction

Result = TypeVar("Result", bound=BaseModel)
_REQUESTS = uuid.UUID("6d0c7f0e-5a3b-4c55-9d0b-0f3a1f0c9a35")  # the namespace of their ids


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


@dataclass(frozen=True, kw_only=True)
class ReservedRequest:
    """A request that has a key, and the id that follows from it; `is_new` unless it came before."""

    id: str
    is_new: bool


async def reserve_request_id(
    caller: Caller, *, key: str, request: Mapping[str, Any]
) -> ReservedRequest:
    """Reserves a key for a request.

    Raises:
        IdempotencyConflictError: the key was used for another request.
    """
    operation = _operation(caller, key)
    async with caller(write=True) as transaction:
        stored = await transaction.replay(operation, operation.request_hash(dict(request)))
        if stored is None:
            await transaction.complete(operation, {})
    name = f"{caller.tenant_id}/{operation.key}"
    return ReservedRequest(id=uuid.uuid5(_REQUESTS, name).hex, is_new=stored is None)


async def act_once(
    caller: Caller,
    *,
    key: str,
    request: Mapping[str, Any],
    result_type: type[Result],
    act: Callable[[str], Awaitable[Result]],
) -> Result:
    """Acts outside of the database, and stores the result; the same key with the same request gets the first result.

    A request that comes before the first result is stored, such as after a crash, acts again under the same id.

    Raises:
        IdempotencyConflictError: the key was used for another request.
    """
    reserved = await reserve_request_id(caller, key=key, request=request)
    result_of = Operation(key=f"result/{caller.agent_id}/{key}", name="result")
    request_hash = result_of.request_hash(dict(request))
    async with caller(write=False) as transaction:
        stored = await transaction.find_result(result_of, request_hash)
    if stored is not None:
        return result_type.model_validate(stored)
    result = await act(reserved.id)
    async with caller(write=True) as transaction:
        stored = await transaction.replay(result_of, request_hash)
        if stored is not None:  # of the same request at the same time
            return result_type.model_validate(stored)
        await transaction.complete(result_of, result.model_dump(mode="json"))
    return result


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
    operation = _operation(caller, key)
    async with caller(write=True) as transaction:
        stored = await transaction.replay(operation, operation.request_hash(dict(request)))
        if stored is not None:
            return result_type.model_validate(stored)
        result = await work(cast(Memory, _JoinedMemory(caller.memory, transaction)))
        await transaction.complete(operation, result.model_dump(mode="json"))
        return result


def _operation(caller: Caller, key: str) -> Operation:
    return Operation(key=f"request/{caller.agent_id}/{key}", name="request")

"""Namespaces of shared memory, as their grants give them, and locks, as the contract of an agent says."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from mnestic.activities.jobs.segments import SegmentInput, find_section
from mnestic.memory.contract.document import Coordination, Shared
from mnestic.memory.errors import LockedError
from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.operation_arguments import OperationArguments
from mnestic.memory.ports import Transaction
from mnestic.memory.sharing.locks import Lock
from mnestic.memory.sharing.namespaces import SharedRecord
from mnestic.memory.sharing.ports import SharedMemoryStore
from mnestic.memory.sharing.shared_operations import (
    DeleteSharedArguments,
    DropNamespaceArguments,
    GetSharedArguments,
    GrantArguments,
    ListGrantsArguments,
    ListSharedArguments,
    LockArguments,
    RevokeArguments,
    SetSharedArguments,
    UnlockArguments,
)

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 1.0  # before another attempt to take a lock
_JITTER = random.SystemRandom()
Result = TypeVar("Result")


async def find_coordination(transaction: Transaction, contract: ContractRef | None) -> Coordination:
    """How an agent locks by a version of a contract."""
    section = await find_section(transaction, contract, "shared")
    return Coordination() if section is None else Shared.model_validate(section).coordination


async def try_again(work: Callable[[], Awaitable[Result]], *, retries: int) -> Result:
    """Does work, and again after a pause, of which a part is chance, while another holds the lock that it takes.

    Raises:
        LockedError: another holds it at the last attempt too.
    """
    for attempt in range(retries):
        try:
            return await work()
        except LockedError:
            pause = min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S)
            await asyncio.sleep(pause * _JITTER.uniform(0.5, 1))
    return await work()


async def count_retries(
    transaction: Transaction, contract: ContractRef | None, arguments: OperationArguments
) -> int:
    """How often an operation is tried again while another holds a lock."""
    if not isinstance(arguments, LockArguments):
        return 0
    return (await find_coordination(transaction, contract)).retry_count


async def use_shared_memory(
    transaction: Transaction, params: SegmentInput, arguments: OperationArguments
) -> BaseModel:
    """Does an operation of shared memory.

    Raises:
        AccessDeniedError: the agent has no grant of the namespace, or one of a lower level.
        NotFoundError: there is no such record.
        LockedError: another holds the lock of the key.
        LockLostError: the lock of a write has ended.
        StaleVersionError: the record has another version.
        KeptOutError: what is written speaks of what was forgotten and is kept out.
    """
    shared = transaction.shared_memory
    if isinstance(arguments, SetSharedArguments):
        return await _set(transaction, arguments)
    if isinstance(arguments, LockArguments):
        return await _lock(shared, arguments, await find_coordination(transaction, params.contract))
    methods: dict[type[OperationArguments], Callable[[Any], Awaitable[BaseModel]]] = {
        GetSharedArguments: shared.get,
        DeleteSharedArguments: shared.delete,
        ListSharedArguments: shared.list_records,
        UnlockArguments: shared.unlock,
        GrantArguments: shared.grant,
        RevokeArguments: shared.revoke,
        ListGrantsArguments: shared.list_grants,
        DropNamespaceArguments: shared.drop,
    }
    return await methods[type(arguments)](arguments)


async def _set(transaction: Transaction, arguments: SetSharedArguments) -> SharedRecord:
    """Writes a record, unless it speaks of what was forgotten and is kept out."""
    transaction.suppression_list.load_ahead()
    record = await transaction.shared_memory.set(arguments)
    texts = texts_of([record.namespace, record.key, record.value, record.metadata])
    await transaction.suppression_list.check(*texts, what="record")  # a refusal undoes the write
    return record


async def _lock(
    shared: SharedMemoryStore, arguments: LockArguments, coordination: Coordination
) -> Lock:
    strategy = coordination.lock_strategy
    if strategy != "pessimistic":
        return await shared.read_version(arguments, strategy=strategy)
    if "timeout_ms" not in arguments.model_fields_set:
        arguments = arguments.model_copy(update={"timeout_ms": coordination.lock_timeout_ms})
    return await shared.lock(arguments)

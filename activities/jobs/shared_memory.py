"""Namespaces of shared memory, as their grants give them, and locks, as the contract of an agent says."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

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
    GrantList,
    ListGrantsArguments,
    ListSharedArguments,
    LockArguments,
    Removed,
    RevokeArguments,
    SetSharedArguments,
    SharedRecordPage,
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
) -> BaseModel | None:
    """Does an operation of shared memory; None if it is none.

    Raises:
        AccessDeniedError: the agent has no grant of the namespace, or one of a lower level.
        NotFoundError: there is no such record.
        LockedError: another holds the lock of the key.
        LockLostError: the lock of a write has ended.
        StaleVersionError: the record has another version.
        KeptOutError: what is written speaks of what was forgotten and is kept out.
    """
    shared = transaction.shared_memory
    match arguments:
        case SetSharedArguments():
            return await _set(transaction, arguments)
        case LockArguments():
            rules = await find_coordination(transaction, params.contract)
            return await _lock(shared, arguments, rules)
        case GrantArguments(namespace=namespace, selector=selector, level=level):
            return await shared.grant(namespace, selector, level)
    count = await _remove(shared, arguments)
    return await _read(shared, arguments) if count is None else Removed(count=count)


async def _remove(shared: SharedMemoryStore, arguments: OperationArguments) -> int | None:
    """How much there is no more after an operation; None of one that removes nothing."""
    match arguments:
        case DeleteSharedArguments(namespace=namespace, key=key, token=token):
            version = arguments.expected_version
            await shared.delete(namespace, key, expected_version=version, token=token)
            return 1
        case UnlockArguments(namespace=namespace, key=key, token=token):
            return await shared.unlock(namespace, key, token)
        case RevokeArguments(namespace=namespace, selector=selector):
            return await shared.revoke(namespace, selector)
        case DropNamespaceArguments(namespace=namespace):
            return await shared.drop(namespace)
    return None


async def _read(shared: SharedMemoryStore, arguments: OperationArguments) -> BaseModel | None:
    match arguments:
        case GetSharedArguments(namespace=namespace, key=key):
            return await shared.get(namespace, key)
        case ListSharedArguments(namespace=namespace, limit=limit, cursor=cursor):
            records, following = await shared.list_records(namespace, limit=limit, cursor=cursor)
            return SharedRecordPage(records=records, next_cursor=following)
        case ListGrantsArguments(namespace=of_namespace):
            return GrantList(grants=await shared.list_grants(of_namespace))
    return None


async def _set(transaction: Transaction, arguments: SetSharedArguments) -> SharedRecord:
    """Writes a record, unless it speaks of what was forgotten and is kept out."""
    transaction.suppression_list.load_ahead()
    named = arguments.model_dump(exclude={"ttl_seconds"})
    seconds = arguments.ttl_seconds
    ttl = None if seconds is None else timedelta(seconds=seconds)
    record = await transaction.shared_memory.set(**named, ttl=ttl)
    texts = texts_of([record.namespace, record.key, record.value, record.metadata])
    await transaction.suppression_list.check(*texts, what="record")  # a refusal undoes the write
    return record


async def _lock(
    shared: SharedMemoryStore, arguments: LockArguments, coordination: Coordination
) -> Lock:
    strategy = coordination.lock_strategy
    if strategy != "pessimistic":
        return await shared.read_version(arguments.namespace, arguments.key, strategy=strategy)
    is_given = "timeout_ms" in arguments.model_fields_set
    milliseconds = arguments.timeout_ms if is_given else coordination.lock_timeout_ms
    lasts = timedelta(milliseconds=milliseconds)
    return await shared.lock(arguments.namespace, arguments.key, lasts=lasts)

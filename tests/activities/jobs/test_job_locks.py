"""Locks of a job: an activity that is retried has the same lease, and its writes carry the token."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.jobs.collections import Collections
from mnestic.activities.jobs.contracts import ContractActivities, OperateInput, OperateResult
from mnestic.activities.jobs.segments import SegmentWriter
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.memory_wiring import local_models
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.activities.learning_models import Begin

KEY = {"namespace": "seo:audit", "key": "site-7"}
RULES = {"lock_strategy": "pessimistic", "lock_timeout_ms": 60_000, "retry_count": 1}
Operate = Callable[..., Awaitable[OperateResult]]


@pytest.fixture
async def operate(
    memory: Memory, begin: Begin, scope: Scope, operation: Callable[..., Operation]
) -> Operate:
    """Does an operation of job `j1` at a step."""
    local = LocalSummariser()
    segments = SegmentWriter(memory, count_tokens=count_tokens, extractive=local, summariser=local)
    collections = Collections(local_models(), count_tokens=count_tokens)
    activities = ContractActivities(memory, ScopeRetriever(), segments, collections=collections)
    shared = {"Memory": {"shared": {"enabled": True, "coordination": RULES}}}
    async with begin() as transaction:
        await transaction.contracts.add("ada", shared, sha256="0", applied_by="test")
        await transaction.shared_memory.replace_grants("ada", [("seo:audit", "ada", "write")])

    async def operate(step: int, name: Any, **arguments: Any) -> OperateResult:
        asked = OperateInput(
            scope=scope,
            operation=operation(step, name),
            contract=ContractRef(selector="ada", version=1),
            name=name,
            arguments=KEY | arguments,
            save_as="saved",
        )
        return await ActivityEnvironment().run(activities.operate, asked)

    return operate


async def test_an_attempt_that_is_repeated_has_the_lease_of_the_first(operate: Operate) -> None:
    first = await operate(1, "lock")
    again = await operate(1, "lock")
    with pytest.raises(ApplicationError, match="is locked by agent ada") as refused:
        await operate(2, "lock")

    assert first.lock is not None
    assert again == first
    assert refused.value.type == "LockedError"
    assert refused.value.non_retryable


async def test_a_write_under_a_lock_is_done_once_and_ends_with_it(operate: Operate) -> None:
    lock = (await operate(1, "lock")).lock
    assert lock is not None
    for _ in range(2):
        await operate(2, "set_shared", value=1, token=lock.token)
    for _ in range(2):
        await operate(3, "unlock", token=lock.token)

    with pytest.raises(ApplicationError, match="has ended; lock it again") as refused:
        await operate(4, "set_shared", value=2, token=lock.token)
    await operate(5, "set_shared", value=3, expected_version=1)

    assert refused.value.type == "LockLostError"

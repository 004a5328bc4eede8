"""The model of the wait: plain Python beside the real tables, and what it foretells of a restore.

It stands apart from the rules of its state machine, which are in `test_wait_machine.py`.
"""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis.stateful import RuleBasedStateMachine
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.jobs.endings import EndingActivities
from mnestic.activities.jobs.memories import MemoryActivities
from mnestic.activities.jobs.waits import OpenWaitInput, RestoreInput, WaitActivities
from mnestic.memory.jobs.long_term.records import ReadRecord
from mnestic.memory.jobs.snapshots import Drift
from mnestic.memory.jobs.waits import (
    OpenWait,
    Restored,
    ResumeRequest,
    ResumptionContext,
    WaitPolicy,
    WaitState,
)
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.names import wait_operation_key
from mnestic.memory.operations import Operation
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from mnestic.stores.postgres.memory import PostgresMemory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Wait:
    """A wait in the model: what was sealed when it opened, and how it ended."""

    open: OpenWait
    seen: dict[str, ReadRecord]
    kept: WorkingMemory
    body: bytes
    state: WaitState = "waiting"
    decided: Restored | None = None
    corrupted: bool = False


def working_memory_in(sealed: dict[str, Any]) -> dict[str, Any]:
    """Working memory, with its version, in the document of a snapshot."""
    kept = {"version": sealed["working_version"], "last_checkpoint": sealed["last_checkpoint"]}
    return sealed["working_memory"] | kept


class WaitModel(RuleBasedStateMachine):
    """What one job of one session has in mind, and the activities that are asked beside it."""

    def __init__(self, url: str, admin_url: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.memory = PostgresMemory(url, pool_size=2)
        self.owner = psycopg.connect(admin_url, autocommit=True)
        self.scope = Scope(tenant_id=f"t-{uuid.uuid4().hex[:12]}", agent_id="ada", session_id="s1")
        self.waiting = WaitActivities(self.memory, ScopeRetriever())
        self.remembering = MemoryActivities(self.memory, ScopeRetriever(), LocalSummariser())
        self.ending = EndingActivities(self.memory, LocalSummariser())
        self.step, self.over = 0, False
        self.records: dict[str, tuple[int, Any]] = {}
        self.reads: dict[str, ReadRecord] = {}
        self.state = WorkingMemory()
        self.waits: list[Wait] = []
        self.used: dict[str, str] = {}
        self.extended: dict[str, datetime] = {}
        self.reasons: list[tuple[str, str, str]] = []
        self.aside: dict[str, WorkingMemory] = {}

    def teardown(self) -> None:
        self.runner.run(self.memory.close())
        self.runner.close()
        self.owner.close()

    def runs(self) -> bool:
        return not self.over and not self.waits_now()

    def waits_now(self) -> bool:
        return bool(self.waits) and self.waits[-1].state == "waiting"

    # How a restore is foretold.

    def restore(self, wait: Wait, request: ResumeRequest | None) -> None:
        wait_id = wait.open.wait_id
        asked = RestoreInput(
            scope=self.scope,
            operation=self.of_wait(wait_id, "restore"),
            wait=wait.open,
            request=request,
            restored_at=NOON + timedelta(hours=self.step),
        )
        refusal = self.refusal(wait, request)
        if refusal is not None:
            self.refused(self.waiting.restore, asked, type_=refusal)
            return
        restored = self.run(self.waiting.restore, asked)
        if wait.decided is None:
            self.decide(wait, request, restored, aside=asked.new_id("set-aside"))
        assert restored == wait.decided

    def refusal(self, wait: Wait, request: ResumeRequest | None) -> str | None:
        """The error that a restore ends with, or None if it gives what was decided, or decides."""
        if wait.decided is not None:
            return None
        override = request.override if request else None
        policy = override.policy if override else wait.open.policy
        if request and self.used.get(request.request_id, wait.open.wait_id) != wait.open.wait_id:
            return "ResumeRefusedError"
        if wait.corrupted and not (override and policy == "rebase"):
            return "SnapshotCorruptedError"
        if policy == "strict" and self.drift(wait):
            return "MemoryDriftedError"
        return "StaleVersionError" if wait.state == "cancelled" else None

    def decide(
        self, wait: Wait, request: ResumeRequest | None, restored: Restored, *, aside: str
    ) -> None:
        """The first restore of a wait: what it decided, and what is in the job's mind after it."""
        told, override = self.drift(wait), request.override if request else None
        policy = override.policy if override else wait.open.policy
        assert restored.request == request
        assert list(restored.drift) == [change for change, _ in told]
        if policy == "pinned":
            if self.state.version != wait.kept.version:
                self.aside[aside] = self.state
                self.state = bumped(wait.kept.model_copy(update={"version": self.state.version}))
            pinned = {"pinned": True}
            self.reads = {key: read.model_copy(update=pinned) for key, read in wait.seen.items()}
        else:
            values = [change.model_dump(mode="json") | values for change, values in told]
            with_drift = self.state.with_variables({"drift": values or None})
            self.state = self.state if with_drift == self.state else bumped(with_drift)
            self.reads = {key: self.now(key) for key in self.reads}
        wait.state, wait.decided = "resumed" if request else "timed_out", restored
        assert (restored.receipt is None) == (request is None)
        if request is None or restored.receipt is None:
            return
        receipt = restored.receipt
        assert (receipt.request_id, receipt.outcome) == (request.request_id, request.outcome)
        assert (receipt.verified, receipt.override) == (not wait.corrupted, override)
        self.used[request.request_id] = wait.open.wait_id
        if override:
            action = f"wait.override.{policy}"
            self.reasons.append((action, wait.open.wait_id, override.reason))

    def drift(self, wait: Wait) -> list[tuple[Drift, dict[str, Any]]]:
        """What changed since the snapshot, with the values that the job is told."""
        told = []
        for key, read in sorted(wait.seen.items()):
            now = self.now(key)
            if read.version == now.version or (read.value, now.value) == (None, None):
                continue
            changed = "created" if read.value is None else "changed"
            kind = changed if now.value is not None else "deleted"
            told.append(drift(kind, "p", key, was=read.version, now=now.version))
            told[-1][1].update({"before": read.value, "now": now.value})
        was, now_at = wait.kept.version, self.state.version
        if not wait.corrupted and was != now_at:
            told.append(drift("changed", "", "working_memory", was=was, now=now_at))
        return told

    # Means.

    def run(self, activity: Callable[..., Any], asked: Any) -> Any:
        self.step += 1
        return self.runner.run(ActivityEnvironment().run(activity, asked))

    def refused(self, activity: Callable[..., Any], asked: Any, *, type_: str) -> None:
        with pytest.raises(ApplicationError) as caught:
            self.run(activity, asked)
        assert (caught.value.type, caught.value.non_retryable) == (type_, True)

    def transact(self, work: Callable[[Any], Any]) -> Any:
        async def transaction() -> Any:
            async with self.memory.transaction(
                tenant_id=self.scope.tenant_id, agent_id="ada", actor="other", write=True
            ) as transaction:
                return await work(transaction)

        return self.runner.run(transaction())

    def now(self, key: str) -> ReadRecord:
        version, value = self.records.get(key, (0, None))
        return ReadRecord(namespace="p", key=key, version=version, value=value)

    def next(self, name: str) -> Operation:
        return Operation(key=f"j1/0/{self.step}/{name}", name=name, job_id="j1")

    def of_wait(self, wait_id: str, name: str) -> Operation:
        return Operation(key=wait_operation_key(wait_id, name), name=name, job_id="j1")

    def opening(self, number: int, policy: WaitPolicy, *, late: int = 0) -> OpenWaitInput:
        opened_at = NOON + timedelta(days=number + late)
        return OpenWaitInput(
            scope=self.scope,
            operation=self.of_wait(f"j1/w{number}", "open"),
            wait_id=f"j1/w{number}",
            key="approval",
            policy=policy,
            context=ResumptionContext(cursor_node="w", plan_decision_id="p"),
            outcomes=("approved", "refused"),
            opened_at=opened_at,
            deadline=opened_at + timedelta(days=21),
        )

    def bodies(self) -> dict[str, bytes]:
        rows = self.owner.execute(
            "SELECT id, body FROM mnestic.memory_snapshot WHERE tenant_id = %s",
            [self.scope.tenant_id],
        )
        return dict(rows.fetchall())


def bumped(state: WorkingMemory) -> WorkingMemory:
    return state.model_copy(update={"version": state.version + 1})


def drift(
    kind: str, namespace: str, key: str, *, was: int, now: int
) -> tuple[Drift, dict[str, Any]]:
    fields = {"kind": kind, "namespace": namespace, "key": key}
    versions = {"snapshot_version": was, "current_version": now}
    return Drift.model_validate(fields | versions), {"before": None, "now": None}


async def look(transaction: Any) -> tuple[Any, Any, Any]:
    state = await transaction.working.load("s1")
    waits, _ = await transaction.waits.list_by_job("j1")
    return state, await transaction.records.list_reads("j1"), waits

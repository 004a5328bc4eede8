"""A state machine of the wait: whatever comes, in whatever order, it ends once, as was decided first.

The model is plain Python beside the real tables. Each step asks the activities as a workflow would, or
as an attempt of it that was lost, and compares all that the job has in mind.
"""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from psycopg.errors import RaiseException

from mnestic.activities.jobs.endings import EndJobInput
from mnestic.activities.jobs.memories import RecallInput, RememberInput
from mnestic.activities.jobs.waits import ExtendWaitInput
from mnestic.memory.jobs.recalls import RecallQuery
from mnestic.memory.jobs.refusals import extension_refusal
from mnestic.memory.jobs.waits import (
    ExtendRequest,
    OpenWait,
    Override,
    ResumeRequest,
    WaitPolicy,
)
from mnestic.memory.jobs.writes import MemoryWrite
from mnestic.memory.operations import Operation
from tests.activities.jobs.wait_model import NOON, Wait, WaitModel, bumped, look, working_memory_in

# The same examples each time: a few are enough where nothing new is tried.
_EXAMPLES = 100 if hypothesis_settings.get_current_profile_name() == "new" else 12
QUICK = hypothesis_settings(max_examples=_EXAMPLES, stateful_step_count=25, deadline=None)
FAST = "&options=-c%20synchronous_commit%3Doff"  # no power fails here
KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.integers(0, 9)
CHANGES = st.lists(st.tuples(KEYS, st.none() | VALUES), max_size=3)
POLICIES = st.sampled_from(["pinned", "rebase", "strict"])
OVERRIDES = st.builds(
    Override,
    reason=st.sampled_from(["seen", "agreed"]),
    policy=st.sampled_from(["rebase", "pinned"]),
)
REQUESTS = st.builds(
    ResumeRequest,
    request_id=st.integers(1, 9).map("r{}".format),
    outcome=st.sampled_from(["approved", "refused"]),
    payload=VALUES,
    override=st.none() | OVERRIDES,
)


class WaitMachine(WaitModel):
    """One job of one session, a worker whose attempts may be lost, and other clients."""

    # The job between its waits.

    @initialize(keys=st.sets(KEYS, min_size=2), policy=POLICIES)
    def the_job_begins_to_wait(self, keys: set[str], policy: WaitPolicy) -> None:
        self.others_write_and_delete([("a", 0), ("b", 1)], note=True)
        self.the_job_recalls(keys)
        self.the_wait_opens(policy)

    @precondition(WaitModel.runs)
    @rule(keys=st.sets(KEYS, min_size=2))
    def the_job_recalls(self, keys: set[str]) -> None:
        query = RecallQuery.model_validate({"records": [{"namespace": "p", "keys": sorted(keys)}]})
        asked = RecallInput(
            scope=self.scope, operation=self.next("recall"), query=query, save_as="seen"
        )

        self.run(self.remembering.recall, asked)

        for key in keys:
            if not (key in self.reads and self.reads[key].pinned):
                self.reads[key] = self.now(key)
        values = {key: self.reads[key].value for key in keys if self.reads[key].value is not None}
        found = {"records": {"p": values} if values else {}, "episodes": []}
        self.state = bumped(self.state.with_variables({"seen": found}))

    @precondition(WaitModel.runs)
    @rule(key=KEYS, value=VALUES)
    def the_job_writes(self, key: str, value: int) -> None:
        write = {"records": [{"namespace": "p", "key": key, "value": value}]}
        asked = RememberInput(
            scope=self.scope,
            operation=self.next("remember"),
            write=MemoryWrite.model_validate(write),
        )

        self.run(self.remembering.remember, asked)

        self.records[key] = (self.now(key).version + 1, value)
        self.reads[key] = self.now(key)

    # What others do to memory, at any time.

    @rule(changes=CHANGES, note=st.booleans())
    def others_write_and_delete(self, changes: list[tuple[str, int | None]], note: bool) -> None:
        for key, value in changes:
            now = self.now(key)
            if value is not None:
                self.transact(lambda tx, to=(key, value): tx.records.set("p", *to))
            elif now.value is not None:
                self.transact(lambda tx, key=key: tx.records.delete("p", key))
            if (value, now.value) != (None, None):
                self.records[key] = (now.version + 1, value)
        if note:
            noted = self.state.with_note("hello")
            self.state = self.transact(lambda tx: tx.working.save("s1", noted))

    @precondition(WaitModel.waits_now)
    @rule()
    def the_snapshot_rots_or_is_mended(self) -> None:
        wait = self.waits[-1]
        change = (
            "UPDATE mnestic.memory_snapshot SET body = set_byte(body, 9, get_byte(body, 9) # 1)"
            " WHERE tenant_id = %s AND id = %s"
        )
        row = [self.scope.tenant_id, wait.open.snapshot.id]
        with pytest.raises(RaiseException, match="immutable"):
            self.owner.execute(change, row)
        with self.owner.transaction():
            self.owner.execute("SET LOCAL session_replication_role = replica")
            assert self.owner.execute(change, row).rowcount == 1
        wait.corrupted = not wait.corrupted

    # The wait.

    @precondition(WaitModel.runs)
    @rule(policy=POLICIES)
    def the_wait_opens(self, policy: WaitPolicy) -> None:
        asked = self.opening(len(self.waits) + 1, policy)

        ref = self.run(self.waiting.open_wait, asked)

        self.state = bumped(self.state.with_checkpoint(ref.id))
        wait = OpenWait(
            wait_id=asked.wait_id,
            key=asked.key,
            outcomes=asked.outcomes,
            policy=asked.policy,
            deadline=asked.deadline,
            snapshot=ref,
        )
        body = self.bodies()[ref.id]
        self.waits.append(Wait(wait, seen=dict(self.reads), kept=self.state, body=body))
        sealed = json.loads(body)
        assert working_memory_in(sealed) == self.state.model_dump(mode="json")
        assert [read["key"] for read in sealed["read_set"]] == sorted(self.reads)

    @precondition(lambda self: self.waits)
    @rule(data=st.data(), late=st.integers(0, 9))
    def an_attempt_that_was_lost_opens_it_again(self, data: st.DataObject, late: int) -> None:
        number = data.draw(st.integers(1, len(self.waits)))
        wait = self.waits[number - 1].open

        ref = self.run(self.waiting.open_wait, self.opening(number, wait.policy, late=late))

        assert ref == wait.snapshot

    @precondition(lambda self: self.over)
    @rule(policy=POLICIES)
    def an_attempt_that_was_lost_opens_another(self, policy: WaitPolicy) -> None:
        asked = self.opening(len(self.waits) + 1, policy)

        self.refused(self.waiting.open_wait, asked, type_="JobEndedError")

    @precondition(WaitModel.waits_now)
    @rule(changes=CHANGES, note=st.booleans(), request=REQUESTS | REQUESTS | st.none())
    def memory_changes_and_it_is_resumed_or_its_time_is_up(
        self, changes: list[tuple[str, int | None]], note: bool, request: ResumeRequest | None
    ) -> None:
        self.others_write_and_delete(changes, note=note)
        self.restore(self.waits[-1], request)

    @precondition(lambda self: self.waits)
    @rule(data=st.data(), request=st.none() | REQUESTS)
    def an_attempt_that_was_lost_restores_it(self, data: st.DataObject, request: Any) -> None:
        self.restore(data.draw(st.sampled_from(self.waits)), request)

    @precondition(lambda self: self.used)
    @rule(data=st.data())
    def the_request_that_resumed_a_wait_comes_again(self, data: st.DataObject) -> None:
        resumed = [wait for wait in self.waits if wait.decided and wait.decided.request]
        wait = data.draw(st.sampled_from(resumed))
        assert wait.decided is not None
        self.restore(wait, wait.decided.request)

    @precondition(lambda self: self.waits)
    @rule(days=st.integers(-1, 2))
    def its_deadline_is_moved(self, days: int) -> None:
        wait = self.waits[-1]
        request = ExtendRequest(until=wait.open.deadline + timedelta(days=days))
        is_open = wait.state == "waiting"
        why = extension_refusal(
            request, open_wait=wait.open if is_open else None, now=NOON, ends=None
        )
        assert (why is None) == (is_open and days >= 0)
        if is_open and days <= 0:
            return
        operation = self.of_wait(wait.open.wait_id, f"extend/{request.until.isoformat()}")
        asked = ExtendWaitInput(
            scope=self.scope, operation=operation, wait_id=wait.open.wait_id, request=request
        )
        if not is_open and operation.key not in self.extended:
            self.refused(self.waiting.extend_wait, asked, type_="ResumeRefusedError")
            return
        extended = self.run(self.waiting.extend_wait, asked)
        assert extended.deadline == self.extended.setdefault(operation.key, request.until)
        if is_open:
            wait.open = wait.open.model_copy(update={"deadline": request.until})

    @precondition(lambda self: len(self.waits) > 1)
    @rule()
    def the_job_is_cancelled(self) -> None:
        operation = Operation(key="j1/0/end", name="end", job_id="j1")
        asked = EndJobInput(
            scope=self.scope, operation=operation, plan="p", outcome="cancelled", waits=2
        )
        self.run(self.ending.end_job, asked)
        if self.waits_now():
            self.waits[-1].state = "cancelled"
        self.over, self.reads = True, {}

    # What is true after each step.

    @invariant()
    def memory_is_what_the_model_says(self) -> None:
        state, reads, waits = self.transact(look)
        assert state == self.state
        assert {read.key: read for read in reads} == self.reads
        assert [(w.wait_id, w.state, w.deadline, w.receipt) for w in waits] == [
            (w.open.wait_id, w.state, w.open.deadline, w.decided.receipt if w.decided else None)
            for w in self.waits
        ]
        resumed = [wait.receipt.request_id for wait in waits if wait.receipt]
        assert len(set(resumed)) == len(resumed)

    @invariant()
    def snapshots_are_as_they_were_sealed_and_reasons_are_kept(self) -> None:
        bodies = self.bodies()
        sealed = {wait.open.snapshot.id: wait for wait in self.waits}
        assert bodies.keys() == sealed.keys() | self.aside.keys()
        assert all((bodies[name] == wait.body) != wait.corrupted for name, wait in sealed.items())
        for name, state in self.aside.items():
            kept = working_memory_in(json.loads(bodies[name]))
            assert kept == state.model_dump(mode="json")
        told = self.owner.execute(
            "SELECT action, target, reason FROM mnestic.audit_log"
            " WHERE tenant_id = %s AND NOT starts_with(reason, 'refused: ') ORDER BY id",
            [self.scope.tenant_id],
        ).fetchall()
        assert told == self.reasons


@pytest.mark.hypothesis
def test_a_wait_ends_once_as_it_was_decided_first(admin_url: str, application_url: str) -> None:
    run_state_machine_as_test(
        lambda: WaitMachine(application_url + FAST, admin_url), settings=QUICK
    )

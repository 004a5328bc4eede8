"""A job with a contract: its segments go with it through waits, forks and new runs."""

from typing import Any

import pytest

from mnestic.memory.jobs.short_term.segments import ContractRef, Segments
from tests.workflows.conftest import Jobs

PLAN = """
name: segmented
nodes:
  - {id: goal, kind: remember, message: {role: user, content: Do the audit., segment: task}, next: hello}
  - {id: hello, kind: remember, message: {role: user, content: Hello.}, next: approval}
  - {id: approval, kind: wait, key: approval, timeout: 21d, policy: POLICY, on: {resumed: more, timeout: end}}
  - {id: more, kind: remember, message: {role: user, content: Go on.}, next: again}
  - {id: again, kind: wait, key: again, timeout: 21d, on: {resumed: end, timeout: end}}
"""
REBASE = PLAN.replace("POLICY", "rebase")


def document(max_tokens: int = 400) -> dict[str, Any]:
    segments = [
        {"segment_id": "task", "priority": 1, "max_tokens": 100, "retention": "task"},
        {"segment_id": "conversation", "priority": 2, "max_tokens": 100},
    ]
    short_term = {"enabled": True, "max_tokens": max_tokens, "segments": segments}
    return {"Memory": {"short_term": short_term}}


async def apply(jobs: Jobs, value: dict[str, Any]) -> None:
    async with jobs._memory.transaction(
        tenant_id=jobs.settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.contracts.add("ada", value, sha256="0", applied_by="test")


async def segments(jobs: Jobs, session_id: str = "s1") -> Segments:
    found = (await jobs.memory("ada").working_memory.get(session_id)).segments
    assert found is not None
    return found


async def texts(jobs: Jobs, session_id: str = "s1") -> list[str]:
    return [entry.content for entry in (await segments(jobs, session_id)).entries]


@pytest.mark.usefixtures("worker")
async def test_without_a_contract_a_job_has_no_segments(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting(REBASE)

    assert (await jobs.memory("ada").working_memory.get("s1")).segments is None
    assert (await jobs.describe_job(job_id)).segments is None
    assert "segments" not in (await jobs.describe_job(job_id)).model_dump()


@pytest.mark.usefixtures("worker")
async def test_a_job_keeps_the_version_that_it_started_with_until_it_continues_as_new(
    jobs: Jobs,
) -> None:
    await apply(jobs, document(400))
    job_id = await jobs.start_waiting(REBASE)
    await apply(jobs, document(500))
    await jobs.resume_job(job_id)
    await jobs.until_state(job_id, "waiting", waits=2)
    first = await segments(jobs)

    await jobs.poke(job_id)
    await jobs.resume_job(job_id)
    await jobs.wait_for_result(job_id)

    last = await segments(jobs)
    assert (first.contract, first.max_tokens) == (ContractRef(selector="ada", version=1), 400)
    assert (last.contract, last.max_tokens) == (ContractRef(selector="ada", version=2), 500)
    assert [change.why for change in last.changes] == [f"job {job_id} ended"]
    assert await texts(jobs) == ["Hello.", "Go on."]


@pytest.mark.usefixtures("worker")
async def test_a_description_has_budgets_and_the_ledger_without_texts(jobs: Jobs) -> None:
    await apply(jobs, document())
    job_id = await jobs.start_waiting(REBASE)
    await jobs.resume_job(job_id)
    await jobs.until_state(job_id, "waiting", waits=2)
    await jobs.resume_job(job_id)
    await jobs.wait_for_result(job_id)

    report = (await jobs.describe_job(job_id)).segments

    assert report is not None
    assert [(b.segment_id, b.entries) for b in report.budgets] == [("task", 0), ("conversation", 2)]
    assert [(c.kind, c.segment_id) for c in report.changes] == [("ended", "task")]
    assert "Hello" not in report.model_dump_json()


@pytest.mark.usefixtures("worker")
async def test_a_pinned_restore_brings_the_segments_of_the_snapshot_back(jobs: Jobs) -> None:
    await apply(jobs, document())
    job_id = await jobs.start_waiting(PLAN.replace("POLICY", "pinned"))
    other = REBASE.replace("Hello.", "By another.")
    await jobs.start_waiting(other, job_id="other")
    between = await texts(jobs)
    change = (await jobs.diff_job(job_id, f"{job_id}/w1")).working_memory

    await jobs.resume_job(job_id)
    await jobs.until_state(job_id, "waiting", waits=2)

    assert between == ["Do the audit.", "Hello.", "Do the audit.", "By another."]
    assert len(change.segment_entries_added) == 2
    assert await texts(jobs) == ["Do the audit.", "Hello.", "Go on."]


@pytest.mark.usefixtures("worker")
async def test_a_fork_has_the_segments_of_the_wait_and_a_contract_of_its_own(jobs: Jobs) -> None:
    await apply(jobs, document(400))
    job_id = await jobs.start_waiting(REBASE)
    await apply(jobs, document(500))

    forked = await jobs.fork_job(job_id, as_job="fork")
    await jobs.until_state(forked, "waiting")
    before = await texts(jobs, forked)
    await jobs.resume_job(forked)
    await jobs.until_state(forked, "waiting", waits=2)

    assert before == ["Do the audit.", "Hello."]
    assert await texts(jobs, forked) == ["Do the audit.", "Hello.", "Go on."]
    assert (await segments(jobs, forked)).contract.version == 2
    await jobs.resume_job(forked)
    await jobs.wait_for_result(forked)
    assert await texts(jobs, forked) == ["Hello.", "Go on."]

"""What a job goes on with when memory has changed while it waited, and who may overrule that."""

from typing import Any, Literal

import pytest

from mnestic.memory.errors import InvalidInputError, ResumeRefusedError, SnapshotUnverifiedError
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.transactions import Execute
from tests.workflows.conftest import RECHECK, Jobs

STRICT = RECHECK.replace("rebase", "strict")
pytestmark = pytest.mark.usefixtures("worker")


async def drift(client: MnesticClient) -> None:
    """Somebody changes a record that the job has read."""
    await client.memory("ada").records.set("order", "price", 12)


async def price_after(jobs: Jobs) -> Any:
    return (await jobs.variables())["after"]["records"]["order"]["price"]


def reasons(execute: Execute) -> list[tuple[str, str, str]]:
    return execute(
        "SELECT action, target, reason FROM mnestic.audit_log"
        " WHERE tenant_id = %s AND NOT starts_with(reason, 'refused: ')"
    )


@pytest.mark.parametrize(
    ("policy", "price", "told"), [("rebase", 12, [(10, 12)]), ("pinned", 10, [])]
)
async def test_a_rebased_job_recalls_what_is_stored_now_and_a_pinned_one_what_it_saw(
    jobs: Jobs, policy: str, price: int, told: list[tuple[int, int]]
) -> None:
    job_id = await jobs.start_waiting(RECHECK.replace("rebase", policy))
    await drift(jobs)

    await jobs.resume_job(job_id)
    result = await jobs.wait_for_result(job_id)

    seen = (await jobs.variables()).get("drift", [])
    assert await price_after(jobs) == price
    assert [change["key"] for change in result.results["approval"]["drift"]] == ["price"]
    assert [(change["before"], change["now"]) for change in seen] == told
    assert (await jobs.memory("ada").records.get("order", "price")).value == 12


@pytest.mark.parametrize("policy", ["rebase", "pinned"])
async def test_a_record_that_is_new_in_a_namespace_is_seen_unless_it_is_pinned(
    jobs: Jobs, policy: str
) -> None:
    plan = RECHECK.replace(", keys: [price]", "").replace("rebase", policy)
    job_id = await jobs.start_waiting(plan)
    await jobs.memory("ada").records.set("order", "tip", 3)

    receipt = await jobs.resume_job(job_id)
    await jobs.wait_for_result(job_id)

    assert receipt is not None
    assert receipt.drift_count == 1
    after = {"price": 10} | ({"tip": 3} if policy == "rebase" else {})
    assert (await jobs.variables())["after"]["records"] == {"order": after}


@pytest.mark.parametrize(("policy", "price"), [("rebase", 12), ("pinned", 10)])
async def test_a_strict_job_parks_with_what_has_changed_until_an_override_with_a_reason(
    execute: Execute, jobs: Jobs, policy: Literal["rebase", "pinned"], price: int
) -> None:
    job_id = await jobs.start_waiting(STRICT)
    with pytest.raises(ResumeRefusedError, match="needs no attention"):
        await jobs.override_job(job_id, reason="in a hurry")
    await drift(jobs)

    with pytest.raises(ResumeRefusedError, match="order/price changed"):
        await jobs.resume_job(job_id, request_id="r1")
    parked = await jobs.describe_job(job_id)
    for reason in (" \n", "x" * 1001, "a\0b"):
        with pytest.raises(InvalidInputError, match="reason: "):
            await jobs.override_job(job_id, reason=reason)
    agreed: dict[str, Any] = {"reason": "agreed with Mara", "by": "eve", "policy": policy}
    receipt = await jobs.override_job(job_id, **agreed, request_id="r2")
    await jobs.wait_for_result(job_id)
    again = await jobs.override_job(job_id, **agreed, request_id="r2")

    assert (parked.state, [wait.state for wait in parked.waits]) == ("needs_attention", ["waiting"])
    assert parked.attention is not None
    assert "order/price changed" in parked.attention
    assert receipt is not None
    assert receipt.override is not None
    assert (receipt.verified, receipt.drift_count, receipt.override.by) == (True, 1, "eve")
    assert again == receipt
    assert await price_after(jobs) == price
    expected = [(f"wait.override.{policy}", f"{job_id}/w1", "agreed with Mara")]
    assert reasons(execute) == expected


async def test_an_override_by_pinned_goes_on_without_working_memory(
    execute: Execute, jobs: Jobs
) -> None:
    job_id = await jobs.start_waiting(RECHECK)
    before = await jobs.variables()
    execute(  # working memory that cannot be read
        "UPDATE mnestic.working_memory SET version = version - 1, "
        """state = '{"messages": [5]}' WHERE tenant_id = %s"""
    )
    with pytest.raises(SnapshotUnverifiedError, match="cannot be read: messages"):
        await jobs.resume_job(job_id)
    with pytest.raises(SnapshotUnverifiedError, match="cannot be read: messages"):
        await jobs.override_job(job_id, reason="memory as it is now is of no use")

    receipt = await jobs.override_job(job_id, reason="it is broken", policy="pinned")
    await jobs.wait_for_result(job_id)

    assert receipt is not None
    assert receipt.verified
    ((aside,),) = execute(
        "SELECT convert_from(body, 'UTF8')::jsonb #> '{working_memory,messages}'"
        f" FROM mnestic.memory_snapshot WHERE tenant_id = %s AND id = '{receipt.set_aside}'"
    )
    assert aside == [5]
    assert (await jobs.variables())["before"] == before["before"]
    assert await price_after(jobs) == 10
    assert reasons(execute) == [("wait.override.pinned", f"{job_id}/w1", "it is broken")]

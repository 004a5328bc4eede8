"""What a job goes on with when memory has changed while it waited, and who may overrule that."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import psycopg
import pytest

from mnestic.memory.errors import InvalidInputError, ResumeRefusedError, SnapshotUnverifiedError
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient

StartWaiting = Callable[..., Awaitable[str]]
pytestmark = pytest.mark.usefixtures("worker")


@pytest.fixture
async def strict_with_drift(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str
) -> str:
    """A strict job that needs attention: the price has changed, and somebody has resumed it."""
    job_id = await start_waiting(recheck.replace("rebase", "strict"))
    await client.memory("ada").records.set("order", "price", 12)
    with pytest.raises(ResumeRefusedError, match="order/price changed"):
        await client.resume_job(job_id, request_id="r1")
    return job_id


async def price_after(client: MnesticClient) -> Any:
    state = await client.memory("ada").working_memory.get("s1")
    return state.variables["after"]["records"]["order"]["price"]


async def note(memory: Memory, client: MnesticClient, text: str) -> None:
    """Another client writes to the session."""
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id="ada", actor="other", write=True
    ) as transaction:
        state = await transaction.working.load("s1", lock=True)
        await transaction.working.save("s1", state.with_note(text))


def reasons(admin_url: str, client: MnesticClient) -> list[tuple[str, str, str]]:
    with psycopg.connect(admin_url) as connection:
        return connection.execute(
            "SELECT action, target, reason FROM mnestic.audit_log"
            " WHERE tenant_id = %s AND reason IS NOT NULL",
            [client.settings.tenant_id],
        ).fetchall()


async def test_a_rebased_job_recalls_what_is_stored_now(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str
) -> None:
    job_id = await start_waiting(recheck)
    await client.memory("ada").records.set("order", "price", 12)

    await client.resume_job(job_id)
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert await price_after(client) == 12
    assert [change["key"] for change in result.results["approval"]["drift"]] == ["price"]
    assert [(told["before"], told["now"]) for told in state.variables["drift"]] == [(10, 12)]


async def test_a_pinned_job_recalls_what_it_saw_before_the_wait(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str
) -> None:
    job_id = await start_waiting(recheck.replace("rebase", "pinned"))
    await client.memory("ada").records.set("order", "price", 12)

    await client.resume_job(job_id)
    result = await client.wait_for_result(job_id)

    assert await price_after(client) == 10
    assert result.results["approval"]["drift_count"] == 1
    assert (await client.memory("ada").records.get("order", "price")).value == 12


@pytest.mark.parametrize(
    ("policy", "after"), [("pinned", {"price": 10}), ("rebase", {"price": 10, "tip": 3})]
)
async def test_a_record_that_is_new_in_a_namespace_is_seen_unless_it_is_pinned(
    client: MnesticClient,
    start_waiting: StartWaiting,
    recheck: str,
    policy: str,
    after: dict[str, int],
) -> None:
    plan = recheck.replace(", keys: [price]", "").replace("rebase", policy)
    job_id = await start_waiting(plan)
    await client.memory("ada").records.set("order", "tip", 3)

    receipt = await client.resume_job(job_id)
    await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert receipt is not None
    assert receipt.drift_count == 1
    assert state.variables["after"]["records"] == {"order": after}


async def test_a_strict_job_parks_when_a_namespace_that_it_read_has_a_new_record(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str
) -> None:
    plan = recheck.replace(", keys: [price]", "").replace("rebase", "strict")
    job_id = await start_waiting(plan)
    await client.memory("ada").records.set("other", "tip", 3)
    await client.memory("ada").records.set("order", "tip", 3)

    with pytest.raises(ResumeRefusedError, match="memory has changed: order/tip created;"):
        await client.resume_job(job_id)

    found = await client.diff_job(job_id)
    assert [(change.kind, change.key) for change in found.records] == [("created", "tip")]


async def test_a_pinned_job_keeps_what_it_was_told_by_an_earlier_rebase(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str
) -> None:
    plan = recheck.replace("resumed: after", "resumed: again").replace(
        "  - {id: after",
        "  - {id: again, kind: wait, key: k, timeout: 21d, policy: pinned, on: {resumed: after, timeout: end}}\n"
        "  - {id: after",
    )
    job_id = await start_waiting(plan)
    await client.memory("ada").records.set("order", "price", 12)
    await client.resume_job(job_id)
    told = (await client.memory("ada").working_memory.get("s1")).variables["drift"]

    receipt = await client.resume_job(job_id, wait_id=f"{job_id}/w2")
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert receipt is not None
    assert receipt.drift_count == 0
    assert result.results["again"]["drift"] == []
    assert [each["now"] for each in told] == [12]
    assert state.variables["drift"] == told


async def test_a_record_that_moves_up_into_a_reading_with_a_limit_is_not_told_as_new(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str
) -> None:
    plan = recheck.replace(", keys: [price]", ", limit: 2")
    await client.memory("ada").records.set("order", "amount", 1)
    await client.memory("ada").records.set("order", "tip", 3)
    job_id = await start_waiting(plan)
    await client.memory("ada").records.delete("order", "amount")

    receipt = await client.resume_job(job_id)
    await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert receipt is not None
    assert receipt.drift_count == 1
    assert [each["key"] for each in state.variables["drift"]] == ["amount"]
    assert state.variables["after"]["records"] == {"order": {"price": 10, "tip": 3}}


async def test_a_pinned_job_recalls_a_record_that_was_deleted_meanwhile(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str
) -> None:
    job_id = await start_waiting(recheck.replace("rebase", "pinned"))
    await client.memory("ada").records.delete("order", "price")

    await client.resume_job(job_id)
    await client.wait_for_result(job_id)

    assert await price_after(client) == 10


async def test_what_others_wrote_to_the_session_of_a_pinned_job_is_set_aside(
    client: MnesticClient,
    memory: Memory,
    admin_url: str,
    start_waiting: StartWaiting,
    recheck: str,
) -> None:
    job_id = await start_waiting(recheck.replace("rebase", "pinned"))
    await note(memory, client, "meanwhile")

    await client.resume_job(job_id)
    await client.wait_for_result(job_id)

    (wait,) = (await client.describe_job(job_id)).waits
    with psycopg.connect(admin_url) as connection:
        ((body, job),) = connection.execute(
            "SELECT body, job_id FROM mnestic.memory_snapshot WHERE tenant_id = %s AND id != %s",
            [client.settings.tenant_id, wait.snapshot_id],
        ).fetchall()
    state = await client.memory("ada").working_memory.get("s1")
    assert (state.scratchpad, job) == ("", job_id)
    assert json.loads(body)["working_memory"]["scratchpad"] == "meanwhile"


async def test_a_strict_job_goes_on_when_nothing_has_changed(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str
) -> None:
    job_id = await start_waiting(recheck.replace("rebase", "strict"))

    receipt = await client.resume_job(job_id)
    await client.wait_for_result(job_id)

    assert receipt is not None
    assert (receipt.drift_count, await price_after(client)) == (0, 10)


async def test_a_strict_job_parks_and_says_what_has_changed(
    client: MnesticClient, memory: Memory, start_waiting: StartWaiting, recheck: str
) -> None:
    job_id = await start_waiting(recheck.replace("rebase", "strict"))
    await client.memory("ada").records.delete("order", "price")
    await note(memory, client, "meanwhile")

    with pytest.raises(ResumeRefusedError, match="order/price deleted, working_memory chan"):
        await client.resume_job(job_id)

    parked = await client.describe_job(job_id)
    assert parked.state == "needs_attention"
    assert parked.attention is not None
    assert "order/price deleted" in parked.attention
    assert [wait.state for wait in parked.waits] == ["waiting"]


@pytest.mark.parametrize(("policy", "price"), [("rebase", 12), ("pinned", 10)])
async def test_an_override_lets_a_strict_job_go_on_for_a_reason_that_is_kept(
    client: MnesticClient,
    admin_url: str,
    strict_with_drift: str,
    policy: Literal["rebase", "pinned"],
    price: int,
) -> None:
    receipt = await client.override_job(
        strict_with_drift, reason="agreed with Mara", by="eve", policy=policy, request_id="r2"
    )
    await client.wait_for_result(strict_with_drift)

    wait_id = f"{strict_with_drift}/w1"
    assert receipt is not None
    assert receipt.override is not None
    assert (receipt.verified, receipt.drift_count, receipt.override.by) == (True, 1, "eve")
    assert await price_after(client) == price
    assert reasons(admin_url, client) == [(f"wait.override.{policy}", wait_id, "agreed with Mara")]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"reason": " \n"}, "reason: String should have at least 1 character"),
        ({"reason": "x" * 1001}, "reason: String should have at most 1000 characters"),
        ({"reason": "a\0b"}, "reason: holds a NUL"),
        ({"reason": "agreed", "by": "a\0b"}, "by: holds a NUL"),
    ],
)
async def test_an_override_without_a_reason_that_can_be_kept_is_refused(
    client: MnesticClient, strict_with_drift: str, asked: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidInputError, match=why):
        await client.override_job(strict_with_drift, **asked)

    assert (await client.describe_job(strict_with_drift)).state == "needs_attention"


async def test_an_override_sent_twice_gets_one_receipt(
    client: MnesticClient, admin_url: str, strict_with_drift: str
) -> None:
    first = await client.override_job(strict_with_drift, reason="agreed", request_id="r2")
    await client.wait_for_result(strict_with_drift)

    again = await client.override_job(strict_with_drift, reason="agreed", request_id="r2")

    assert again == first
    assert len(reasons(admin_url, client)) == 1


async def test_an_override_of_a_job_that_needs_no_attention_is_refused(
    client: MnesticClient, admin_url: str, start_waiting: StartWaiting, recheck: str
) -> None:
    job_id = await start_waiting(recheck.replace("rebase", "strict"))

    with pytest.raises(ResumeRefusedError, match="needs no attention"):
        await client.override_job(job_id, reason="in a hurry")

    assert (await client.describe_job(job_id)).state == "waiting"
    assert reasons(admin_url, client) == []


async def test_an_override_may_choose_the_way_of_the_timeout(
    client: MnesticClient, strict_with_drift: str
) -> None:
    await client.override_job(strict_with_drift, reason="nobody knows", outcome="timeout")
    result = await client.wait_for_result(strict_with_drift)

    state = await client.memory("ada").working_memory.get("s1")
    assert result.results["approval"]["outcome"] == "timeout"
    assert state.current_task == "nobody answered"


async def test_an_override_by_rebase_goes_on_without_a_snapshot(
    client: MnesticClient, start_waiting: StartWaiting, recheck: str, rot: Callable[[], None]
) -> None:
    job_id = await start_waiting(recheck.replace("rebase", "pinned"))
    await client.memory("ada").records.set("order", "price", 12)
    rot()
    with pytest.raises(SnapshotUnverifiedError, match="corrupted"):
        await client.resume_job(job_id)

    receipt = await client.override_job(job_id, reason="the disk is broken")
    await client.wait_for_result(job_id)

    assert receipt is not None
    assert (receipt.verified, receipt.drift_count) == (False, 1)
    assert await price_after(client) == 12


async def test_an_override_by_pinned_goes_on_without_working_memory(
    client: MnesticClient, admin_url: str, start_waiting: StartWaiting, recheck: str
) -> None:
    job_id = await start_waiting(recheck)
    before = await client.memory("ada").working_memory.get("s1")
    damage(admin_url, client)
    with pytest.raises(SnapshotUnverifiedError, match="cannot be read: messages"):
        await client.resume_job(job_id)
    with pytest.raises(SnapshotUnverifiedError, match="cannot be read: messages"):
        await client.override_job(job_id, reason="memory as it is now is of no use")

    receipt = await client.override_job(job_id, reason="it is broken", policy="pinned")
    await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert receipt is not None
    assert receipt.verified
    assert await kept_aside(receipt.set_aside, admin_url) == [5]
    assert state.variables["before"] == before.variables["before"]
    assert await price_after(client) == 10
    assert reasons(admin_url, client) == [("wait.override.pinned", f"{job_id}/w1", "it is broken")]


async def kept_aside(snapshot_id: str | None, admin_url: str) -> Any:
    """The messages in a snapshot that keeps what a restore replaced."""
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        found = await connection.execute(
            "SELECT body FROM mnestic.memory_snapshot WHERE id = %s", [snapshot_id]
        )
        row = await found.fetchone()
    assert row is not None
    return json.loads(row[0])["working_memory"]["messages"]


def damage(admin_url: str, client: MnesticClient) -> None:
    """Makes working memory something that cannot be read."""
    with psycopg.connect(admin_url) as connection:
        connection.execute(
            "UPDATE mnestic.working_memory SET version = version - 1, "
            """state = '{"messages": [5]}' WHERE tenant_id = %s""",
            [client.settings.tenant_id],
        )


async def test_an_override_by_pinned_needs_the_snapshot(
    client: MnesticClient,
    admin_url: str,
    start_waiting: StartWaiting,
    recheck: str,
    rot: Callable[[], None],
) -> None:
    job_id = await start_waiting(recheck)
    rot()
    with pytest.raises(SnapshotUnverifiedError, match="corrupted"):
        await client.resume_job(job_id)

    with pytest.raises(SnapshotUnverifiedError, match="corrupted"):
        await client.override_job(job_id, reason="the disk is broken", policy="pinned")

    parked = await client.describe_job(job_id)
    assert (parked.state, [wait.state for wait in parked.waits]) == ("needs_attention", ["waiting"])
    assert reasons(admin_url, client) == []

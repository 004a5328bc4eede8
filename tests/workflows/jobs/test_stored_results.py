"""Results that add up to more than a job can carry into a new run."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from temporalio.client import WorkflowHandle

from mnestic.memory.jobs.waits import ResumeRequest
from mnestic.memory.names import RESUME
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.settings import Settings

FOUR_WAITS = """
name: four
nodes:
  - {id: a, kind: wait, key: a, timeout: 1d, on: {resumed: b, timeout: end}}
  - {id: b, kind: wait, key: b, timeout: 1d, on: {resumed: c, timeout: end}}
  - {id: c, kind: wait, key: c, timeout: 1d, on: {resumed: d, timeout: end}}
  - {id: d, kind: wait, key: d, timeout: 1d, on: {resumed: say, timeout: end}}
  - id: say
    kind: emit
    channel: c
    content: "${memory.results.a.payload.word} ${results.b.payload.word}"
    next: end
"""
REFERENCE = {"ref", "sha256", "size_bytes"}
Until = Callable[..., Awaitable[Any]]


@pytest.fixture
def settings(new_settings: Callable[[Path], Settings], tmp_path: Path) -> Settings:
    """Settings that let a payload be large, so that few of them are too much."""
    settings = new_settings(tmp_path / "data")
    return settings.model_copy(update={"max_payload_bytes": 800_000})


@pytest.mark.usefixtures("worker")
async def test_a_job_with_large_payloads_goes_on_in_new_runs(
    client: MnesticClient, until: Until, handle_of: Callable[[str], WorkflowHandle[Any, Any]]
) -> None:
    plan = parse_plan(FOUR_WAITS, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")

    async def waits_for(key: str) -> None:
        async def parked() -> bool:
            return (await client.describe_job(job_id)).wait_key == key

        await until(parked)

    for key in "abc":
        await waits_for(key)
        await client.resume_job(job_id, {"word": f"of {key}", "text": "x" * 700_000})
    await waits_for("d")
    first = (await handle_of(job_id).describe()).run_id
    await client.poke_job(job_id)

    async def moved() -> bool:
        return (await handle_of(job_id).describe()).run_id != first

    await until(moved)
    await waits_for("d")
    await client.resume_job(job_id)
    result = await client.wait_for_result(job_id)

    timeline = await client.job_history(job_id)
    state = await client.memory("ada").working_memory.get("s1")
    assert [message.content for message in state.messages] == ["of a of b"]
    assert {key for key in "abcd" if set(result.results[key]) == REFERENCE} == {"a", "c"}
    assert result.omitted == ()
    kinds = [entry.detail["kind"] for entry in timeline.entries if entry.what == "step"]
    assert kinds == ["keep_result", "keep_result", "emit"]


NAMED = """
name: named
nodes:
  - {id: a, kind: wait, key: a, timeout: 1d, on: {resumed: b, timeout: end}}
  - {id: b, kind: wait, key: b, timeout: 1d, on: {resumed: c, timeout: end}}
  - {id: c, kind: wait, key: c, timeout: 1d, on: {resumed: d, timeout: end}}
  - id: d
    kind: wait
    key: d
    ask: "${results.a.payload.word} ${results.b.payload.word} ${results.c.payload.word}?"
    timeout: 1d
    on: {resumed: say, timeout: end}
  - id: say
    kind: emit
    channel: c
    content: "${results.a.payload.word} ${results.b.payload.word} ${results.c.payload.word}"
    next: d2
  - id: d2
    kind: wait
    key: d2
    timeout: 1d
    on: {resumed: again, timeout: end}
  - id: again
    kind: emit
    channel: c
    content: "${results.c.payload.word} ${memory.results.a.payload.word}"
    next: {on: "${results.b.payload.word}", cases: {"of b": end}, otherwise: d}
"""


@pytest.mark.usefixtures("worker")
async def test_results_that_nodes_ahead_name_come_back_for_them_in_new_runs(
    client: MnesticClient,
    until: Until,
    handle_of: Callable[[str], WorkflowHandle[Any, Any]],
    poke: Callable[[str], Awaitable[None]],
    admin_url: str,
) -> None:
    job_id = await client.start_job(
        parse_plan(NAMED, source="test"), agent_id="ada", session_id="s1"
    )

    async def waits_for(key: str) -> None:
        async def parked() -> bool:
            return (await client.describe_job(job_id)).wait_key == key

        await until(parked)

    for key in "abc":
        await waits_for(key)
        await client.resume_job(job_id, {"word": f"of {key}", "text": "x" * 750_000})
    await waits_for("d")
    await poke(job_id)
    await waits_for("d")
    await client.resume_job(job_id)
    await waits_for("d2")
    await poke(job_id)
    await waits_for("d2")
    history = await handle_of(job_id).fetch_history()
    await client.resume_job(job_id)
    result = await client.wait_for_result(job_id)

    waits = (await client.describe_job(job_id)).waits
    state = await client.memory("ada").working_memory.get("s1")
    with psycopg.connect(admin_url) as connection:
        kept = connection.execute(
            "SELECT node FROM mnestic.tool_result WHERE job_id = %s ORDER BY node", [job_id]
        ).fetchall()
    assert waits[3].ask == "of a of b of c?"
    assert [message.content for message in state.messages] == ["of a of b of c", "of c of a"]
    assert sum(event.ByteSize() for event in history.events) < 1_200_000
    assert [node for (node,) in kept] == ["a", "b"]
    assert {*result.results, *result.omitted} == {"a", "b", "c", "d", "say", "d2", "again"}


@pytest.mark.usefixtures("worker")
async def test_a_job_goes_on_in_new_runs_whatever_its_inputs_and_requests_take(
    client: MnesticClient,
    until: Until,
    handle_of: Callable[[str], WorkflowHandle[Any, Any]],
    poke: Callable[[str], Awaitable[None]],
) -> None:
    plan = parse_plan(FOUR_WAITS, source="test")
    job_id = await client.start_job(
        plan, agent_id="ada", session_id="s1", inputs={"text": "x" * 700_000}
    )

    async def waits_for(key: str) -> None:
        async def parked() -> bool:
            return (await client.describe_job(job_id)).wait_key == key

        await until(parked)

    for key in "ab":
        await waits_for(key)
        await client.resume_job(job_id, {"word": f"of {key}", "text": "x" * 400_000})
    await waits_for("c")
    early = ResumeRequest(
        request_id="r4", wait_id=f"{job_id}/w4", payload={"word": "of d", "text": "x" * 500_000}
    )
    await handle_of(job_id).signal(RESUME, early)
    await poke(job_id)
    await waits_for("c")
    await client.resume_job(job_id, {"word": "of c"})
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    assert [message.content for message in state.messages] == ["of a of b"]
    assert result.waits == 4
    assert any(set(result.results[key]) == REFERENCE for key in "ab")

"""Results that add up to more than a job can carry into a new run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.settings import Settings
from tests.transactions import Execute
from tests.workflows.conftest import Jobs, plan_of

pytestmark = pytest.mark.usefixtures("worker")

FOUR_WAITS = plan_of("four")
REFERENCE = {"ref", "sha256", "size_bytes"}


@pytest.fixture
def settings(new_settings: Callable[[Path], Settings], tmp_path: Path) -> Settings:
    """Settings that let a payload be large, so that few of them are too much."""
    settings = new_settings(tmp_path / "data")
    return settings.model_copy(update={"max_payload_bytes": 800_000})


async def resume_each(jobs: Jobs, job_id: str, size: int, keys: str) -> None:
    """Resumes the first waits of a job with large payloads, until it is at the one after them."""
    for number, key in enumerate(keys, start=1):
        await jobs.until_state(job_id, "waiting", waits=number)
        await jobs.resume_job(job_id, {"word": f"of {key}", "text": "x" * size})
    await jobs.until_state(job_id, "waiting", waits=len(keys) + 1)


def references(results: dict[str, Any]) -> set[str]:
    return {key for key in "abcd" if set(results.get(key, ())) == REFERENCE}


NAMED = plan_of("named")


async def test_results_that_nodes_ahead_name_come_back_for_them_in_new_runs(
    jobs: Jobs, execute: Execute
) -> None:
    job_id = await jobs.start(NAMED)
    await resume_each(jobs, job_id, 750_000, "abc")
    await jobs.poke(job_id)
    await jobs.until_state(job_id, "waiting")
    await jobs.resume_job(job_id)
    await jobs.until_state(job_id, "waiting", waits=5)
    await jobs.poke(job_id)
    await jobs.until_state(job_id, "waiting")
    history = await jobs.handle(job_id).fetch_history()
    await jobs.resume_job(job_id)
    result = await jobs.wait_for_result(job_id)

    waits = await jobs.waits(job_id)
    kept = execute("SELECT node FROM mnestic.tool_result WHERE tenant_id = %s ORDER BY node")
    assert waits[3].ask == "of a of b of c?"
    assert await jobs.texts() == ["of a of b of c", "of c of a"]
    assert sum(event.ByteSize() for event in history.events) < 1_200_000
    assert [node for (node,) in kept] == ["a", "b"]
    assert {*result.results, *result.omitted} == {"a", "b", "c", "d", "say", "d2", "again"}


async def test_a_job_goes_on_in_new_runs_whatever_its_inputs_and_requests_take(jobs: Jobs) -> None:
    job_id = await jobs.start(FOUR_WAITS, inputs={"text": "x" * 700_000})
    await resume_each(jobs, job_id, 400_000, "ab")
    early = {"word": "of d", "text": "x" * 500_000}
    await jobs.signal(job_id, "r4", wait_id=f"{job_id}/w4", payload=early)
    await jobs.poke(job_id)
    await jobs.until_state(job_id, "waiting")
    await jobs.resume_job(job_id, {"word": "of c"})
    result = await jobs.wait_for_result(job_id)

    assert await jobs.texts() == ["of a of b"]
    assert result.waits == 4
    assert references(result.results) & {"a", "b"}

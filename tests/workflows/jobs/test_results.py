"""What a job returns of what its nodes gave."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mnestic.starter.settings import Settings
from tests.workflows.conftest import Jobs, plan_of

THREE_WAITS = plan_of("three")


@pytest.fixture
def settings(new_settings: Callable[[Path], Settings], tmp_path: Path) -> Settings:
    """Settings of a client whose jobs take large payloads."""
    settings = new_settings(tmp_path / "data")
    return settings.model_copy(update={"max_payload_bytes": 1_048_576})


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("sizes", "omitted"),
    [
        ({"a": 300_000, "b": 400_000, "c": 340_000}, ()),
        ({"a": 300_000, "b": 500_000, "c": 400_000}, ("b",)),
    ],
)
async def test_the_largest_results_are_named_where_all_are_too_large_to_return(
    jobs: Jobs, sizes: dict[str, int], omitted: tuple[str, ...]
) -> None:
    job_id = await jobs.start(THREE_WAITS)
    for number, size in enumerate(sizes.values(), start=1):
        await jobs.until_state(job_id, "waiting", waits=number)
        await jobs.resume_job(job_id, "x" * size)

    result = await jobs.wait_for_result(job_id)

    assert result.omitted == omitted
    assert {name: len(given["payload"]) for name, given in result.results.items()} == {
        name: size for name, size in sizes.items() if name not in omitted
    }

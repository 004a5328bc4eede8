"""What a job returns of what its nodes gave."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

THREE_WAITS = """
name: three
nodes:
  - {id: a, kind: wait, key: a, timeout: 21d, on: {resumed: b, timeout: end}}
  - {id: b, kind: wait, key: b, timeout: 21d, on: {resumed: c, timeout: end}}
  - {id: c, kind: wait, key: c, timeout: 21d, on: {resumed: end, timeout: end}}
"""


@pytest.fixture
async def generous(client: MnesticClient) -> AsyncIterator[MnesticClient]:
    """A client whose jobs take large payloads."""
    settings = client.settings.model_copy(update={"max_payload_bytes": 1_048_576})
    async with await MnesticClient.connect(settings) as generous:
        yield generous


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("sizes", "omitted"),
    [
        ({"a": 300_000, "b": 400_000, "c": 340_000}, ()),
        ({"a": 300_000, "b": 500_000, "c": 400_000}, ("b",)),
        ({"a": 550_000, "b": 10, "c": 1_040_000}, ("c",)),
        ({"a": 10, "b": 10, "c": 1_048_500}, ("c",)),
    ],
)
async def test_the_largest_results_are_named_where_all_are_too_large_to_return(
    generous: MnesticClient,
    until: Callable[..., Awaitable[Any]],
    sizes: dict[str, int],
    omitted: tuple[str, ...],
) -> None:
    plan = parse_plan(THREE_WAITS, source="test")
    job_id = await generous.start_job(plan, agent_id="ada", session_id="s1")
    for key, size in sizes.items():

        async def waits(key: str = key) -> bool:
            job = await generous.describe_job(job_id)
            return (job.state, job.wait_key) == ("waiting", key)

        await until(waits)
        await generous.resume_job(job_id, "x" * size)

    result = await generous.wait_for_result(job_id)

    assert result.omitted == omitted
    assert {name: len(given["payload"]) for name, given in result.results.items()} == {
        name: size for name, size in sizes.items() if name not in omitted
    }

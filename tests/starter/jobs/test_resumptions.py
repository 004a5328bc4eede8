"""What a job continues with after a wait."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from mnestic.memory.errors import NotFoundError
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.job_states import until_state

PLAN = """
name: once
nodes:
  - {id: note, kind: remember, records: [{namespace: p, key: name, value: Mara}], next: ask}
  - {id: ask, kind: wait, key: ask, timeout: 1d, on: {resumed: end, timeout: end}}
"""


async def test_the_plan_of_a_job_is_known_before_its_first_wait_and_at_it(
    client: MnesticClient, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    plan = parse_plan(PLAN, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")

    before, failing = await client.job_plan(job_id), (await client.describe_job(job_id)).failing
    async with run_worker():
        await until_state(client, job_id)
    at_its_wait = await client.job_plan(job_id)

    assert before == at_its_wait == plan
    assert failing == ()
    with pytest.raises(NotFoundError):
        await client.job_plan("no-such-job")

"""Lists of jobs: where a page ends, and what is no such place."""

import asyncio
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.plans import Plan
from mnestic.starter.client.mnestic_client import MnesticClient

NODE = {"id": "ask", "kind": "wait", "key": "k", "timeout": "1d"}
PLAN = Plan.model_validate(
    {"name": "p", "nodes": [NODE | {"on": {"resumed": "end", "timeout": "end"}}]}
)


async def start(client: MnesticClient, count: int) -> set[str]:
    """Starts jobs, which are listed a little later."""
    started = {
        await client.start_job(PLAN, agent_id="ada", session_id="s1", job_id=f"j{number}")
        for number in range(count)
    }
    async with asyncio.timeout(30):
        while len((await client.list_jobs())[0]) < count:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
    return started


async def test_a_cursor_goes_on_where_its_page_ended(client: MnesticClient) -> None:
    started = await start(client, 3)
    cursor, found = None, set()

    for _ in range(3):
        (job,), cursor = await client.list_jobs(limit=1, cursor=cursor)
        found.add(job.job_id)

    assert found == started


async def test_a_cursor_that_was_cut_or_changed_is_refused(client: MnesticClient) -> None:
    await start(client, 2)
    _, cursor = await client.list_jobs(limit=1)
    assert cursor is not None

    for wrong in (cursor[:-4], cursor[4:], f"{cursor[:20]}A{cursor[21:]}", cursor[:8]):
        with pytest.raises(InvalidInputError, match="cursor: was not given by this list"):
            await client.list_jobs(cursor=wrong)


async def test_jobs_are_selected_by_state_agent_and_plan(client: MnesticClient) -> None:
    await start(client, 2)
    name = "Mara's plan \\ two"
    other = PLAN.model_copy(update={"name": name})
    await client.start_job(other, agent_id="eve", session_id="s1", job_id="of-eve")
    handle = client.temporal.get_workflow_handle(f"job/{client.settings.tenant_id}/j0")
    await handle.terminate()

    async def listed(**select: Any) -> set[str]:
        return {job.job_id for job in (await client.list_jobs(**select))[0]}

    async with asyncio.timeout(30):
        while await listed(state="terminated") != {"j0"}:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
        while await listed() != {"j0", "j1", "of-eve"}:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
    assert await listed(state="running") == {"j1", "of-eve"}
    assert await listed(state="running", agent_id="ada") == {"j1"}
    assert await listed(agent_id="eve") == {"of-eve"}
    assert await listed(plan=name) == {"of-eve"}
    assert await listed(plan="p") == {"j0", "j1"}
    assert await listed(plan="p", agent_id="eve") == set()
    assert await listed(plan="' OR TenantId != ''") == set()


async def test_a_selection_that_cannot_be_is_refused(client: MnesticClient) -> None:
    allowed = "running, waiting, paused, needs_attention, completed, failed, cancelled, terminated"

    with pytest.raises(InvalidInputError, match=f"state: there is no parked; there are {allowed}"):
        await client.list_jobs(state="parked")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match='agent: "a\'" is not an id'):
        await client.list_jobs(agent_id="a'")

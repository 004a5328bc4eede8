"""How often an entry is told, by whichever way in."""

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from mnestic.memory.knowledge.entries import Entry
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.settings import Settings
from mnestic.worker import worker_plugin

TURIN, PIXEL, TIDES = (
    "Mara lives in Turin, near the river.",
    "A dog called Pixel barks.",
    "The tide table hangs in the harbour office.",
)
QUESTION = "Where does Mara live?"
PLAN = """
name: asks
nodes:
  - id: look
    kind: recall
    search: {question: "Where does Mara live?", limit: 1, notes: false}
    next: ask
  - {id: ask, kind: think, prompt: "Where does Mara live?", retrieve: {limit: 1, notes: false}, next: end}
"""


@pytest.fixture
async def entries(client: MnesticClient) -> dict[str, str]:
    """The ids of what the agent knows."""
    ada = client.memory("ada")
    return {
        content: (await ada.add(content, subjects=["Mara"] if "Mara" in content else [])).id
        for content in (TURIN, PIXEL, TIDES)
    }


async def accesses(client: MnesticClient, entries: dict[str, str]) -> dict[str, int]:
    ada = client.memory("ada")
    found: list[Entry] = [await ada.entries.get(entry_id) for entry_id in entries.values()]
    return {entry.content: entry.access_count for entry in found if entry.access_count}


async def test_what_a_jobs_nodes_are_told_is_counted_by_the_time_its_worker_has_stopped(
    client: MnesticClient, settings: Settings, entries: dict[str, str]
) -> None:
    async with worker_plugin(settings) as plugin:
        temporal = await Client.connect(str(settings.temporal_address), plugins=[plugin])
        async with Worker(temporal, task_queue=settings.task_queue):
            plan = parse_plan(PLAN, source="test")
            job = await client.start_job(plan, agent_id="ada", session_id="s1")
            await client.wait_for_result(job)

    assert await accesses(client, entries) == {TURIN: 2}


async def test_what_is_told_is_counted_but_not_what_has_no_room_or_is_a_measurement(
    client: MnesticClient, settings: Settings, entries: dict[str, str]
) -> None:
    async with await MnesticClient.connect(settings) as other:
        ada = other.memory("ada")
        for question in (QUESTION, QUESTION, "tide table"):
            await ada.retrieve(question)
        await ada.auto_retrieve(QUESTION, "telegram")
        await ada.auto_retrieve("Where is the tide table?", "telegram", max_tokens=1)
        await ada.context_for_query(QUESTION)
        await ada.context_for_query("tide table", max_tokens=1)
        await ada.retrieve(QUESTION, is_access=False)
        await ada.preview_forget("tide table")

    assert await accesses(client, entries) == {TURIN: 4, TIDES: 1}  # once the other has closed

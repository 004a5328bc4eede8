"""What is said of a topic, and jobs that speak of it, before it is forgotten."""

from datetime import UTC, datetime
from typing import Any

from mnestic.memory.errors import StaleRequestError
from mnestic.memory.forgetting.requests import TopicForgotten
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.conftest import Jobs, plan_of

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PLAN = plan_of("travel")


def said(source_id: str, content: str, *, speaker: str = "Mara") -> Resource:
    return Resource(
        session_id="chat",
        source_id=source_id,
        channel="mail",
        speaker=speaker,
        content=content,
        at=AT,
    )


async def learn(client: MnesticClient, *messages: Resource, agent: str = "ada") -> None:
    await client.memory(agent).ingest(messages)
    await (await start_ingest(client, agent_id=agent)).result()


async def wait_in(jobs: Jobs, job_id: str) -> None:
    await jobs.start_waiting(
        PLAN, job_id=job_id, session_id=f"s-{job_id}", inputs={"city": "Paris"}
    )


async def end(jobs: Jobs, job_id: str, **payload: Any) -> None:
    await jobs.resume_job(job_id, payload, request_id=f"end-{job_id}")
    await jobs.wait_for_result(job_id)


async def contents(memory: MemoryClient) -> set[str]:
    """What the entries of an agent say."""
    entries, _ = await memory.entries.list(EntryQuery())
    return {entry.content for entry in entries}


async def facts_of(memory: MemoryClient) -> set[str]:
    facts, _ = await memory.facts.list(statuses=("active", "archived"))
    return {f"{fact.subject} {fact.predicate} {fact.object}" for fact in facts}


async def forget(memory: MemoryClient, topic: str) -> TopicForgotten:
    """Has a topic forgotten, by the token of its preview; looks again if extraction has changed what would go."""
    while True:
        shown = await memory.preview_forget(topic)
        try:
            return await memory.forget(topic, confirm=shown.token)
        except StaleRequestError:
            continue

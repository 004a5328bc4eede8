"""What is said of a topic, and jobs that speak of it, before it is forgotten."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from mnestic.memory.errors import StaleRequestError
from mnestic.memory.forgetting.requests import TopicForgotten
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

Until = Callable[..., Awaitable[Any]]
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PLAN = """
name: travel
nodes:
  - id: hear
    kind: remember
    message: {role: user, speaker: Mara, content: "We fly to ${input.city} in May. The cat stays home."}
    records:
      - {namespace: cities, key: "${input.city}", value: {seen: false}}
      - {namespace: trips, key: next, value: {to: "${input.city}", days: 4}}
    variables: {"plan": "Pack for ${input.city}."}
    next: note
  - {id: note, kind: remember, note: "Look for hotels in ${input.city}.", next: look}
  - {id: look, kind: recall, records: [{namespace: cities}, {namespace: trips}], next: task}
  - id: task
    kind: remember
    task: "Book a hotel in ${input.city}"
    episode: {summary: "Mara flies to ${input.city} in May. Her cat stays home.", payload: {to: "${input.city}"}}
    next: approval
  - id: approval
    kind: wait
    key: approval
    ask: "May I book ${input.city}?"
    timeout: 21d
    on: {resumed: end, timeout: end}
"""


def said(source_id: str, content: str, *, session: str = "chat", speaker: str = "Mara") -> Resource:
    return Resource(
        session_id=session,
        source_id=source_id,
        channel="mail",
        speaker=speaker,
        content=content,
        at=AT,
    )


async def learn(client: MnesticClient, *messages: Resource, agent: str = "ada") -> None:
    await client.memory(agent).ingest(messages)
    await (await start_ingest(client, agent_id=agent)).result()


async def wait_in(
    client: MnesticClient, until: Until, job_id: str, *, agent: str = "ada", city: str = "Paris"
) -> None:
    await client.start_job(
        parse_plan(PLAN, source="test"),
        agent_id=agent,
        session_id=f"s-{job_id}",
        job_id=job_id,
        inputs={"city": city},
    )
    await until(lambda: is_waiting(client, job_id))


async def is_waiting(client: MnesticClient, job_id: str) -> bool:
    return (await client.describe_job(job_id)).state == "waiting"


async def end(client: MnesticClient, job_id: str, **payload: Any) -> None:
    await client.resume_job(job_id, payload, request_id=f"end-{job_id}")
    await client.wait_for_result(job_id)


async def forget(memory: MemoryClient, topic: str) -> TopicForgotten:
    """Has a topic forgotten, by the token of its preview; looks again if extraction has changed what would go."""
    while True:
        shown = await memory.preview_forget(topic)
        try:
            return await memory.forget(topic, confirm=shown.token)
        except StaleRequestError:
            continue

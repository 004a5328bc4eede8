"""Messages that correct the same person's last ones, where the extractor finds nothing in them."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

FIRST = datetime(2026, 3, 2, 12, tzinfo=UTC)
Said = tuple[str, str]  # speaker and text


async def remember(
    memory: Memory,
    settings: Settings,
    *said: Said,
    gap: timedelta = timedelta(minutes=1),
    at_once: bool = True,
) -> MemoryClient:
    agent_id = uuid.uuid4().hex
    client = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id=agent_id)
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    params = IngestInput(tenant_id=settings.tenant_id, agent_id=agent_id)
    messages = [
        Resource(
            session_id="s",
            source_id=f"m{number}",
            channel="chat",
            speaker=speaker,
            content=text,
            at=FIRST + number * gap,
        )
        for number, (speaker, text) in enumerate(said)
    ]
    for batch in [messages] if at_once else [[message] for message in messages]:
        await client.ingest(batch)
        for step in (steps.extract, steps.learn):
            await ActivityEnvironment().run(step, params)
    return client


async def active(client: MemoryClient) -> set[str]:
    facts, _ = await client.facts.list(limit=100)
    return {fact.object for fact in facts}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (("I play the harp and the lute.", "Whoops, not the lute - the viola."), {"harp", "viola"}),
        (("I work at Siemens.", "Just kidding!"), set()),
        (("I'm allergic to shrimp.", "I mixed that up. I'm allergic to celery."), {"celery"}),
        (("I live in Utrecht.", "Typo! Maastricht."), {"Maastricht"}),
        (("I live in Utrecht.", "Sorry, I have to run now."), {"Utrecht"}),
    ],
)
async def test_a_correction_takes_out_what_it_corrects(
    memory: Memory, settings: Settings, said: tuple[str, ...], left: set[str]
) -> None:
    client = await remember(memory, settings, *(("Nora", text) for text in said))

    assert await active(client) == left


@pytest.mark.parametrize(
    ("said", "gap"),
    [
        ((("Nora", "I work at Siemens."), ("Karel", "Just kidding!")), timedelta(minutes=1)),
        ((("Nora", "I work at Siemens."), ("Nora", "Just kidding!")), timedelta(hours=2)),
        (
            (
                ("Nora", "I work at Siemens."),
                ("Nora", "The train is late."),
                ("Nora", "I baked bread."),
                ("Nora", "Just kidding!"),
            ),
            timedelta(minutes=1),
        ),
    ],
    ids=["of somebody else", "of long ago", "of an earlier message"],
)
async def test_a_correction_is_of_ones_own_last_messages(
    memory: Memory, settings: Settings, said: tuple[Said, ...], gap: timedelta
) -> None:
    client = await remember(memory, settings, *said, gap=gap)

    assert "Siemens" in await active(client)

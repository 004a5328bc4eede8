"""A correction in one message takes back what an earlier message said, through the whole of ingestion."""

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


@pytest.mark.parametrize("batches", [1, 2], ids=["in one batch", "in a batch each"])
async def test_a_correction_of_one_of_several_values_reaches_the_message_before_it(
    memory: Memory, settings: Settings, batches: int
) -> None:
    agent_id = uuid.uuid4().hex
    client = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id=agent_id)
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    params = IngestInput(tenant_id=settings.tenant_id, agent_id=agent_id)
    texts = ["My brothers are Luke and Mark.", "Sorry, I meant Marc, not Mark."]
    messages = [
        Resource(
            session_id="s",
            source_id=f"m{number}",
            channel="chat",
            speaker="Ada",
            content=text,
            at=FIRST + timedelta(minutes=number),
        )
        for number, text in enumerate(texts)
    ]

    for batch in [messages] if batches == 1 else [messages[:1], messages[1:]]:
        await client.ingest(batch)
        await ActivityEnvironment().run(steps.extract, params)
        await ActivityEnvironment().run(steps.learn, params)

    facts, _ = await client.facts.list(statuses=("active", "archived"), limit=100)
    assert {(fact.object, fact.status) for fact in facts} == {
        ("Luke", "active"),
        ("Marc", "active"),
        ("Mark", "archived"),
    }

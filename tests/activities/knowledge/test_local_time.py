"""Dates in words are those of the speaker's clock, also where UTC is in another day, or year."""

from datetime import UTC, datetime, timedelta, timezone

from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

SEOUL, LIMA = timezone(timedelta(hours=9)), timezone(timedelta(hours=-5))


def said(name: str, speaker: str, content: str, at: datetime) -> Resource:
    told = {"session_id": "s", "source_id": name, "channel": "chat"}
    return Resource(**told, speaker=speaker, content=content, at=at)


async def test_yesterday_is_by_the_clock_of_who_says_it(memory: Memory, settings: Settings) -> None:
    client = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada")
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    asked = IngestInput(tenant_id=settings.tenant_id, agent_id="ada")
    new_year = datetime(2025, 1, 1, 0, 30, tzinfo=SEOUL)  # in UTC still 2024
    new_years_eve = datetime(2024, 12, 31, 23, 30, tzinfo=LIMA)  # in UTC 2025 by then

    await client.ingest(
        [
            said("m1", "Minjun", "I moved to Busan yesterday.", new_year),
            said("m2", "Rosa", "I moved to Cusco yesterday.", new_years_eve),
        ]
    )
    await ActivityEnvironment().run(steps.extract, asked)
    await ActivityEnvironment().run(steps.learn, asked)

    facts, _ = await client.facts.list(predicate="lives_in")
    entries, _ = await client.entries.list(EntryQuery())
    began = {fact.subject: fact.valid_from for fact in facts}
    told = {entry.speaker: entry.times[0].start for entry in entries}
    busan, cusco = datetime(2024, 12, 31, tzinfo=SEOUL), datetime(2024, 12, 30, tzinfo=LIMA)
    assert began == told == {"Minjun": busan, "Rosa": cusco}


def test_a_message_keeps_the_offset_that_its_time_names() -> None:
    told = said("m1", "Mara", "Hello.", datetime(2025, 1, 1, tzinfo=SEOUL))

    again = Resource.model_validate_json(told.model_dump_json())

    assert again == told
    assert again.local_at.utcoffset() == timedelta(hours=9)
    assert said("m1", "Mara", "Hello.", datetime(2025, 1, 1, tzinfo=UTC)).offset_minutes == 0

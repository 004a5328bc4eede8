"""Acronyms that look like function words are searched for as what they are."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
MESSAGES = {
    "att": "The bill from AT&T came twice.",
    "lunch": "Let us decide who brings it.",
    "it": "The IT people are on holiday.",
    "who": "WHO recommends two doses.",
    "us": "Two of our shops are in the US.",
    "rnd": "R&D gets a new lab.",
    "cpp": "Petra teaches C++ on Mondays.",
    "cake": "Cake is served in the garden.",
    "csharp": "Goran teaches C# on Fridays.",
    "net": "The shop front is a .NET application.",
    "catch": "The net gain was small.",
}


@pytest.fixture
async def ada(memory: Memory, settings: Settings) -> MemoryClient:
    auto = AutoRetriever(
        models=QueryModels(Embedders(TokenVectorEmbedder())), count_tokens=count_tokens
    )
    ada = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada", auto=auto)
    await ada.ingest(
        [
            Resource(
                session_id=name,
                source_id=name,
                channel="chat",
                speaker="Lena",
                content=content,
                at=NOW - timedelta(days=9, minutes=-number),
            )
            for number, (name, content) in enumerate(MESSAGES.items())
        ]
    )
    return ada


async def find(ada: MemoryClient, query: str) -> list[str | None]:
    found = await ada.retrieve(query, min_score=0.5, asked_at=NOW)
    return [one.entry.source_id for one in found.results]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        *[("AT&T", "att"), ("IT", "it"), ("US", "us"), ("WHO", "who"), ("R&D", "rnd")],
        *[("C++", "cpp"), ("C#", "csharp"), (".NET", "net")],
        ("What does the WHO recommend?", "who"),
        ("Hello! What did the WHO say?", "who"),
        ("Is anybody in IT here?", "it"),
        ("Do we have shops in the U.S.?", "us"),
        ("Who teaches C#?", "csharp"),
    ],
)
async def test_an_acronym_finds_its_message(ada: MemoryClient, query: str, first: str) -> None:
    found = await find(ada, query)

    assert found[:1] == [first]
    assert "lunch" not in found
    assert not {"cpp", "csharp"} <= {*found}


async def test_a_function_word_finds_no_acronym(ada: MemoryClient) -> None:
    for query in ("Who lives in Lima?", "what did the who say?", "IT IS RAINING IN LIMA"):
        assert {"who", "it", "us"}.isdisjoint(await find(ada, query)), query


async def test_a_changed_entry_is_found_by_the_acronyms_that_it_has_now(ada: MemoryClient) -> None:
    (found,) = (await ada.retrieve("IT", min_score=0.5, asked_at=NOW)).results

    await ada.entries.change(found.entry.id, content="The people of R&D are on holiday.")

    assert await find(ada, "IT") == []
    assert "it" in await find(ada, "R&D")

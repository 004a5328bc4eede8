"""Acronyms that look like function words, and what tools return, are searched for as what they are."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import said

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


WORLD = yaml.safe_load(Path(__file__).with_name("acronyms.yaml").read_text(encoding="utf-8"))


@pytest.fixture
async def known(ada: MemoryClient) -> MemoryClient:
    at = NOW - timedelta(days=9)
    messages = [
        said(0, text, session_id=name, source_id=name, speaker="Lena", at=at)
        for name, text in WORLD["messages"].items()
    ]
    results = [
        said(0, text, source_id=name, speaker="crm.find", at=at)
        for name, text in WORLD["tools"].items()
    ]
    await ada.ingest(
        [*messages, *(IncomingMessage(resource=one, kind="tool_result") for one in results)]
    )
    return ada


async def find(ada: MemoryClient, query: str) -> list[str | None]:
    found = await ada.retrieve(query, min_score=0.5, asked_at=NOW)
    return [one.entry.source_id for one in found.results]


async def test_an_acronym_finds_its_message_and_a_function_word_none(known: MemoryClient) -> None:
    for query, first in WORLD["acronyms"].items():
        found = await find(known, query)
        assert found[:1] == [first], query
        assert "lunch" not in found
        assert not {"cpp", "csharp"} <= {*found}
    for query in ("Who lives in Lima?", "what did the who say?", "IT IS RAINING IN LIMA"):
        assert {"who", "it", "us"}.isdisjoint(await find(known, query)), query


async def test_a_tool_result_is_found_by_its_keys_and_values(known: MemoryClient) -> None:
    for query, first in WORLD["results"].items():
        assert (await find(known, query))[:1] == [first], query

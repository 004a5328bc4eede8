"""What tools return is found by its keys and values, like what people say."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.knowledge.extraction import TurnKind
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
GUEST = json.dumps({"guest": "Ida Holm", "arrival_time": "18:30"})
MESSAGES: dict[str, tuple[str, TurnKind, str]] = {
    "asks": ("Ida", "message", "Please open my booking."),
    "mcp": (
        "booking.get",
        "tool_result",
        json.dumps({"content": [{"type": "text", "text": GUEST}]}),
    ),
    "lines": ("crm.find", "tool_result", "guest: Ida Holm\nbreakfast: porridge\nfloor: second"),
    "parcel": (
        "parcels.list",
        "tool_result",
        json.dumps([{"parcelId": "83", "deliveryDepot": "Quay Street"}]),
    ),
    "thanks": ("Ida", "message", "Great, that is all I needed."),
}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Ida Holm arrival time", "mcp"),
        ("What is the arrival time of Ida Holm?", "mcp"),
        ("Ida Holm breakfast", "lines"),
        ("What is the breakfast of Ida Holm?", "lines"),
        ("parcelId 83", "parcel"),
        ("deliveryDepot", "parcel"),
        ("parcel id 83", "parcel"),
    ],
)
async def test_a_tool_result_is_found_by_its_keys_and_values(
    memory: Memory, settings: Settings, query: str, first: str
) -> None:
    auto = AutoRetriever(
        models=QueryModels(Embedders(TokenVectorEmbedder())), count_tokens=count_tokens
    )
    ada = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada", auto=auto)
    await ada.ingest(
        [
            IncomingMessage(
                resource=Resource(
                    session_id="s",
                    source_id=name,
                    channel="chat",
                    speaker=speaker,
                    content=content,
                    at=NOW - timedelta(days=2, minutes=-number),
                ),
                kind=kind,
            )
            for number, (name, (speaker, kind, content)) in enumerate(MESSAGES.items())
        ]
    )

    found = (await ada.retrieve(query, min_score=0.5, asked_at=NOW)).results

    assert [one.entry.source_id for one in found][:1] == [first]

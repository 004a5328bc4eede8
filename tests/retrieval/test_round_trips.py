"""How often a question waits for Postgres: the agent may be in another building than its memory."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.wire import Wire, counting

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
END = 1  # a transaction begins together with its first statement; where it does not end with its last one, its end is waited for


@pytest.fixture
async def wire(admin_url: str) -> AsyncIterator[Wire]:
    """A wire to the test's database."""
    async with counting(admin_url.replace("postgres@", "mnestic_app@")) as wire:
        yield wire


@pytest.fixture
async def ada(wire: Wire, settings: Settings) -> AsyncIterator[MemoryClient]:
    """An agent whose memory is at the end of the wire, and of whom nothing is cached."""
    memory = PostgresMemory(wire.url, pool_size=1, cache_bytes=0)
    client = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"))
    await client.add("Mara keeps the spare key under the fern.", speaker="Mara", subjects=["Mara"])
    await client.add("The ferry to Texel leaves at nine.")
    await client.add("The ladder is mine.", speaker="Ines Holt", entry_type="interaction")
    yield client
    await memory.close()


ASKED: dict[str, Any] = {"asked_at": NOON, "is_access": False}
QUESTIONS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("Where is the spare key?", {}, 3),  # the terms, the candidates, the winners with the end
    ("Where does Mara keep the key?", {}, 3),
    ("Where does Holt keep the ladder?", {}, 3),  # a part of a speaker's name
    ("the spare key", {"mode": "text"}, 3),
    ("the spare key", {"entry_types": ("knowledge",)}, 3),
    ("What did Mara say last week about the key?", {}, 3),
    ("When does the ferrz leave?", {}, 4),  # and what the slip may be meant as
    ("Where does Marra keep the key?", {}, 5),  # and what is known of that name
)


async def test_a_question_waits_for_postgres_a_few_times(ada: MemoryClient, wire: Wire) -> None:
    waits = []
    for text, fields, _ in QUESTIONS:
        await ada.retrieve(text, **ASKED, **fields)  # which is prepared now
        before = wire.round_trips
        assert (await ada.retrieve(text, **ASKED, **fields)).results, text
        waits.append((text, fields, wire.round_trips - before))

    assert waits == list(QUESTIONS)


@pytest.mark.usefixtures("ada")
async def test_a_cached_answer_waits_for_what_is_known_alone(
    wire: Wire, settings: Settings
) -> None:
    memory = PostgresMemory(wire.url, pool_size=1)
    caching = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"))
    first = await caching.retrieve("Where is the spare key?", **ASKED)
    before = wire.round_trips

    again = await caching.retrieve("Where is the spare key?", **ASKED)

    assert again == first
    assert wire.round_trips - before == 1 + END
    await memory.close()

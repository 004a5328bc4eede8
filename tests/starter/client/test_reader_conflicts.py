"""What comes twice under different readers, and what follows from private messages without being one."""

from typing import Any

import pytest

from mnestic.activities.knowledge.inbox_messages import store_signals
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.working_memory import Message
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.inbox import Signal
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.names import CORRECTION
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.reader_episode import MORNING, message
from tests.transactions import Begin

STATEMENT = {"subject": "Ben", "predicate": "earns", "object": "5400 euros"}


async def correct(begin: Begin, **more: Any) -> None:
    body = {"source_id": "m1", "session_id": "s", "content": "Ben earns 5400 euros."}
    signal = Signal(
        name=CORRECTION, body=body | {"statement": STATEMENT} | more, size_bytes=1, at=MORNING
    )
    async with begin() as transaction:
        await store_signals(transaction, [signal], owner="o")


async def known_to_anna(client: MnesticClient) -> list[str]:
    memory = client.memory("ada", reader="user.anna")
    facts, _ = await memory.facts.list()
    categories = await memory.contexts.list_categories()
    return [*(one.object for one in facts), *(one.name for one in categories)]


@pytest.mark.parametrize("twin", [{"readers": None}, {"readers": None, "channel": "other"}])
async def test_a_result_has_the_readers_of_the_stored_message(
    client: MnesticClient, twin: dict[str, Any]
) -> None:
    asked = message(1, "Ben", "What do I earn?", ["user.ben"])
    told = IncomingMessage(
        resource=message(2, "payroll", "5400 euros.", None),
        kind="tool_result",
        attached_to=asked.source_id,
    )

    await client.memory("ada").ingest([asked, asked.model_copy(update=twin), told])

    entries, _ = await client.memory("ada", reader="user.anna").entries.list(EntryQuery())
    assert [one.content for one in entries] == []


@pytest.mark.parametrize("way", ["append", "ingest"])
async def test_a_correction_has_the_readers_of_its_stored_message(
    client: MnesticClient, begin: Begin, way: str
) -> None:
    private, memory = (
        message(1, "user", "Ben earns 5400 euros.", ["user.ben"]),
        client.memory("ada"),
    )
    await (memory.messages.append([private]) if way == "append" else memory.ingest([private]))

    await correct(begin)

    assert await known_to_anna(client) == []
    facts, _ = await client.memory("ada", reader="user.ben").facts.list()
    assert [one.object for one in facts] == ["5400 euros"]


async def test_a_private_correction_under_the_id_of_a_public_message_is_refused(
    client: MnesticClient, begin: Begin
) -> None:
    await client.memory("ada").messages.append(
        [message(1, "user", "I want to say something.", None)]
    )

    with pytest.raises(InvalidInputError, match="message s/m1: is kept for other readers"):
        await correct(begin, readers=["user.ben"])

    assert await known_to_anna(client) == []


async def test_a_private_correction_shows_no_category(client: MnesticClient, begin: Begin) -> None:
    await correct(begin, readers=["user.ben"])
    await client.predicates().set("earns", category="work")

    assert await known_to_anna(client) == []


async def test_an_episode_of_a_session_that_a_copy_has_keeps_its_readers(
    client: MnesticClient, begin: Begin
) -> None:
    async def remember(number: int, readers: tuple[str, ...] | None) -> None:
        said = Message(id=f"m{number}", role="user", content="Hm.", at=MORNING, readers=readers)
        episode = Episode(
            id=f"e{number}", agent_id="ada", session_id="s", summary=f"{number}", created_at=MORNING
        )
        async with begin() as transaction:
            state = await transaction.working.load("s", lock=True)
            await transaction.working.save("s", state.with_messages([said]))
            await transaction.episodes.append(episode)
        lines = [line async for line in client.memory("ada").export()]
        await client.memory("copy").import_lines(lines)

    await remember(1, None)
    await remember(2, ("user.ben",))

    for agent in ("ada", "copy"):
        episodes, _ = await client.memory(agent, reader="user.anna").episodes.list()
        assert [one.summary for one in episodes] == ["1"], agent

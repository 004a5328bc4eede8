"""What the entries of messages gain when they are learned from: relations, names, and the facts they made."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SAID = [
    "I live in Utrecht.",
    "I like tea.",
    "I moved to Ghent.",
    "I live in Ghent and I like tea.",
    "I no longer like tea.",
    "Hello there.",
]
Learn = Callable[..., Any]


def said(number: int, text: str) -> Resource:
    return Resource(
        session_id="s1",
        source_id=f"m{number}",
        channel="chat",
        speaker="Mara",
        content=text,
        at=NOON + timedelta(days=number),
    )


@pytest.fixture
def ada(memory: Memory, settings: Settings) -> MemoryClient:
    """The agent's memory from outside."""
    return MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada")


@pytest.fixture
def learn(memory: Memory, settings: Settings, ada: MemoryClient) -> Learn:
    """Receives messages and learns from them, so many at a time."""
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )

    async def run(messages: Sequence[Resource], *, limit: int = 200) -> None:
        await ada.ingest(messages)
        asked = IngestInput(tenant_id=settings.tenant_id, agent_id="ada", limit=limit)
        for step in (steps.extract, steps.learn):
            while (await ActivityEnvironment().run(step, asked)).taken:
                pass

    return run


async def entries(ada: MemoryClient, **asked: Any) -> dict[str, Entry]:
    found, _ = await ada.entries.list(EntryQuery(**asked))
    return {entry.source_id or "": entry for entry in found}


async def related(ada: MemoryClient) -> dict[str, list[str]]:
    found = await entries(ada)
    names = {entry.id: name for name, entry in found.items()}
    return {
        name: [names[other] for other in entry.related]
        for name, entry in sorted(found.items())
        if entry.related
    }


RELATED = {"m2": ["m0"], "m3": ["m2", "m1", "m0"], "m4": ["m3", "m1"]}


@pytest.mark.parametrize("limit", [1, 2, 200])
async def test_an_entry_is_related_to_those_that_spoke_of_the_same_before(
    learn: Learn, ada: MemoryClient, limit: int
) -> None:
    await learn([said(number, text) for number, text in enumerate(SAID)], limit=limit)

    assert await related(ada) == RELATED


async def test_messages_that_come_in_another_order_are_related_as_well(
    learn: Learn, ada: MemoryClient
) -> None:
    for number in (3, 0, 4, 5, 2, 1):
        await learn([said(number, SAID[number])])

    assert await related(ada) == RELATED


async def test_what_is_removed_is_related_to_nothing_any_more(
    learn: Learn, ada: MemoryClient
) -> None:
    await learn([said(number, text) for number, text in enumerate(SAID)])
    before = await entries(ada)
    gone = before["m0"]

    await ada.entries.remove(gone.id)

    assert await related(ada) == {"m3": ["m2", "m1"], "m4": ["m3", "m1"]}
    assert await entries(ada, related=gone.id) == {}
    assert (await entries(ada))["m3"].importance < before["m3"].importance


async def test_relations_make_an_entry_more_important(learn: Learn, ada: MemoryClient) -> None:
    await learn([said(number, "I live in Ghent.") for number in range(3)])

    found = await entries(ada)
    weights = {name: entry.importance for name, entry in found.items()}
    assert weights["m1"] - weights["m0"] == pytest.approx(0.15 / 5, abs=0.01)
    assert weights["m2"] - weights["m1"] == pytest.approx(0.15 / 5, abs=0.01)


async def test_the_facts_of_an_entry_are_those_that_follow_from_its_message_now(
    learn: Learn, ada: MemoryClient
) -> None:
    await learn([said(2, "I live in Ghent.")])
    (entry,) = (await entries(ada)).values()
    first = await ada.entries.list_facts(entry)
    await learn([said(1, "I live in Ghent."), said(3, "I moved to Genk.")])

    (now,) = await ada.entries.list_facts(entry)

    assert [(fact.object, fact.status) for fact in first] == [("Ghent", "active")]
    assert (now.object, now.status, len(now.claims)) == ("Ghent", "archived", 2)


async def test_who_tells_a_name_is_found_by_it(learn: Learn, ada: MemoryClient) -> None:
    await learn([said(1, "I live in Ghent."), said(2, "My nickname is Mo.")])

    named = await entries(ada, subject="mo")

    assert sorted(named) == ["m1", "m2"]
    assert named["m2"].aliases == ("Mo",)
    assert await entries(ada, subject="Jonas") == {}


async def test_what_is_about_somebody_by_one_name_is_found_by_each_other(
    learn: Learn, ada: MemoryClient
) -> None:
    await learn([said(1, "My nickname is Mo."), said(2, "My full name is Mara Oosting.")])
    await ada.add("Likes tea.", subjects=["Mo"], source_id="m3")
    await ada.add("Likes maps.", subjects=["Jonas"], source_id="m4")

    for name in ("Mara", "Mo", "Mara Oosting"):
        assert sorted(await entries(ada, subject=name)) == ["m1", "m2", "m3"]


async def test_a_name_that_is_no_longer_used_finds_what_told_it_alone(
    learn: Learn, ada: MemoryClient
) -> None:
    messages = ["I live in Ghent.", "My nickname is Mo.", "My nickname is Mimi."]
    await learn([said(number, text) for number, text in enumerate(messages)])

    assert sorted(await entries(ada, subject="Mo")) == ["m1"]
    assert sorted(await entries(ada, subject="Mimi")) == ["m0", "m1", "m2"]


async def test_an_end_of_what_was_not_known_gives_its_entry_no_tag(
    learn: Learn, ada: MemoryClient
) -> None:
    await learn(
        [
            said(0, "I play the harp."),
            said(1, "I gave up the scouts."),
            said(2, "I gave up the harp."),
        ]
    )

    found = await entries(ada)

    assert [found[name].tags for name in ("m0", "m1", "m2")] == [
        ("preferences",),
        (),
        ("preferences",),
    ]

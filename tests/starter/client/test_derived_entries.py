"""Facts and episodes as entries of the index: they are found, and they leave it with what they were made of."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.knowledge.entries import EntryKind, EntryQuery
from mnestic.memory.ports import Memory
from mnestic.memory.retrieval.queries import Retrieval
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory

DERIVED: tuple[EntryKind, ...] = ("fact", "episode")


@pytest.fixture
def ada(client: MnesticClient) -> MemoryClient:
    """The memory of one agent."""
    return client.memory("ada")


def told(found: Retrieval) -> list[tuple[str, str]]:
    """The results by kind and text."""
    return [(one.entry.kind, one.entry.content) for one in found.results]


async def append(memory: Memory, settings: Settings, said: tuple[str, str]) -> None:
    """An episode of ada, as the end of a job leaves one."""
    episode_id, summary = said
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        episode = Episode(
            id=f"{settings.tenant_id}/{episode_id}",
            agent_id="ada",
            session_id="s1",
            summary=summary,
            created_at=await transaction.now(),
        )
        await transaction.episodes.append(episode)


async def derived(memory: MemoryClient) -> list[str]:
    """What the index has of facts and episodes."""
    query = EntryQuery(kinds=DERIVED, expired=True)
    entries, _ = await memory.entries.list(query, limit=1000)
    return sorted(entry.content for entry in entries)


@pytest.mark.usefixtures("worker")
async def test_a_value_that_was_corrected_by_hand_answers(
    client: MnesticClient, ada: MemoryClient
) -> None:
    await ada.add("My name is Kim. I live in Ghent.", speaker="Kim")
    await (await start_ingest(client, agent_id="ada")).result()
    await ada.facts.add("Kim", "lives_in", "Oslo")

    found = await ada.retrieve("Where does Kim live?")

    assert told(found)[:1] == [("fact", "Kim lives in Oslo.")]
    assert not any("Ghent" in content for _, content in told(found))


@pytest.mark.usefixtures("worker")
async def test_a_fact_of_a_message_needs_no_entry_of_its_own(
    client: MnesticClient, ada: MemoryClient
) -> None:
    await ada.add("I live in Ghent.", speaker="Kim")
    await (await start_ingest(client, agent_id="ada")).result()

    facts, _ = await ada.facts.list(subject="Kim")

    assert [fact.object for fact in facts] == ["Ghent"]
    assert await derived(ada) == []


@pytest.mark.usefixtures("worker")
async def test_what_a_message_states_at_last_leaves_the_facts_entry(
    client: MnesticClient, ada: MemoryClient
) -> None:
    await ada.facts.add("Kim", "lives_in", "Ghent")
    before = await derived(ada)
    await ada.add("I live in Ghent.", speaker="Kim")
    await (await start_ingest(client, agent_id="ada")).result()
    stated = await derived(ada)
    (message,), _ = await ada.entries.list(EntryQuery())
    await ada.entries.remove(message.id)

    assert before == ["Kim lives in Ghent."]
    assert stated == []
    assert await derived(ada) == ["Kim lives in Ghent."]


async def test_a_fact_that_ends_leaves_the_index_at_once(ada: MemoryClient) -> None:
    await ada.facts.add("Kim", "lives_in", "Ghent")
    (likes,) = await ada.facts.add("Kim", "likes", "tea")
    await ada.facts.add("Kim", "lives_in", "Oslo")
    superseded = await derived(ada)
    await ada.facts.delete(likes.fact.id)

    assert superseded == ["Kim likes tea.", "Kim lives in Oslo."]
    assert await derived(ada) == ["Kim lives in Oslo."]
    assert ("fact", "Kim likes tea.") not in told(await ada.retrieve("Does Kim like tea?"))


async def test_a_fact_that_is_reactivated_is_found_again(ada: MemoryClient) -> None:
    (ghent,) = await ada.facts.add("Kim", "lives_in", "Ghent")
    await ada.facts.add("Kim", "lives_in", "Oslo")
    await ada.facts.reactivate(ghent.fact.id)

    assert await derived(ada) == ["Kim lives in Ghent."]


async def test_a_fact_is_found_until_its_end(ada: MemoryClient) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1.5)
    await ada.facts.add("Kim", "lives_in", "Oslo", valid_to=soon)
    before = told(await ada.retrieve("Where does Kim live?"))
    async with asyncio.timeout(20):
        while await ada.facts.now() <= soon:  # noqa: ASYNC110 - a clock
            await asyncio.sleep(0.05)

    assert before == [("fact", f"Kim lives in Oslo until {soon:%Y-%m-%d}.")]
    assert told(await ada.retrieve("Where does Kim live?")) == []


async def test_a_question_about_the_past_brings_no_fact_of_today(ada: MemoryClient) -> None:
    began = datetime(2024, 5, 1, tzinfo=UTC)
    await ada.facts.add("Kim", "lives_in", "Oslo", valid_from=began)

    def asked(year: int) -> dict[str, Any]:
        return {"as_of": datetime(year, 6, 1, tzinfo=UTC)}

    assert told(await ada.retrieve("Where does Kim live?", **asked(2024))) != []
    assert told(await ada.retrieve("Where does Kim live?", **asked(2023))) == []


async def test_the_entries_of_others_facts_answer_no_question_about_somebody(
    ada: MemoryClient,
) -> None:
    await ada.facts.add("Kim", "lives_in", "Oslo")
    await ada.facts.add("Tom", "lives_in", "Bergen")

    found = await ada.retrieve("Where does Kim live?")

    assert told(found) == [("fact", "Kim lives in Oslo.")]


async def test_results_are_filtered_by_kind(ada: MemoryClient) -> None:
    await ada.add("Kim keeps bees behind the house.")
    await ada.facts.add("Kim", "owns", "bees")

    for kind in ("message", "fact"):
        found = await ada.retrieve("What about Kim's bees?", kinds=[kind])

        assert [one.entry.kind for one in found.results] == [kind]
    assert told(await ada.retrieve("What about Kim's bees?", kinds=["episode"])) == []


async def test_a_category_finds_the_facts_of_it(ada: MemoryClient) -> None:
    await ada.facts.add("Kim", "lives_in", "Oslo")
    await ada.facts.add("Kim", "likes", "Oslo")

    found = await ada.retrieve("Oslo", categories=["preferences"])

    assert told(found) == [("fact", "Kim likes Oslo.")]


async def test_an_alias_that_was_added_by_hand_names_its_subject(ada: MemoryClient) -> None:
    await ada.facts.add("Kim", "nickname", "Kimmy")
    await ada.facts.add("Kim", "lives_in", "Oslo")

    assert ("fact", "Kim lives in Oslo.") in told(await ada.retrieve("Where does Kimmy live?"))


async def test_what_follows_from_a_fact_is_not_changed_by_itself(ada: MemoryClient) -> None:
    (change,) = await ada.facts.add("Kim", "lives_in", "Oslo")

    with pytest.raises(InvalidInputError, match="follows from a fact"):
        await ada.entries.change(change.fact.id, content="Kim lives in Rome.")
    with pytest.raises(InvalidInputError, match="follows from a fact"):
        await ada.entries.remove(change.fact.id)
    with pytest.raises(InvalidInputError, match="follows from a fact"):
        await ada.add("A flat with a view.", parent=change.fact.id)


async def test_numbers_count_messages_and_name_the_kinds(ada: MemoryClient) -> None:
    await ada.add("Kim keeps bees behind the house.")
    await ada.facts.add("Kim", "lives_in", "Oslo")

    entries = (await ada.stats()).entries

    assert (entries.total, entries.by_kind) == (1, {"message": 1, "fact": 1})
    assert set(entries.embedded.values()) == {1}
    assert [entry.kind for entry in (await ada.entries.list(EntryQuery()))[0]] == ["message"]


async def test_a_context_tells_a_fact_once(ada: MemoryClient) -> None:
    await ada.facts.add("Kim", "lives_in", "Oslo")

    context = await ada.context_for_query("Where does Kim live?", max_tokens=400)

    assert context.text.count("Oslo") == 1
    assert [part.kind for part in context.kept] == ["fact"]


async def test_an_episode_is_found_behind_the_value_that_is_so(
    ada: MemoryClient, memory: PostgresMemory, settings: Settings
) -> None:
    await ada.facts.add("Kim", "lives_in", "Ghent")
    await append(memory, settings, ("e1", "Kim lives in Ghent and ordered a boat."))
    before = told(await ada.retrieve("Where does Kim live?"))
    await ada.facts.add("Kim", "lives_in", "Oslo")

    after = told(await ada.retrieve("Where does Kim live?"))

    assert ("episode", "Kim lives in Ghent and ordered a boat.") in before
    assert after[0] == ("fact", "Kim lives in Oslo.")
    assert [kind for kind, _ in told(await ada.retrieve("Who ordered a boat?"))] == ["episode"]


@pytest.mark.usefixtures("worker")
async def test_an_export_has_no_derived_entries_and_makes_the_same_ones(
    client: MnesticClient,
    ada: MemoryClient,
    memory: PostgresMemory,
    settings: Settings,
) -> None:
    await ada.add("I live in Ghent.", speaker="Kim")
    await (await start_ingest(client, agent_id="ada")).result()
    await ada.facts.add("Kim", "likes", "tea")
    await append(memory, settings, ("e1", "The boat was ordered."))
    lines = [line async for line in ada.export()]
    eve = client.memory("eve")

    await eve.import_lines(lines)

    assert not any("Kim likes tea." in line.model_dump_json() for line in lines)
    assert await derived(eve) == await derived(ada) == ["Kim likes tea.", "The boat was ordered."]
    assert [line async for line in eve.export()][1:] == lines[1:]


async def test_what_is_so_until_something_known_begins_is_found_until_then(
    ada: MemoryClient,
) -> None:
    later = datetime(2999, 1, 1, tzinfo=UTC)
    await ada.facts.add("Kim", "lives_in", "Oslo")
    await ada.facts.add("Kim", "lives_in", "Rome", valid_from=later)

    assert await derived(ada) == [
        "Kim lives in Oslo until 2999-01-01.",
        "Kim lives in Rome from 2999-01-01.",
    ]
    assert ("fact", "Kim lives in Oslo until 2999-01-01.") in told(
        await ada.retrieve("Where does Kim live?")
    )


@pytest.mark.usefixtures("worker")
async def test_what_is_forgotten_is_in_no_derived_entry(
    ada: MemoryClient, memory: PostgresMemory, settings: Settings
) -> None:
    await ada.facts.add("Kim", "lives_in", "Oslo")
    await ada.facts.add("Kim", "likes", "tea")
    await append(memory, settings, ("e1", "A boat to Oslo was ordered. Kim had tea."))

    preview = await ada.preview_forget("Oslo")
    await ada.forget("Oslo", confirm=preview.token)

    tea, episode = await derived(ada)
    assert "Oslo" not in episode
    assert "Kim had tea." in episode
    assert tea == "Kim likes tea."

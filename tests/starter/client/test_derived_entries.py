"""Facts and episodes as entries of the index: they are found, and they leave it with what they were made of."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.knowledge.entries import EntryKind, EntryQuery
from mnestic.memory.retrieval.queries import Retrieval
from mnestic.starter.client.memory_client import MemoryClient
from tests.transactions import Begin

DERIVED: tuple[EntryKind, ...] = ("fact", "episode")


def told(found: Retrieval) -> list[tuple[str, str]]:
    """The results by kind and text."""
    return [(one.entry.kind, one.entry.content) for one in found.results]


async def append(begin: Begin, episode_id: str, summary: str) -> None:
    """An episode of ada, as the end of a job leaves one."""
    async with begin() as transaction:
        episode = Episode(
            id=episode_id,
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


async def test_what_follows_from_a_fact_is_not_changed_by_itself(ada: MemoryClient) -> None:
    (change,) = await ada.facts.add("Kim", "lives_in", "Oslo")

    with pytest.raises(InvalidInputError, match="follows from a fact"):
        await ada.entries.change(change.fact.id, content="Kim lives in Rome.")
    with pytest.raises(InvalidInputError, match="follows from a fact"):
        await ada.entries.delete(change.fact.id)
    with pytest.raises(InvalidInputError, match="follows from a fact"):
        await ada.add("A flat with a view.", parent=change.fact.id)


async def test_an_episode_is_found_behind_the_value_that_is_so(
    ada: MemoryClient, begin: Begin
) -> None:
    await ada.facts.add("Kim", "lives_in", "Ghent")
    await append(begin, "e1", "Kim lives in Ghent and ordered a boat.")
    before = told(await ada.retrieve("Where does Kim live?"))
    await ada.facts.add("Kim", "lives_in", "Oslo")

    after = told(await ada.retrieve("Where does Kim live?"))

    assert ("episode", "Kim lives in Ghent and ordered a boat.") in before
    assert after[0] == ("fact", "Kim lives in Oslo.")
    assert [kind for kind, _ in told(await ada.retrieve("Who ordered a boat?"))] == ["episode"]


async def test_entries_of_facts_are_found_while_the_facts_hold(ada: MemoryClient) -> None:
    later, began = datetime(2999, 1, 1, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC)
    (ghent,) = await ada.facts.add("Kim", "lives_in", "Ghent", valid_from=began)
    (likes,) = await ada.facts.add("Kim", "likes", "tea")
    then = [
        told(await ada.retrieve("Where does Kim live?", as_of=datetime(year, 6, 1, tzinfo=UTC)))
        for year in (2023, 2024)
    ]
    await ada.facts.add("Kim", "lives_in", "Oslo")
    superseded = await derived(ada)
    await ada.facts.delete(likes.fact.id)
    deleted = told(await ada.retrieve("Does Kim like tea?"))
    await ada.facts.reactivate(ghent.fact.id)
    back = await derived(ada)
    await ada.facts.add("Kim", "lives_in", "Rome", valid_from=later)

    assert [len(found) for found in then] == [0, 1]
    assert superseded == ["Kim likes tea.", "Kim lives in Oslo."]
    assert ("fact", "Kim likes tea.") not in deleted
    assert back == ["Kim lives in Ghent."]
    assert await derived(ada) == [
        "Kim lives in Ghent until 2999-01-01.",
        "Kim lives in Rome from 2999-01-01.",
    ]


async def test_results_are_filtered_by_kind_and_category(ada: MemoryClient) -> None:
    await ada.add("Kim keeps bees behind the house.")
    await ada.facts.add("Kim", "owns", "bees")
    await ada.facts.add("Kim", "likes", "bees")
    question = "What about Kim's bees?"
    found = {
        kind: {one.entry.kind for one in (await ada.retrieve(question, kinds=[kind])).results}
        for kind in ("message", "fact", "episode")
    }
    liked = await ada.retrieve("bees", categories=["preferences"])

    assert found == {"message": {"message"}, "fact": {"fact"}, "episode": set()}
    assert told(liked) == [("fact", "Kim likes bees.")]

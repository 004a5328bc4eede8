"""Whom a name means: every name that memory knows leads to the facts."""

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient


@pytest.fixture
async def ada(client: MnesticClient) -> MemoryClient:
    """An agent that knows Katherine Jones, who goes by Kit, and two called Sam."""
    memory = client.memory("ada")
    await memory.facts.add("Katherine Jones", "preferred_name", "Kit")
    await memory.facts.add("Katherine Jones", "lives_in", "Ghent")
    await memory.facts.add("Kit", "likes", "tea")
    await memory.facts.add("Mara", "full_name", "Mara van Dijk")
    await memory.facts.add("Mara", "lives_in", "Rome")
    await memory.facts.add("Samuel", "nickname", "Sam")
    await memory.facts.add("Samantha", "nickname", "Sam")
    await memory.facts.add("Ida Berg", "lives_in", "Oslo")
    await memory.facts.add("Ida Holm", "lives_in", "Bergen")
    await memory.facts.add("Emil Holm", "lives_in", "Turku")
    await memory.add("Writes reports.", subjects=["Hypatia"], aliases=["the librarian"])
    await memory.facts.add("Hypatia", "lives_in", "Alexandria")
    return memory


async def test_any_known_name_leads_to_the_facts(ada: MemoryClient) -> None:
    kit, mara = {"Kit", "Ghent", "tea"}, {"Mara van Dijk", "Rome"}
    known = {
        **dict.fromkeys(("Kit", "KIT", "katherine jones", "Katherine"), kit),
        **dict.fromkeys(("Mara", "Mara van Dijk"), mara),
        "emil": {"Turku"},
        "Librarian": {"Alexandria"},
        "Samuel": {"Sam"},
        "Nobody": set(),
    }

    listed = {name: (await ada.facts.list(subject=name))[0] for name in known}
    worlds = {name: (await ada.facts.world(name)).facts for name in known}

    assert {name: {fact.object for fact in facts} for name, facts in listed.items()} == known
    assert {name: {fact.object for fact in facts} for name, facts in worlds.items()} == known


async def test_a_world_is_told_under_the_name_of_the_subject(ada: MemoryClient) -> None:
    assert (await ada.facts.world("kit")).subject == "Katherine Jones"
    assert (await ada.facts.world("Nobody")).subject == "Nobody"
    assert (await ada.facts.history("Kit", "lives_in")).subject == "Katherine Jones"


async def test_a_history_is_found_by_another_name(ada: MemoryClient) -> None:
    await ada.facts.add("Katherine Jones", "lives_in", "Bonn")

    told = await ada.facts.history("kit", "lives_in")
    context = await ada.contexts.historical("Kit")

    assert [fact.object for fact in told.facts] == ["Ghent", "Bonn"]
    assert "Ghent" in context.text


@pytest.mark.parametrize(
    ("name", "whom"), [("Sam", "Samantha, Samuel"), ("Ida", "Ida Berg, Ida Holm")]
)
async def test_a_name_of_several_is_refused_and_they_are_named(
    ada: MemoryClient, name: str, whom: str
) -> None:
    why = rf"subject: '{name}' is a name of several: {whom}; say which of them"

    with pytest.raises(InvalidInputError, match=why):
        await ada.facts.world(name)
    with pytest.raises(InvalidInputError, match=why):
        await ada.facts.list(subject=name)
    with pytest.raises(InvalidInputError, match=why):
        await ada.facts.history(name, "lives_in")


async def test_a_name_that_another_has_too_is_nobody_s_own(ada: MemoryClient) -> None:
    await ada.facts.add("Sam", "likes", "rain")

    itself, _ = await ada.facts.list(subject="Sam")
    samuel, _ = await ada.facts.list(subject="Samuel")

    assert [fact.object for fact in itself] == ["rain"]
    assert [fact.object for fact in samuel] == ["Sam"]


async def test_other_agents_names_mean_nothing(ada: MemoryClient, client: MnesticClient) -> None:
    assert (await client.memory("bob").facts.world("Kit")).facts == ()
    assert (await ada.facts.world("Kit")).facts


async def test_facts_of_several_names_come_by_pages(ada: MemoryClient) -> None:
    first, cursor = await ada.facts.list(subject="Kit", limit=2)
    rest, end = await ada.facts.list(subject="Kit", limit=2, cursor=cursor)

    assert (len(first), len(rest), end) == (2, 1, None)
    assert {fact.object for fact in (*first, *rest)} == {"Kit", "Ghent", "tea"}

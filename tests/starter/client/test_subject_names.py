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


async def test_any_known_name_leads_to_the_facts_of_its_subject(
    ada: MemoryClient, client: MnesticClient
) -> None:
    kit, mara = {"Kit", "Ghent", "tea"}, {"Mara van Dijk", "Rome"}
    known = {
        **dict.fromkeys(("KIT", "katherine jones", "Katherine"), kit),
        **dict.fromkeys(("Mara", "Mara van Dijk"), mara),
        "emil": {"Turku"},
        "Librarian": {"Alexandria"},
        "Samuel": {"Sam"},
        "Nobody": set(),
    }
    listed = {name: (await ada.facts.list(subject=name))[0] for name in known}
    worlds = {name: await ada.facts.world(name) for name in ("kit", "Nobody")}
    elsewhere = await client.memory("bob").facts.world("Kit")
    first, cursor = await ada.facts.list(subject="Kit", limit=2)
    rest, end = await ada.facts.list(subject="Kit", limit=2, cursor=cursor)
    await ada.facts.add("Katherine Jones", "lives_in", "Bonn")
    history = await ada.facts.history("kit", "lives_in")
    context = await ada.contexts.historical("Kit")

    assert {name: {fact.object for fact in facts} for name, facts in listed.items()} == known
    assert {name: world.subject for name, world in worlds.items()} == {
        "kit": "Katherine Jones",
        "Nobody": "Nobody",
    }
    assert {fact.object for fact in worlds["kit"].facts} == kit
    assert elsewhere.facts == ()
    assert ({fact.object for fact in (*first, *rest)}, end) == (kit, None)
    assert (history.subject, [fact.object for fact in history.facts]) == (
        "Katherine Jones",
        ["Ghent", "Bonn"],
    )
    assert "Ghent" in context.text


async def test_a_name_of_several_is_refused_until_it_is_somebodys_own(ada: MemoryClient) -> None:
    for name, whom in (("Sam", "Samantha, Samuel"), ("Ida", "Ida Berg, Ida Holm")):
        why = rf"subject: '{name}' is a name of several: {whom}; say which of them"
        for asked in (
            ada.facts.world(name),
            ada.facts.list(subject=name),
            ada.facts.history(name, "lives_in"),
        ):
            with pytest.raises(InvalidInputError, match=why):
                await asked
    await ada.facts.add("Sam", "likes", "rain")

    found = {name: (await ada.facts.list(subject=name))[0] for name in ("Sam", "Samuel")}

    assert {name: [fact.object for fact in facts] for name, facts in found.items()} == {
        "Sam": ["rain"],
        "Samuel": ["Sam"],
    }

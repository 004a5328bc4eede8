"""What is about a topic by its meaning, for it to be forgotten."""

import pytest

from mnestic.activities.callers import Caller
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.forgetting.topic_meaning import find_entries_by_meaning
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings


async def test_an_entry_that_has_no_vector_yet_is_not_missed(
    unembedded: Memory, settings: Settings
) -> None:
    embedders = Embedders(TokenVectorEmbedder())
    caller = Caller(memory=unembedded, tenant_id=settings.tenant_id, agent_id="ada", actor="test")
    ada = MemoryClient(unembedded, tenant_id=settings.tenant_id, agent_id="ada")
    await ada.add("The physician prescribed rest.")
    await ada.add("The ferry leaves at noon.")
    async with caller() as transaction:
        assert len(await transaction.entries.list_unembedded(embedders.chosen.name, limit=10)) == 2

    found = await find_entries_by_meaning(caller, "doctors", embedders=embedders)

    assert [one.text for one in found.close] == ["The physician prescribed rest."]
    async with caller() as transaction:
        assert await transaction.entries.list_unembedded(embedders.chosen.name, limit=10) == ()


@pytest.mark.parametrize(
    ("topic", "others"),
    [
        ("Maria Lopez", ["Maria Silva sings tenor.", "Lopez called.", "Ana Lopez sings well."]),
        ("everything about Maria Lopez", ["Maria Silva sings.", "Juan Lopez sings."]),
        ("Project Falcon", ["Project Eagle is late.", "Project Kestrel is late."]),
        ("project falcon", ["Project Eagle is late.", "The project is late."]),
        ("maria lopez", ["Maria Silva sings.", "Ana Lopez sings."]),
        ("Hotel Bellevue", ["Hotel Central has a pool.", "The hotel has a pool."]),
        ("Acme Holdings", ["Apex Holdings went bankrupt.", "Acme Foods pays well."]),
        ("Ministry of Health", ["Ministry of Defence is hiring.", "The ministry is hiring."]),
        ("Lake Como", ["Lake Garda is deep.", "Lake Geneva is deep."]),
        ("supper with Maria Lopez", ["We had dinner with Maria Silva.", "Ana Lopez had supper."]),
    ],
)
async def test_a_proper_name_is_never_another_by_its_meaning(
    unembedded: Memory, settings: Settings, topic: str, others: list[str]
) -> None:
    caller, ada = of_ada(unembedded, settings)
    for text in (*others, "Maria Lopez sings.", "Project Falcon is late.", "It rains."):
        await ada.add(text)

    found = await find_entries_by_meaning(caller, topic, embedders=Embedders(TokenVectorEmbedder()))

    assert not {one.text for one in found.close} & {*others}


@pytest.mark.parametrize("topic", ["Maria Lopez", "maria lopez"])
@pytest.mark.parametrize(
    ("known", "more", "goes"),
    [
        (["Maria Lopez"], [], True),
        (["Maria Lopez", "Maria Silva"], [], False),
        (["Maria Lopez"], ["Yesterday I met Maria Silva at the station in Ghent."], False),
        ([], [], False),
    ],
)
async def test_a_first_name_goes_with_the_only_one_who_has_it(
    unembedded: Memory,
    settings: Settings,
    topic: str,
    known: list[str],
    more: list[str],
    *,
    goes: bool,
) -> None:
    caller, ada = of_ada(unembedded, settings)
    for subject in known:
        await ada.facts.add(subject, "lives_in", "Ghent")
    for text in ("Maria sings well.", "Lopez sings well.", "Maria Lopez sings.", *more):
        await ada.add(text)

    found = await find_entries_by_meaning(caller, topic, embedders=Embedders(TokenVectorEmbedder()))

    assert [one.text for one in found.close] == ["Maria sings well."] * goes


@pytest.mark.parametrize(
    ("topic", "close"),
    [
        ("my divorce", "My marriage ended in court."),
        ("My Divorce", "My marriage ended in court."),
        ("supper with Maria Lopez", "We had dinner with Maria Lopez."),
    ],
)
async def test_common_words_are_found_by_their_meaning(
    unembedded: Memory, settings: Settings, topic: str, close: str
) -> None:
    caller, ada = of_ada(unembedded, settings)
    for text in (close, "Project Falcon is late.", "It rains."):
        await ada.add(text)

    found = await find_entries_by_meaning(caller, topic, embedders=Embedders(TokenVectorEmbedder()))

    assert [one.text for one in found.close] == [close]


def of_ada(memory: Memory, settings: Settings) -> tuple[Caller, MemoryClient]:
    owner = {"tenant_id": settings.tenant_id, "agent_id": "ada"}
    return Caller(memory=memory, **owner, actor="test"), MemoryClient(memory, **owner)


@pytest.mark.parametrize("topic", ["Project Heron", "project heron"])
@pytest.mark.parametrize(
    ("more", "goes"),
    [([], True), (["A heron flew by."], False), (["The Heron Bank is closed."], False)],
)
async def test_what_a_project_is_called_stands_for_it_alone(
    unembedded: Memory, settings: Settings, topic: str, more: list[str], *, goes: bool
) -> None:
    caller, ada = of_ada(unembedded, settings)
    for text in ("Project Heron is late.", "The Heron team met.", "The project ends.", *more):
        await ada.add(text)

    found = await find_entries_by_meaning(caller, topic, embedders=Embedders(TokenVectorEmbedder()))

    assert [one.text for one in found.close] == ["The Heron team met."] * goes

"""What the entries of messages gain when they are learned from: relations, names, and the facts they made."""

from typing import Any

import pytest

from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Learn, said

SAID = [
    "I live in Utrecht.",
    "I like tea.",
    "I moved to Ghent.",
    "I live in Ghent and I like tea.",
    "I no longer like tea.",
    "Hello there.",
]
RELATED = {2: [0], 3: [2, 1, 0], 4: [3, 1]}


async def entries(ada: MemoryClient, **asked: Any) -> dict[int, Entry]:
    """Entries by the numbers of their messages."""
    found, _ = await ada.entries.list(EntryQuery(**asked))
    return {int(str(entry.source_id)[1:]): entry for entry in found}


async def related(ada: MemoryClient) -> dict[int, list[int]]:
    found = await entries(ada)
    numbers = {entry.id: number for number, entry in found.items()}
    return {
        number: [numbers[other] for other in entry.related]
        for number, entry in found.items()
        if entry.related
    }


@pytest.mark.parametrize("order", [range(6), (3, 0, 4, 5, 2, 1)])
async def test_an_entry_is_related_to_those_that_spoke_of_the_same_before(
    learn: Learn, ada: MemoryClient, order: Any
) -> None:
    for number in order:
        await learn(said(number, SAID[number]))

    assert await related(ada) == RELATED


async def test_what_is_removed_is_related_to_nothing_any_more(
    learn: Learn, ada: MemoryClient
) -> None:
    await learn(*(said(number, text) for number, text in enumerate(SAID)))
    assert await related(ada) == RELATED
    before = await entries(ada)

    await ada.entries.delete(before[0].id)

    assert await related(ada) == {3: [2, 1], 4: [3, 1]}
    assert await entries(ada, related=before[0].id) == {}
    assert (await entries(ada))[3].importance < before[3].importance


async def test_the_facts_of_an_entry_are_those_that_follow_from_its_message_now(
    learn: Learn, ada: MemoryClient
) -> None:
    await learn(said(2, "I live in Ghent."))
    (entry,) = (await entries(ada)).values()
    first = await ada.entries.list_facts(entry)
    await learn(said(1, "I live in Ghent."), said(3, "I moved to Genk."))

    (now,) = await ada.entries.list_facts(entry)

    assert [(fact.object, fact.status) for fact in first] == [("Ghent", "active")]
    assert (now.object, now.status, len(now.claims)) == ("Ghent", "archived", 2)


async def test_what_is_about_somebody_is_found_by_each_name_that_is_used(
    learn: Learn, ada: MemoryClient
) -> None:
    await learn(said(1, "My nickname is Mo."), said(2, "My full name is Mara Oosting."))
    await ada.add("Likes tea.", subjects=["Mo"], source_id="m3")
    await ada.add("Likes maps.", subjects=["Jonas"], source_id="m4")

    for name in ("Mara", "mo", "Mara Oosting"):
        assert {*await entries(ada, subject=name)} == {1, 2, 3}
    assert (await entries(ada))[1].aliases == ("Mo",)
    await learn(said(5, "My nickname is Mimi."))
    assert {*await entries(ada, subject="Mo")} == {1, 3}
    assert {1, 2, 5} <= {*await entries(ada, subject="Mimi")}

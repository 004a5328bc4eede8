"""The archive: an entry leaves every index and comes back whole; its facts stay all the while."""

import re
from collections.abc import Callable

import pytest

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import NOON, Execute

INDEXES = ("entry", "entry_term", "posting", "embedding")


@pytest.fixture
def indexed(execute: Execute) -> Callable[[], dict[str, list[str]]]:
    """What each table has of the tenant, without the numbers of entries."""
    query = (
        "SELECT to_jsonb(t) - '{{number,entry_number,first_number,postings,restored_at}}'::text[] FROM ("
        "SELECT * FROM mnestic.{} {}) AS t WHERE tenant_id = %s"
    )
    postings = {"posting": "CROSS JOIN mnestic.unpack_postings(postings)"}

    def read() -> dict[str, list[str]]:
        return {
            name: sorted(str(row) for (row,) in execute(query.format(name, postings.get(name, ""))))
            for name in (*INDEXES, "corpus")
        }

    return read


async def test_an_archived_entry_is_in_no_index_and_comes_back_whole(
    ada: MemoryClient, indexed: Callable[[], dict[str, list[str]]]
) -> None:
    stays = await ada.add("The lake is cold in May.", at=NOON)
    entry = await ada.add(
        "The red boiler hums at night.",
        at=NOON,
        tags=["house"],
        parent=stays.id,
        subjects=["boiler"],
    )
    found = await ada.retrieve("Which boiler hums?", kinds=["message"], is_access=False)
    before, rows = await ada.entries.get(entry.id), indexed()

    await ada.entries.archive(entry.id)
    archived = indexed()
    missed = await ada.retrieve("Which boiler hums?", kinds=["message"], is_access=False)
    ((one,), _) = await ada.entries.list_archived()
    back = await ada.entries.restore(entry.id)

    assert entry.id in [hit.entry.id for hit in found.results]
    assert entry.id not in [hit.entry.id for hit in missed.results]
    assert not [row for name in INDEXES for row in archived[name] if re.search("boiler|house", row)]
    assert (one.mark.reason, one.entry) == ("by_hand", before)
    assert back == before
    assert indexed() == rows
    again = await ada.retrieve("Which boiler hums?", kinds=["message"], is_access=False)
    assert [(hit.entry.id, hit.score) for hit in again.results] == [
        (hit.entry.id, hit.score) for hit in found.results
    ]
    assert await ada.entries.list_archived() == ((), None)


async def test_edges_hold_again_once_an_entry_is_restored_unless_their_end_is_gone(
    ada: MemoryClient,
) -> None:
    above = await ada.add("The house by the lake.", source_id="m1", at=NOON)
    below = await ada.add("Its boiler hums.", parent=above.id, at=NOON)

    await ada.entries.archive(above.id)
    assert (await ada.entries.get(below.id)).parent == above.id
    again = await ada.add("The house by the lake.", source_id="m1", at=NOON)
    assert again.id == above.id  # and stays there
    assert [one.id for one in (await ada.entries.list(EntryQuery()))[0]] == [below.id]
    await ada.entries.restore(above.id)
    children, _ = await ada.entries.list(EntryQuery(parent=above.id))
    await ada.entries.archive(below.id)
    await ada.entries.delete(above.id)
    restored = await ada.entries.restore(below.id)

    assert [child.id for child in children] == [below.id]
    assert (restored.parent, restored.content) == (None, below.content)
    assert restored.importance == pytest.approx(below.importance)


async def test_what_cannot_be_archived_or_restored_is_refused(ada: MemoryClient) -> None:
    fact = (await ada.facts.add("Mara", "lives_in", "Porto"))[0].fact

    with pytest.raises(InvalidInputError, match="follows from a fact"):
        await ada.entries.archive(fact.id)
    with pytest.raises(NotFoundError, match="archived entry nothing"):
        await ada.entries.restore("nothing")

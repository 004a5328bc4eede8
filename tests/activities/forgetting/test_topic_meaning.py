"""What is about a topic by its meaning, for it to be forgotten."""

from collections.abc import Awaitable, Callable, Sequence

import pytest

from mnestic.activities.callers import Caller
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.forgetting.topic_meaning import find_entries_by_meaning
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

Close = Callable[..., Awaitable[list[str]]]


@pytest.fixture
def caller(unembedded: Memory, settings: Settings) -> Caller:
    return Caller(memory=unembedded, tenant_id=settings.tenant_id, agent_id="ada", actor="test")


@pytest.fixture
def close(caller: Caller) -> Close:
    """What is close to a topic, of texts that ada has added."""

    async def find(topic: str, *texts: str, subjects: Sequence[str] = ()) -> list[str]:
        ada = MemoryClient(client_caller(caller.memory, tenant_id=caller.tenant_id, agent_id="ada"))
        for subject in subjects:
            await ada.facts.add(subject, "lives_in", "Ghent")
        for text in texts:
            await ada.add(text)
        embedders = Embedders(TokenVectorEmbedder())
        found = await find_entries_by_meaning(caller, topic, embedders=embedders)
        return [one.text for one in found.close]

    return find


async def test_an_entry_that_has_no_vector_yet_is_not_missed(caller: Caller, close: Close) -> None:
    texts = ("The physician prescribed rest.", "The ferry leaves at noon.")

    assert await close("doctors", *texts) == [texts[0]]
    async with caller() as transaction:
        assert await transaction.entries.list_unembedded(TokenVectorEmbedder().name, limit=10) == ()


@pytest.mark.parametrize(
    ("topic", "others"),
    [
        ("Maria Lopez", ["Maria Silva sings tenor.", "Lopez called.", "Ana Lopez sings well."]),
        ("Project Falcon", ["Project Eagle is late.", "Project Kestrel is late."]),
    ],
)
async def test_a_proper_name_is_never_another_by_its_meaning(
    close: Close, topic: str, others: list[str]
) -> None:
    texts = (*others, "Maria Lopez sings.", "Project Falcon is late.", "It rains.")

    assert not {*await close(topic, *texts)} & {*others}


@pytest.mark.parametrize(
    ("topic", "known", "more", "goes"),
    [
        ("Maria Lopez", ["Maria Lopez"], [], True),
        ("Maria Lopez", ["Maria Lopez", "Maria Silva"], [], False),
        ("Maria Lopez", ["Maria Lopez"], ["I met Maria Silva at the station in Ghent."], False),
    ],
)
async def test_a_first_name_goes_with_the_only_one_who_has_it(
    close: Close,
    topic: str,
    known: list[str],
    more: list[str],
    *,
    goes: bool,
) -> None:
    texts = ("Maria sings well.", "Lopez sings well.", "Maria Lopez sings.", *more)

    assert await close(topic, *texts, subjects=known) == ["Maria sings well."] * goes

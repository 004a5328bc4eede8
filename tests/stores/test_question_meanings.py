"""What a question means is worked out while Postgres is asked about its names; that these may be others changes nothing."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.retrieving import retrieve
from mnestic.memory.language import Embedded
from mnestic.memory.retrieval import RetrievalQuery
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.embedding import embed
from tests.stores.entry_samples import NOON
from tests.stores.kept_samples import read_ahead

TOLD = (
    "The ferry to Ghent was late.",
    "The harbour has a new crane.",
    "Tea helps.",
    "Rowing hurts.",
)


class Noting(TokenVectorEmbedder):
    """The local embedder, which notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self.asked.append(tuple(texts))
        return await super().embed(texts)


Ask = Callable[[PostgresMemory, str], Awaitable[tuple[list[str], list[tuple[str, ...]]]]]


@pytest.fixture
def ask(settings: Settings) -> Ask:
    """Asks, and tells what was found, and which texts were embedded for that."""

    async def ask(memory: PostgresMemory, question: str) -> tuple[list[str], list[tuple[str, ...]]]:
        embedder = Noting()
        begin = partial(
            memory.transaction,
            tenant_id=settings.tenant_id,
            agent_id="ada",
            actor="test",
            write=False,
        )
        query = RetrievalQuery(text=question, asked_at=NOON)
        found = await retrieve(begin, query, embedder=embedder)
        return [one.entry.content for one in found.found], embedder.asked

    return ask


async def test_the_meaning_of_a_question_is_foreseen_by_the_names_that_are_at_hand(
    memory: PostgresMemory, forgetful: PostgresMemory, settings: Settings, ask: Ask
) -> None:
    owner = (settings.tenant_id, "ada")
    client = MemoryClient(forgetful, tenant_id=owner[0], agent_id=owner[1])
    for number, text in enumerate(TOLD):
        await client.add(text, subjects=["Mara"], at=NOON - timedelta(hours=number))
    async with forgetful.transaction(
        tenant_id=owner[0], agent_id="ada", actor="test", write=True
    ) as transaction:
        await embed(transaction, number=len(TOLD))
    for _ in range(3):  # until all vectors are kept
        await ask(memory, "Was there a crane?")
    await read_ahead(memory._ahead, owner)
    assert memory._kept.knows_all(owner)

    unforeseen = await ask(memory, "Where was the ferry of Mara?")
    foreseen = await ask(memory, "Where was the late ferry of Mara?")
    await client.add("Bo repairs the crane.", subjects=["Bo"], at=NOON)
    misled = await ask(memory, "Where was the crane of Bo?")

    assert unforeseen[1] == [("Where was the ferry of Mara",), ("Where was the ferry of",)]
    assert foreseen[1] == [("Where was the late ferry of",)]
    assert misled[1][-1][0] == "Where was the crane of"
    for found, question in (
        (unforeseen, "Where was the ferry of Mara?"),
        (foreseen, "Where was the late ferry of Mara?"),
        (misled, "Where was the crane of Bo?"),
    ):
        assert found[0]
        assert found[0] == (await ask(forgetful, question))[0]


async def test_nothing_is_foreseen_where_little_is_at_hand_or_meaning_is_not_asked(
    memory: PostgresMemory, settings: Settings, ask: Ask
) -> None:
    client = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada")
    await client.add(TOLD[0], subjects=["Mara"], at=NOON)
    begin = partial(
        memory.transaction, tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=False
    )
    embedder = Noting()

    before = await ask(memory, "Where was the ferry of Mara?")
    await read_ahead(memory._ahead, (settings.tenant_id, "ada"))
    query = RetrievalQuery(text="Where was the ferry of Mara?", mode="text", asked_at=NOON)
    by_words = await retrieve(begin, query, embedder=embedder)

    assert [texts[0] for texts in before[1]] == ["Where was the ferry of"]
    assert by_words.found
    assert not embedder.asked

"""The plain searches that retrieval is measured against, held to their formulas."""

import math

import numpy as np
import psycopg
import pytest

from benchmarks.locomo.baselines import PlainIndex, _bm25, lexemes_of
from mnestic.memory.knowledge.entries import Embedding
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

TEXTS = {
    "tide": "The tide comes in at noon.",
    "boat": "A boat leaves with the tide.",
    "bread": "Bread is baked at night.",
}
VECTORS = {"tide": (1.0, 0.0), "boat": (0.6, 0.8), "bread": (0.0, 1.0)}


@pytest.fixture
async def index(memory: Memory, settings: Settings, admin_url: str) -> PlainIndex:
    ada = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"))
    entries = {name: await ada.add(text, source_id=name) for name, text in TEXTS.items()}
    await MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="bob")).add(
        "Another tide."
    )
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        embeddings = [
            Embedding(
                entry_id=entries[name].id,
                content=TEXTS[name],
                vector=np.array(vector, "<f4").tobytes(),
            )
            for name, vector in VECTORS.items()
        ]
        await transaction.entries.embed("m", embeddings)
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        return await PlainIndex.load(
            connection, tenant_id=settings.tenant_id, agent_id="ada", model="m"
        )


async def test_each_search_has_its_own_order(index: PlainIndex) -> None:
    found = index.rank(["boat", "tide"], np.array((0.0, 1.0), "<f4").tobytes())

    assert found["bm25"] == ["boat", "tide"]
    assert found["vectors"] == ["bread", "boat", "tide"]
    assert found["rank_fusion"] == ["boat", "tide", "bread"]  # 1/61 + 1/62, 1/62 + 1/63, 1/61


async def test_words_that_nothing_has_find_nothing(index: PlainIndex) -> None:
    found = index.rank(["walrus"], np.array((1.0, 0.0), "<f4").tobytes())

    assert found["bm25"] == []
    assert found["rank_fusion"] == found["vectors"] == ["tide", "boat", "bread"]


async def test_a_question_has_the_lexemes_of_entries(admin_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        assert await lexemes_of(connection, "When do the boats leave?") == ["boat", "leav"]


def test_bm25_is_that_of_the_books() -> None:
    scores = _bm25([("tide", 0, 2), ("tide", 1, 1)], lengths=np.array([4.0, 2.0, 3.0]))

    where, added = scores["tide"]
    rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    assert list(where) == [0, 1]
    assert added[0] == pytest.approx(rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3)))
    assert added[1] == pytest.approx(rarity * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)))

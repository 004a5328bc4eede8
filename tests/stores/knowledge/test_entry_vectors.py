"""Vectors that entries get in the transaction that writes them."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence

import numpy as np
import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.activities.clients.token_vectors import NAME, TokenVectorEmbedder
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.memory.models.messages import Embeddings
from mnestic.memory.ports import Embedder
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.embedding import embed
from tests.stores.entry_samples import entry
from tests.transactions import Begin

Owner = psycopg.Connection[TupleRow]
Stored = Callable[[], dict[str, list[float]]]
Tokens = Callable[[], dict[str, bytes | None]]
_VECTORS = """
SELECT e.id, CAST(v.vector AS real[]) FROM mnestic.embedding AS v
  JOIN mnestic.entry AS e ON e.tenant_id = v.tenant_id AND e.number = v.entry_number
 WHERE v.tenant_id = %s AND v.model = %s
"""


_TOKENS = "SELECT id, tokens FROM mnestic.entry WHERE tenant_id = %s ORDER BY id"


class BrokenEmbedder(TokenVectorEmbedder):
    """One whose weights cannot be read."""

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        raise ModelUnavailableError(model=self.name, why=f"no weights for {len(texts)} texts")


class FaultyEmbedder(TokenVectorEmbedder):
    """One whose code is wrong."""

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        raise ZeroDivisionError(len(texts))


@pytest.fixture(params=[TokenVectorEmbedder])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """The embedder that the memory is given."""
    made: Embedder = request.param()
    return made


@pytest.fixture
async def memory(embedder: Embedder, application_url: str) -> AsyncIterator[PostgresMemory]:
    """Memory that gives entries their vectors."""
    memory = PostgresMemory(application_url, embedder=embedder)
    yield memory
    await memory.close()


@pytest.fixture
def stored(owner: Owner, settings: Settings) -> Callable[[], dict[str, list[float]]]:
    """The vectors of this test's tenant, by entry."""

    def read() -> dict[str, list[float]]:
        rows = owner.execute(_VECTORS, [settings.tenant_id, NAME])
        return {name: np.array(vector, dtype=np.float16).tolist() for name, vector in rows}

    return read


@pytest.fixture
def tokens(owner: Owner, settings: Settings) -> Tokens:
    """The tokens of this test's tenant, by entry."""
    return lambda: dict(owner.execute(_TOKENS, [settings.tenant_id]).fetchall())


async def vector_of(text: str) -> list[float]:
    """The vector of a text in half precision, as it is stored."""
    (vector,) = (await TokenVectorEmbedder().embed([text])).vectors
    return np.frombuffer(vector, dtype="<f4").astype(np.float16).tolist()


async def test_an_entry_has_its_vector_when_it_is_added(begin: Begin, stored: Stored) -> None:
    async with begin() as transaction:
        await transaction.entries.add([entry("a", "The harbour"), entry("b", "A tide table")])
        left = await transaction.entries.list_unembedded(NAME, limit=9)

    assert left == ()
    assert stored() == {
        "a": await vector_of("The harbour"),
        "b": await vector_of("A tide table"),
    }


async def test_an_entry_that_says_something_else_has_another_vector(
    begin: Begin, stored: Stored
) -> None:
    async with begin() as transaction:
        await transaction.entries.add([entry("a", "The harbour"), entry("b", "A tide table")])
    async with begin() as transaction:
        await transaction.entries.change([entry("a", "The lighthouse"), entry("b", "A tide table")])
        left = await transaction.entries.list_unembedded(NAME, limit=9)

    assert left == ()
    assert stored()["a"] == await vector_of("The lighthouse")


async def test_an_entry_that_is_there_keeps_its_vector(begin: Begin, stored: Stored) -> None:
    for content in ("The harbour", "The lighthouse"):
        async with begin() as transaction:
            await transaction.entries.add([entry("a", content)])

    assert stored() == {"a": await vector_of("The harbour")}


@pytest.mark.parametrize("embedder", [BrokenEmbedder], indirect=True)
async def test_an_entry_is_added_though_it_cannot_be_embedded(
    begin: Begin, stored: Stored, caplog: pytest.LogCaptureFixture
) -> None:
    async with begin() as transaction:
        await transaction.entries.add([entry("a", "The harbour")])
    async with begin() as transaction:
        left = await transaction.entries.list_unembedded(NAME, limit=9)

    assert [one.id for one in left] == ["a"]
    assert stored() == {}
    (logged,) = [one for one in caplog.records if one.name == "mnestic.entries"]
    assert logged.levelno == logging.ERROR
    assert "harbour" not in logged.getMessage()


async def test_older_entries_that_lack_vectors_are_found_behind_newer_ones_that_have_them(
    begin: Begin, settings: Settings, stored: Stored, application_url: str
) -> None:
    without = PostgresMemory(application_url)
    asked = {"tenant_id": settings.tenant_id, "agent_id": "ada", "actor": "test", "write": True}
    async with without.transaction(**asked) as transaction:  # type: ignore[arg-type]
        await transaction.entries.add([entry("old", "The harbour"), entry("older", "A map")])
    await without.close()

    async with begin() as transaction:
        await transaction.entries.add([entry("new", "A tide table")])
        left = await transaction.entries.list_unembedded(NAME, limit=1)
        await embed(transaction, number=9)
        none = await transaction.entries.list_unembedded(NAME, limit=9)

    assert [one.id for one in left] == ["old"]
    assert none == ()
    assert set(stored()) == {"old", "older", "new"}


async def test_an_entry_has_the_tokens_of_its_terms_however_it_is_written(
    begin: Begin, tokens: Tokens
) -> None:
    async with begin() as transaction:
        added = [entry("a", "The red lantern"), entry("b", "The blue kite"), entry("c", "It is.")]
        await transaction.entries.add(added)
    before = tokens()
    async with begin() as transaction:
        changed = [entry("a", "A green kite"), entry("b", "The blue kite", importance=0.9)]
        await transaction.entries.change(changed)

    lantern, blue, green = TokenVectorEmbedder().tokenize(
        ["red lantern", "blue kite", "green kite"]
    )
    assert before == {"a": lantern, "b": blue, "c": b""}
    assert tokens() == {"a": green, "b": blue, "c": b""}


@pytest.mark.parametrize("embedder", [BrokenEmbedder], indirect=True)
async def test_where_the_embedder_fails_an_entry_keeps_no_tokens_of_what_it_said(
    begin: Begin, owner: Owner, settings: Settings, tokens: Tokens
) -> None:
    async with begin() as transaction:
        await transaction.entries.add([entry("a", "The red lantern")])
    added = tokens()
    written = "UPDATE mnestic.entry SET tokens = %s WHERE tenant_id = %s"
    owner.execute(written, [b"by another process", settings.tenant_id])
    async with begin() as transaction:
        await transaction.entries.change([entry("a", "A green kite")])

    assert added == tokens() == {"a": None}


@pytest.mark.parametrize("embedder", [FaultyEmbedder], indirect=True)
async def test_a_fault_of_an_embedder_is_not_hidden(begin: Begin, stored: Stored) -> None:
    async def add() -> None:
        async with begin() as transaction:
            await transaction.entries.add([entry("a", "The harbour")])

    with pytest.raises(ZeroDivisionError):
        await add()

    assert stored() == {}

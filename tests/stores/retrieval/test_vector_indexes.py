"""Indexes of the vectors of large memories: when they are built and dropped, and that searches use them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import psycopg
import pytest

from benchmarks.messages import messages
from mnestic.activities.clients.token_vectors import NAME
from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.errors import ConfigurationError, DatabaseUnavailableError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.ports import Transaction
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.retrieval.vector_indexes import VectorIndex, index_vectors
from tests.activities.locks import until_held_up
from tests.stores.embedding import embed

ENTRIES = 120
TENANT, AGENT = "a:b", "o.brien:x@100+s"  # what would break a statement that did not quote it
THERE = """
SELECT c.relname, i.indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE starts_with(c.relname, 'embedding_hnsw_')
"""


@pytest.fixture
async def remembering(own_url: str) -> AsyncIterator[PostgresMemory]:
    memory = PostgresMemory(own_url, pool_size=2, cache_bytes=0)
    yield memory
    await memory.close()


def begun(
    memory: PostgresMemory, *, write: bool, agent: str = AGENT
) -> AbstractAsyncContextManager[Transaction]:
    return memory.transaction(tenant_id=TENANT, agent_id=agent, actor="test", write=write)


async def remember(memory: PostgresMemory, *, agent: str, entries: int) -> None:
    """Entries with their vectors."""
    async with begun(memory, write=True, agent=agent) as transaction:
        await receive(transaction, list(messages(entries, seed=7)), owner=f"{TENANT}/{agent}")
        await embed(transaction, number=entries)


async def build(url: str, *, agent_id: str | None = None, dry_run: bool = False) -> Any:
    return await asyncio.to_thread(
        index_vectors, url, TENANT, agent_id=agent_id, at_least=ENTRIES, dry_run=dry_run
    )


def there(url: str) -> list[Any]:
    with psycopg.connect(url) as owner:
        return owner.execute(THERE).fetchall()


async def test_memories_that_are_large_get_an_index_once(
    remembering: PostgresMemory, own_url: str
) -> None:
    await remember(remembering, agent=AGENT, entries=ENTRIES)
    await remember(remembering, agent="small", entries=ENTRIES // 2)

    dry, there_then = await build(own_url, dry_run=True), there(own_url)
    of_small = await build(own_url, agent_id="small")
    first, second = await build(own_url, agent_id=AGENT), await build(own_url)
    await build(own_url, agent_id="small")

    index = VectorIndex(TENANT, AGENT, NAME, 256)
    assert (dry.built, there_then) == ((index,), [])
    assert of_small.built == ()
    assert first.built == (index,)
    assert (second.built, second.dropped) == ((), 0)
    assert there(own_url) == [(index.name, True)]


async def test_a_search_of_a_large_memory_goes_through_its_index(
    remembering: PostgresMemory, own_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remember(remembering, agent=AGENT, entries=ENTRIES)
    client = MemoryClient(client_caller(remembering, tenant_id=TENANT, agent_id=AGENT))
    question = "What was said about the harbour?"
    by_looking_at_all = await client.retrieve(question, mode="semantic", min_score=0)
    await build(own_url)
    monkeypatch.setattr("mnestic.stores.postgres.retrieval.search.INDEXED_FROM", ENTRIES)
    by_index = await client.retrieve(f"{question} ", mode="semantic", min_score=0)  # not cached

    with psycopg.connect(own_url) as owner:
        owner.execute("SET enable_seqscan = off; SET enable_sort = off")  # as few entries need none
        owner.execute("SELECT set_config('mnestic.tenant_id', %s, false)", [TENANT])
        vector = "(SELECT vector FROM mnestic.embedding WHERE agent_id = %(agent)s LIMIT 1)"
        nearest = f"SELECT FROM mnestic.nearest_vectors(%(tenant)s, %(agent)s, %(model)s, {vector}, 3, true)"
        asked = {"tenant": TENANT, "agent": AGENT, "model": NAME}
        assert len(owner.execute(nearest, asked).fetchall()) == 3
        index = f"mnestic.{VectorIndex(TENANT, AGENT, NAME, 256).name}"
        scans = owner.execute("SELECT pg_stat_get_xact_numscans(%s::regclass)", [index]).fetchall()
    assert scans == [(1,)]
    assert by_looking_at_all.results
    assert [one.entry.id for one in by_index.results] == [
        one.entry.id for one in by_looking_at_all.results
    ]


async def test_an_index_that_was_not_finished_is_built_again(
    remembering: PostgresMemory, own_url: str
) -> None:
    await remember(remembering, agent=AGENT, entries=ENTRIES)
    await build(own_url)
    with psycopg.connect(own_url, autocommit=True) as owner:
        owner.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass",
            ["mnestic." + VectorIndex(TENANT, AGENT, NAME, 256).name],
        )

    again = await build(own_url)

    assert (len(again.built), again.dropped) == (1, 1)
    assert [is_valid for _, is_valid in there(own_url)] == [True]


async def test_a_memory_that_has_become_small_loses_its_index(
    remembering: PostgresMemory, own_url: str
) -> None:
    await remember(remembering, agent=AGENT, entries=ENTRIES)
    await build(own_url)
    client = MemoryClient(client_caller(remembering, tenant_id=TENANT, agent_id=AGENT))
    entries, _ = await client.entries.list(EntryQuery(), limit=ENTRIES)
    async with begun(remembering, write=True) as transaction:
        await transaction.entries.remove([one.id for one in entries[: ENTRIES // 2 + 1]])

    after = await build(own_url)

    assert (after.built, after.dropped, there(own_url)) == ((), 1, [])


async def test_two_do_not_build_at_once(own_url: str) -> None:
    with psycopg.connect(own_url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [0x6D6E6978])

        with pytest.raises(ConfigurationError, match="somebody builds indexes right now"):
            await build(own_url)


async def test_only_the_owner_builds_indexes(remembering: PostgresMemory, own_url: str) -> None:
    await remember(remembering, agent=AGENT, entries=ENTRIES)
    address = own_url.replace("postgres@", "mnestic_app@")

    with pytest.raises(ConfigurationError, match="MNESTIC_DATABASE_ADMIN_URL"):
        await build(address)


async def test_what_postgres_says_is_told_as_it_says_it(
    remembering: PostgresMemory, own_url: str
) -> None:
    await remember(remembering, agent=AGENT, entries=ENTRIES)
    async with await psycopg.AsyncConnection.connect(own_url) as other:
        await other.execute("SET deadlock_timeout = '1min'")  # so it is not the one that is ended
        await other.execute("LOCK TABLE mnestic.embedding IN SHARE MODE")
        building = asyncio.create_task(build(f"{own_url}&options=-c%20deadlock_timeout%3D2s"))
        await until_held_up(own_url)
        await other.execute("SELECT pg_advisory_lock(%s)", [0x6D6E6978])

        with pytest.raises(DatabaseUnavailableError, match="says: deadlock detected") as failed:
            await building

    assert "does not answer" not in str(failed.value)

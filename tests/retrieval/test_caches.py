"""Answers that are cached: by revision of the agent's memory, for this agent in this database alone, and never stale."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.models.messages import Embeddings
from mnestic.memory.retrieval.queries import Retrieval, RetrievalPolicy
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.search_samples import terms_of
from tests.transactions import Begin

TEXTS = (
    "The ferry to Texel leaves at nine.",
    "The ferry timetable changes in autumn.",
    "Mara keeps the spare key under the fern.",
    "The boiler was serviced in March.",
)
QUESTION = "When does the ferry leave?"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKED: dict[str, Any] = {"asked_at": NOON, "is_access": False}


@pytest.fixture
def here(memory: PostgresMemory, settings: Settings) -> MemoryClient:
    return MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"))


@pytest.fixture
def there(forgetful: PostgresMemory, settings: Settings) -> MemoryClient:
    """The same agent in another process, which caches nothing."""
    return MemoryClient(client_caller(forgetful, tenant_id=settings.tenant_id, agent_id="ada"))


async def fill(client: MemoryClient) -> list[str]:
    return [(await client.add(text)).id for text in TEXTS]


def answer(found: Retrieval) -> list[tuple[str, str, float]]:
    return [(one.entry.id, one.entry.content, one.score) for one in found.results]


def hits(memory: PostgresMemory) -> tuple[int, int]:
    """How many answers were cached, and how many were not."""
    counts = memory.cache_counts().answers
    return counts.hits, counts.misses


OTHERS: tuple[dict[str, Any], ...] = (
    {"limit": 1},
    {"mode": "text"},
    {"min_score": 0.9},
    {"excluded": frozenset({"e"})},
    {"asked_at": NOON + timedelta(hours=1)},
    {"tags": ("pier",)},
    {"as_of": NOON},
)


async def test_the_same_question_has_its_cached_answer_and_another_one_of_its_own(
    here: MemoryClient, memory: PostgresMemory
) -> None:
    await fill(here)

    first, second = await here.retrieve(QUESTION, **ASKED), await here.retrieve(QUESTION, **ASKED)
    of_the_same = hits(memory)
    for other in OTHERS:
        await here.retrieve(QUESTION, **(ASKED | other))

    assert first == second
    assert first.results
    assert of_the_same == (1, 1)
    assert hits(memory) == (1, 1 + len(OTHERS))
    assert memory.cache_counts().answers.items == 1 + len(OTHERS)


class CountingEmbedder(TokenVectorEmbedder):
    """The local embedder, which notes what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """See the port."""
        self.texts += texts
        return await super().embed(texts)


async def test_the_vector_of_a_query_is_made_once_for_a_revision(
    memory: PostgresMemory, settings: Settings
) -> None:
    embedder = CountingEmbedder()
    ada = MemoryClient(
        client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"),
        models=QueryModels(Embedders(embedder)),
    )
    await fill(ada)

    for limit in (1, 2, 3):  # so that no answer is cached
        await ada.retrieve(QUESTION, limit=limit, **ASKED)
    before = len(embedder.texts)
    await ada.add("The ferry to Vlieland leaves at ten.")
    await ada.retrieve(QUESTION, **ASKED)

    assert (before, len(embedder.texts)) == (1, 2)


async def test_auto_retrieval_and_contexts_find_cached_answers(
    here: MemoryClient, memory: PostgresMemory
) -> None:
    await fill(here)
    for _ in range(2):
        await here.auto_retrieve(QUESTION, "chat", asked_at=NOON)
    by_message = hits(memory)
    blocks = [await here.context_for_query(QUESTION, asked_at=NOON) for _ in range(2)]

    assert by_message == (1, 1)  # what is written of a message is no knowledge
    assert hits(memory) == (2, 2)
    assert blocks[0].text == blocks[1].text != ""


async def test_whatever_another_process_writes_the_answer_is_worked_out_anew(
    here: MemoryClient, there: MemoryClient, memory: PostgresMemory
) -> None:
    ferry, *_ = await fill(here)
    changes: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: there.add("When the ferry leaves, the bell rings."),
        lambda: there.entries.change(ferry, content="The ferry to Texel leaves at noon."),
        lambda: there.entries.change(ferry, tags=["pier"]),
        lambda: there.entries.change(ferry, status="archived"),
        lambda: there.entries.delete(ferry),
        lambda: there.facts.add("Mara", "lives_in", "Ghent"),
        lambda: there.settings.change(retrieval_policy={"min_score": 1.0}),
    )
    await here.retrieve(QUESTION, **ASKED)

    for number, change in enumerate(changes):
        await change()
        assert await here.retrieve(QUESTION, **ASKED) == await there.retrieve(QUESTION, **ASKED)
        assert hits(memory) == (0, 2 + number)


async def test_an_answer_ends_with_the_first_entry_or_fact_that_ends_by_time(
    here: MemoryClient, memory: PostgresMemory, settings: Settings
) -> None:
    bea = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="bea"))
    await fill(bea)
    end = datetime.now(UTC) + timedelta(seconds=2)
    await here.add("The ferry leaves from pier four today.", expires_at=end)
    await bea.facts.add("Mara", "works_at", "the ferry", valid_to=end)
    asked = {**ASKED, "policy": RetrievalPolicy(min_score_share=0.25)}  # the fact scores little
    before = [await one.retrieve(QUESTION, **asked) for one in (here, here, bea, bea)]
    counted = hits(memory)

    async with asyncio.timeout(20):
        while await now_of(memory, settings.tenant_id) <= end:  # noqa: ASYNC110 - a clock
            await asyncio.sleep(0.05)
    after = [await one.retrieve(QUESTION, **asked) for one in (here, bea)]

    assert counted == (2, 2)
    assert hits(memory) == (2, 4)
    assert before[0].results
    assert not after[0].results
    assert before[2].results[-1].entry.kind == "fact"
    assert answer(after[1]) == answer(before[2])[:-1]


async def now_of(memory: PostgresMemory, tenant: str) -> datetime:
    async with memory.transaction(
        tenant_id=tenant, agent_id="ada", actor="test", write=False
    ) as transaction:
        return await transaction.now()


async def test_no_other_agent_and_no_other_tenant_has_the_answer(
    here: MemoryClient, memory: PostgresMemory, settings: Settings
) -> None:
    await fill(here)
    await here.retrieve(QUESTION, **ASKED)

    for number, (tenant, agent) in enumerate([("", "bea"), ("-b", "ada")]):
        other = MemoryClient(
            client_caller(memory, tenant_id=f"{settings.tenant_id}{tenant}", agent_id=agent)
        )
        for text in TEXTS:  # until its memory has the same revision
            await other.add(text.replace("nine", "noon"))

        found = await other.retrieve(QUESTION, **ASKED)

        assert hits(memory) == (0, 2 + number)
        assert found.results[0].entry.content.endswith("noon.")


async def test_a_process_that_may_cache_nothing_answers_alike(
    there: MemoryClient, forgetful: PostgresMemory
) -> None:
    await fill(there)

    first, second = await there.retrieve(QUESTION, **ASKED), await there.retrieve(QUESTION, **ASKED)

    counts = forgetful.cache_counts()
    assert first == second
    assert first.results
    assert (counts.answers.items, counts.vectors.items, counts.answers.hits) == (0, 0, 0)


async def test_a_database_is_told_by_server_timeline_and_itself(
    admin_url: str, begin: Begin
) -> None:
    with psycopg.connect(admin_url) as owner:
        expected = owner.execute("""
            SELECT concat_ws('/', s.system_identifier, lpad(to_hex(c.timeline_id), 8, '0'), d.oid,
                             extract(epoch FROM pg_postmaster_start_time()),
                             pg_relation_filenode('mnestic.agent_revision'))
              FROM pg_control_system() AS s, pg_control_checkpoint() AS c, pg_database AS d
             WHERE d.datname = current_database()""").fetchone()

    async with begin(write=False) as transaction:
        known = await transaction.search.resolve(terms_of(), model="")

    assert (known.database,) == expected


async def test_a_restored_copy_that_climbs_to_the_same_revision_has_its_own_answers(
    new_database: Callable[[], AbstractContextManager[str]], admin_url: str
) -> None:
    """The address stays, and behind it stands another database with another past."""
    with new_database() as url:
        memory = PostgresMemory(url.replace("postgres@", "mnestic_app@"), pool_size=1)
        here = MemoryClient(client_caller(memory, tenant_id="t", agent_id="ada"))
        await here.add("The boiler was serviced in March.")
        await memory.pool.close()  # a copy is made of what nobody uses
        name = str(re.sub(r".*/([^/?]+)\?.*", r"\1", url))
        run_in(admin_url, "CREATE DATABASE {0} TEMPLATE {1}", f"{name}_copy", name)
        await here.add("The ferry to Texel leaves at nine.")
        before = await here.retrieve(QUESTION, **ASKED)
        await memory.pool.close()
        run_in(admin_url, "ALTER DATABASE {0} RENAME TO {1}", name, f"{name}_old")
        run_in(admin_url, "ALTER DATABASE {0} RENAME TO {1}", f"{name}_copy", name)
        run_in(admin_url, "DROP DATABASE {0} WITH (FORCE)", f"{name}_old")

        await here.add("The ferry to Texel leaves at noon.")
        after = await here.retrieve(QUESTION, **ASKED)

        assert hits(memory) == (0, 2)
        assert [one.entry.content[-5:] for one in (*before.results, *after.results)] == [
            "nine.",
            "noon.",
        ]
        await memory.close()


def run_in(url: str, statement: str, *names: str) -> None:
    """Runs a statement on databases, beside all of them."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

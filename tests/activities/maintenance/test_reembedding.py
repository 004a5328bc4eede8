"""Re-embedding: new vectors beside the old ones, compared, then one switch, and the way back."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.token_vectors import NAME, TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.knowledge.embedding import EntryEmbedding
from mnestic.activities.maintenance.reembedding import ReembedActivities
from mnestic.activities.maintenance.steps import IndexVectors, MaintenanceStep, StepResult
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.errors import ConfigurationError, InvalidInputError, UnavailableError
from mnestic.memory.maintenance.embeddings import AgentEmbeddings
from mnestic.memory.models.messages import Embeddings
from mnestic.memory.ports import Embedder, Memory
from mnestic.starter.client.client_scope import ClientScope, client_caller
from mnestic.starter.client.contract_memory import ContractMemory, open_contract
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.retrieval.vector_indexes import index_vectors
from tests.activities.learning_models import Begin
from tests.activities.maintenance.embedding_models import (
    BlindEmbedder,
    NarrowEmbedder,
    embedders_of,
)

THINGS = ("bread", "rivers", "trains", "violins", "owls", "maps")
SAID = [
    f"On day {day} Mara told us at length why {thing} matter to her so much."
    for day in range(4)
    for thing in THINGS
]
Do = Callable[..., Any]
Searching = Callable[..., Awaitable[MemoryClient]]
QUERY = "Why does Mara care for violins?"


@pytest.fixture
def reembed(memory: Memory, settings: Settings) -> Do:
    """Runs the step for all agents of the tenant, with a chosen model."""

    async def no_index(*_: object) -> tuple[int, int]:
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why="owns no table")

    async def step(
        chosen: Embedder | None = None,
        *,
        days: int = 0,
        at: datetime | None = None,
        index: IndexVectors = no_index,
        **fields: Any,
    ) -> StepResult:
        activities = ReembedActivities(
            memory,
            embedders=embedders_of(chosen or NarrowEmbedder()),
            embedding=EntryEmbedding(memory, limits=ModelCallLimits()),
            index_vectors=index,
        )
        of = {"tenant_id": settings.tenant_id, "kind": "monthly", **fields}
        of["scheduled_at"] = at or datetime.now(UTC) + timedelta(days=days)
        params = MaintenanceStep.model_validate(of)
        return await ActivityEnvironment().run(activities.reembed, params)

    return step


@pytest.fixture
def searching(memory: Memory, settings: Settings) -> Searching:
    """The memory of an agent to whom all was said, in a process whose settings choose a model."""

    async def client(chosen: Embedder | None = None, agent_id: str = "ada") -> MemoryClient:
        models = QueryModels(embedders_of(chosen or NarrowEmbedder()))
        tenant_id = settings.tenant_id
        agent = MemoryClient(
            client_caller(memory, tenant_id=tenant_id, agent_id=agent_id), models=models
        )
        for text in SAID:
            await agent.add(text)
        return agent

    return client


@pytest.fixture
def state(begin: Begin) -> Do:
    async def find(agent_id: str = "ada") -> AgentEmbeddings:
        async with begin(agent_id, write=False) as transaction:
            found: AgentEmbeddings | None = await transaction.embeddings.find()
        assert found is not None
        return found

    return find


async def scores(client: MemoryClient) -> list[tuple[str, float]]:
    found = await client.retrieve(QUERY, mode="semantic", min_score=0)
    return [(one.entry.content, one.score) for one in found.results]


async def test_all_entries_get_new_vectors_and_searches_switch_at_once(
    reembed: Do, searching: Searching, state: Do
) -> None:
    narrow = NarrowEmbedder()
    new, old = await searching(narrow), await searching(TokenVectorEmbedder())
    archived = await new.add("Mara once told us about violins in the attic.")
    await new.entries.archive(archived.id)
    before = await scores(new), await scores(old)
    dry = await reembed(dry_run=True)
    untouched = await state()

    done = await reembed(narrow)

    after = await scores(new), await scores(old)
    known = await state()
    again = await reembed(narrow)
    await new.entries.restore(archived.id)
    assert dry.counts == {"reembedded": len(SAID) + 1}
    assert untouched.vectors == {NAME: len(SAID)}
    assert before[0] == before[1]  # whatever model a process has chosen
    assert done.counts == {"reembedded": len(SAID), "switched": 1}
    assert (known.active_model, known.previous_model) == ("narrow-128", NAME)
    assert known.vectors == {NAME: len(SAID), "narrow-128": len(SAID)}
    assert after[0] == after[1] != before[0]
    assert (again.counts, again.problems) == ({}, ())
    assert (await state()).vectors == {NAME: len(SAID) + 1, "narrow-128": len(SAID) + 1}


async def test_the_way_back_gives_the_answers_of_before_until_the_old_vectors_are_removed(
    reembed: Do, searching: Searching, state: Do, begin: Begin
) -> None:
    ada = await searching()
    before = await scores(ada)
    await reembed()

    async with begin() as transaction:
        back = await transaction.embeddings.switch_back(now=await transaction.now())
    after = await scores(ada)
    rejected = await reembed()
    async with begin() as transaction:
        with pytest.raises(InvalidInputError, match="switched back from narrow-128 already"):
            await transaction.embeddings.switch_back(now=await transaction.now())
    async with begin() as transaction:
        await transaction.embeddings.accept()
    switched = await reembed()
    kept = await state()
    removed = await reembed(days=15)
    async with begin() as transaction:
        with pytest.raises(InvalidInputError, match="no earlier vectors"):
            await transaction.embeddings.switch_back(now=await transaction.now())

    assert back.active_model == NAME
    assert after == before
    assert "mnestic embeddings accept --agent ada" in rejected.problems[0]
    assert switched.counts == {"reembedded": len(SAID), "switched": 1}
    assert set(kept.vectors) == {NAME, "narrow-128"}
    assert removed.counts == {"vectors_removed": len(SAID)}
    assert (await state()).vectors == {"narrow-128": len(SAID)}


async def test_all_vectors_are_made_again_once_while_searches_go_on(
    reembed: Do, searching: Searching, state: Do
) -> None:
    class Changed(NarrowEmbedder):
        """A server that answers otherwise by the same name, and that fails once."""

        is_down = True

        async def embed(self, texts: Sequence[str]) -> Embeddings:
            if len(self.texts) > len(SAID) / 2 and self.is_down and texts != [QUERY]:
                found.append(await scores(before))
                self.is_down = False
                raise UnavailableError("it is restarted")
            return await super().embed(texts)

        def narrowed(self, vector: bytes) -> bytes:
            return np.frombuffer(super().narrowed(vector), "<f4")[::-1].tobytes()

    found: list[Any] = []
    narrow, changed, at = NarrowEmbedder(), Changed(), datetime.now(UTC)
    before, after = await searching(narrow), await searching(changed)
    await before.entries.archive((await before.add("Mara once told us about violins.")).id)
    await reembed(narrow)
    expected, dry = await scores(before), await reembed(changed, renew_vectors=True, dry_run=True)

    with pytest.raises(ApplicationError, match="it is restarted"):
        await reembed(changed, renew_vectors=True, at=at)
    done = await reembed(changed, renew_vectors=True, at=at)
    again = await reembed(changed, renew_vectors=True, at=at)

    assert dry.counts == {"vectors_renewed": len(SAID)}
    assert len(found[0]) == len(expected)
    assert done.counts == again.counts == {"vectors_renewed": len(SAID) + 1}
    assert len(changed.texts) == len({*changed.texts}) == len(SAID) + 1
    assert await scores(after) == expected
    assert (await state()).vectors == {NAME: len(SAID), "narrow-128": len(SAID)}


async def test_vectors_by_which_less_is_found_are_not_switched_to(
    reembed: Do, searching: Searching, state: Do
) -> None:
    blind = BlindEmbedder()
    ada = await searching(blind)
    before = await scores(ada)

    done = await reembed(blind)

    assert done.counts == {"switches_refused": 1}
    assert "agent ada keeps its vectors of wordllama-256: of 48 sampled queries" in done.problems[0]
    assert "monthly.least_recall" in done.problems[0]
    assert (await state()).active_model == NAME
    assert await scores(ada) == before


async def test_an_entry_that_is_written_meanwhile_has_its_vector_before_the_switch(
    reembed: Do, searching: Searching, state: Do, begin: Begin
) -> None:
    late = "Late at night Mara spoke of violins again."

    class Interrupted(NarrowEmbedder):
        """A model during whose first call, and whose calls for the sample, somebody writes."""

        async def embed(self, texts: Sequence[str]) -> Embeddings:
            if not self.texts or len(texts) > self.batch:
                await ada.add(f"{late} {len(self.texts)}")
            return await super().embed(texts)

    interrupted = Interrupted()
    ada = await searching()
    async with begin() as transaction:
        assert await transaction.embeddings.switch("narrow-128", now=datetime.now(UTC)) == (24, 0)

    done = await reembed(interrupted)

    known = await state()
    found = await scores(ada)
    assert known.active_model == "narrow-128"
    assert known.vectors["narrow-128"] == known.entries == len(SAID) + 2
    assert done.counts == {"reembedded": len(SAID) + 2, "switched": 1}
    assert any(content.startswith(late) for content, _ in found)


async def test_vectors_that_had_an_index_are_not_switched_from_without_one(
    reembed: Do, searching: Searching, begin: Begin, settings: Settings, admin_url: str
) -> None:
    async def index(tenant_id: str, *_: object) -> tuple[int, int]:
        done = await asyncio.to_thread(index_vectors, admin_url, tenant_id, at_least=10)
        return len(done.built), done.dropped

    await searching()
    await index(settings.tenant_id)

    without = await reembed()
    done = await reembed(index=index)

    async with begin() as transaction:
        are_indexed = [await transaction.embeddings.is_indexed(one) for one in (NAME, "narrow-128")]
    assert without.counts == {"switches_refused": 1}
    assert "no index" in without.problems[0]
    assert "owns no table" in without.problems[0]
    assert done.counts == {"reembedded": len(SAID), "switched": 1}
    assert are_indexed == [True, True]


async def test_collections_get_vectors_of_the_model_of_their_contract(
    reembed: Do, state: Do, memory: Memory, client: MnesticClient
) -> None:
    caller = client_caller(memory, tenant_id=client.settings.tenant_id, agent_id="ada")
    section: dict[str, Any] = {"enabled": True, "collections": [{"collection_id": "talks"}]}

    async def opened(**embeddings: Any) -> ContractMemory:
        await client.contracts().apply("ada", {"Memory": {"vector": section | embeddings}})
        models = QueryModels(embedders_of(NarrowEmbedder()))
        scope = ClientScope(caller=caller, models=models, count_tokens=count_tokens)
        return await open_contract(scope, session_id=None)

    local = await opened(embeddings={"model": "wordllama", "dimensions": 256})
    for number, text in enumerate(SAID):
        await local.upsert("talks", {"id": str(number), "content": text})
    narrow = await opened(embeddings={"model": "narrow", "dimensions": 128})
    before = await narrow.search(QUERY, "talks")
    written = await narrow.upsert("talks", {"id": "new", "content": "She sold the violins."})
    between = await state("ada/talks")
    done = await reembed(TokenVectorEmbedder())
    after = await state("ada/talks")

    assert (between.active_model, dict(between.vectors)) == (NAME, {NAME: 25})
    assert written.embedded
    assert (after.active_model, after.previous_model) == ("narrow-128", NAME)
    assert (done.counts["switched"], after.vectors["narrow-128"]) == (1, 25)
    assert before[0].content == (await narrow.search(QUERY, "talks"))[0].content
    lost = await opened(embeddings={"model": "none", "dimensions": 8})
    assert "ada/talks keeps its vectors" in (await reembed(TokenVectorEmbedder())).problems[0]
    with pytest.raises(InvalidInputError, match="none of 8 dimensions"):
        await lost.search(QUERY, "talks")

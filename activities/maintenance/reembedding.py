"""Re-embedding: entries get vectors of the chosen model beside those that searches compare, and then searches switch.

Until the switch nothing changes for whoever searches or writes. A model is called, outside of transactions, and takes
as long as it takes.
"""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.knowledge.embedding import EmbeddingRun, EntryEmbedding
from mnestic.activities.maintenance.recall import Recall, compare_recall
from mnestic.activities.maintenance.steps import (
    BATCH,
    IndexVectors,
    MaintenanceStep,
    StepProgress,
    StepResult,
    attempt,
)
from mnestic.activities.maintenance.vector_renewal import renew_vectors
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.errors import (
    BudgetExceededError,
    ConfigurationError,
    ExtractionPausedError,
    MnesticError,
    UnavailableError,
)
from mnestic.memory.knowledge.entries import Embedding, Unembedded
from mnestic.memory.maintenance.embeddings import AgentEmbeddings, MissingVectors
from mnestic.memory.maintenance.policies import MaintenancePolicy, policy_of
from mnestic.memory.models.errors import ModelMisconfiguredError, ModelRefusedError
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Embedder, Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT, Id

_ENTRIES = 500  # embedded by one round, and removed by one statement
_ROUND = timedelta(minutes=5)
_SAMPLED = 50  # entries of an agent, whose words are searched for before a switch
_WAY_BACK = timedelta(days=14)  # so long the old vectors remain after a switch
_CATCHING_UP = 5  # rounds for what was written while others were embedded
# What another attempt changes nothing about: a limit is reached, or a setting is wrong.
_PAUSED = (
    BudgetExceededError,
    ConfigurationError,
    ExtractionPausedError,
    ModelMisconfiguredError,
)
_NO_TARGET = "its contract names a model of vectors that the worker does not have; set OPENAI_API_KEY or OPENAI_BASE_URL"
log = logging.getLogger("mnestic.maintenance")


class _Scope(NamedTuple):
    """Whose entries are embedded, by which embedder, and in which run; in place of an agent one of its collections may stand."""

    tenant_id: Id
    agent_id: str
    target: Embedder
    run: EmbeddingRun


class ReembedActivities:
    """The step of `Maintenance` that changes the model of entries' vectors."""

    def __init__(
        self,
        memory: Memory,
        *,
        embedders: Embedders,
        embedding: EntryEmbedding,
        index_vectors: IndexVectors,
    ) -> None:
        self._memory, self._embedders = memory, embedders
        self._embedding, self._index_vectors = embedding, index_vectors

    @activity.defn(name="mnestic.reembed_entries")
    async def reembed(self, params: MaintenanceStep) -> StepResult:
        """Embeds the entries of agents whose vectors are of another model than the chosen one, and switches their searches.

        With `renew_vectors` it also makes those again that are of the chosen one.

        Idempotent: what has a vector gets no other, and a switch stands in the ledger. Another attempt goes on after the
        agent of the last heartbeat, with the entries that have no vector yet.
        """
        with failures():
            progress = StepProgress.of_last_attempt(StepResult(after=params.after))
            agent_ids = await self._agents(params, after=progress.done.after)
            async with self._begin(params, EVERY_AGENT) as transaction:
                policy = policy_of(await transaction.settings.read())
            async with heartbeats(progress.dump):
                for agent_id in agent_ids:
                    try:
                        work = self._reembed(params, agent_id, policy=policy)
                        result = await attempt(agent_id, work, step="vectors", stops=_PAUSED)
                    except _PAUSED as error:
                        why = f"agent {agent_id} and those after it keep their vectors, and the next run goes on: {error}"
                        progress.add(agent_id, StepResult(problems=(why,)))
                        return progress.done.model_copy(update={"after": None, "agents": 0})
                    progress.add(agent_id, result)
            is_last = len(agent_ids) < BATCH or params.agent_id is not None
            # The agents were counted by the step before.
            after = None if is_last else progress.done.after
            return progress.done.model_copy(update={"after": after, "agents": 0})

    async def _agents(self, params: MaintenanceStep, *, after: str | None) -> tuple[str, ...]:
        if params.agent_id is not None:
            return () if after == params.agent_id else (params.agent_id,)
        return await self._memory.list_agent_ids(
            tenant_id=params.tenant_id, after=after, limit=BATCH
        )

    async def _reembed(
        self, params: MaintenanceStep, agent_id: str, *, policy: MaintenancePolicy
    ) -> StepResult:
        """Gives an agent's entries, and its collections, vectors of the model that they are to have; returns what was done."""
        async with self._begin(params, agent_id) as transaction:
            targets = await self._embedders.of_collections(transaction, agent_id)
        counts, problems = Counter[str](), list[str]()
        for corpus, target in {agent_id: self._embedders.chosen, **targets}.items():
            if target is None:
                problems.append(f"{corpus} keeps its vectors: {_NO_TARGET}")
                continue
            done = await self._reembed_corpus(params, corpus, target, policy=policy)
            counts.update(done.counts)
            problems += done.problems
        return StepResult(counts=counts, problems=tuple(problems))

    async def _reembed_corpus(
        self, params: MaintenanceStep, agent_id: str, target: Embedder, *, policy: MaintenancePolicy
    ) -> StepResult:
        """Gives the entries of a corpus vectors of a model, and switches; returns what was done."""
        operation = _operation(params, agent_id)
        async with self._begin(params, agent_id) as transaction:
            stored = await transaction.find_result(operation, operation.request_hash(params.kind))
            state = await transaction.embeddings.find()
        if stored is not None:  # by an earlier attempt
            return StepResult(counts=stored)
        if state is None or state.active_model is None:
            return StepResult()
        removed = await self._remove_old(params, state, target)
        if state.active_model == target.name:
            if params.renew_vectors:
                removed += await self._renew(params, state, target, policy=policy)
            return StepResult(counts=removed)
        if state.rejected_model == target.name:
            return StepResult(counts=removed, problems=(_rejected(state),))
        if params.dry_run:
            async with self._begin(params, agent_id) as transaction:
                lacking = await transaction.embeddings.count_missing(target.name)
            return StepResult(counts=removed + Counter(reembedded=sum(lacking)))
        counts, problem = await self._make_and_switch(params, state, target, policy=policy)
        return StepResult(counts=removed + counts, problems=(problem,) if problem else ())

    async def _renew(
        self,
        params: MaintenanceStep,
        state: AgentEmbeddings,
        target: Embedder,
        *,
        policy: MaintenancePolicy,
    ) -> Counter[str]:
        """Makes all vectors of the model again; a dry run counts those of live entries."""
        if params.dry_run:
            return Counter(vectors_renewed=state.vectors.get(target.name, 0))
        run = EmbeddingRun(params.run, lambda: self._check_left(params, policy))
        scope = _Scope(params.tenant_id, state.agent_id, target, run)
        return await renew_vectors(
            partial(self._begin, params, state.agent_id),
            target,
            operation_key=f"{params.run}/{state.agent_id}/vectors",
            make_vectors=partial(self._embeddings, scope),
        )

    async def _make_and_switch(
        self,
        params: MaintenanceStep,
        state: AgentEmbeddings,
        target: Embedder,
        *,
        policy: MaintenancePolicy,
    ) -> tuple[Counter[str], str | None]:
        """Returns the counts, and why searches were not switched, if they were not."""
        run = EmbeddingRun(params.run, lambda: self._check_left(params, policy))
        scope = _Scope(params.tenant_id, state.agent_id, target, run)
        await self._embed(scope)
        if why := await self._index(params, state, target):
            return Counter(switches_refused=1), why
        recall = await self._compare(scope, state)
        if (why := recall.find_loss(least=policy.monthly.least_recall)) is not None:
            problem = f"agent {state.agent_id} keeps its vectors of {state.active_model}: {why}"
            return Counter(switches_refused=1), problem
        for _ in range(_CATCHING_UP):
            lacking, counts = await self._switch(params, state, target, recall=recall)
            if not any(lacking):
                return counts, None
            await self._embed(scope)
        why = f"agent {state.agent_id} keeps its vectors: entries are written faster than they are embedded; run it again"
        return Counter(switches_refused=1), why

    async def _embed(self, scope: _Scope) -> None:
        """Gives all entries that have no vector of the target one, and archived ones too."""
        target = scope.target
        while True:
            done, _ = await self._embedding.embed_missing(
                scope, target, limit=_ENTRIES, time_limit=_ROUND, run=scope.run
            )
            if not done:
                break
        while True:
            async with self._open(scope, write=False) as transaction:
                entries = await transaction.embeddings.list_unembedded_archived(
                    target.name, limit=_ENTRIES
                )
            if not entries:
                return
            embeddings = await self._embeddings(scope, entries)
            async with self._open(scope, write=True) as transaction:
                await transaction.embeddings.embed_archived(target.name, embeddings)

    async def _embeddings(self, scope: _Scope, entries: Sequence[Unembedded]) -> list[Embedding]:
        """Embeddings of entries; one that the model refuses has the vector 0."""
        target = scope.target
        texts = [entry.content for entry in entries]
        try:
            made = await self._embedding.make_vectors(scope, target, texts, run=scope.run)
            vectors = made.vectors
        except ModelMisconfiguredError:
            raise
        except ModelRefusedError as error:
            if len(entries) > 1:
                middle = len(entries) // 2
                first = await self._embeddings(scope, entries[:middle])
                return [*first, *await self._embeddings(scope, entries[middle:])]
            log.warning("not embedded", extra={"entry": entries[0].id, "why": str(error)})
            vectors = (await target.embed([""])).vectors
        return [
            Embedding(entry_id=entry.id, content=entry.content, vector=vector)
            for entry, vector in zip(entries, vectors, strict=True)
        ]

    async def _check_left(self, params: MaintenanceStep, policy: MaintenancePolicy) -> None:
        """Raises if the budget of the run has nothing left for a call of a model."""
        async with self._begin(params, EVERY_AGENT) as transaction:
            used = await transaction.usage.sum_by_run(params.run)
        policy.budget.check_left(used, run=params.run)

    async def _index(
        self, params: MaintenanceStep, state: AgentEmbeddings, target: Embedder
    ) -> str | None:
        """Builds the index of the new vectors where the old ones have one; returns why that could not be."""
        if await self._is_index_there(params, state, target):
            return None
        why = "it is too small for one now"
        try:
            await self._index_vectors(params.tenant_id, state.agent_id, params.dry_run)
        except UnavailableError:
            raise  # the next attempt may succeed
        except MnesticError as error:
            why = str(error)
        if await self._is_index_there(params, state, target):
            return None
        return f"agent {state.agent_id} keeps its vectors, since the new ones have no index: {why}"

    async def _is_index_there(
        self, params: MaintenanceStep, state: AgentEmbeddings, target: Embedder
    ) -> bool:
        assert state.active_model is not None
        async with self._begin(params, state.agent_id) as transaction:
            store = transaction.embeddings
            if not await store.is_indexed(state.active_model):
                return True
            return await store.is_indexed(target.name)

    async def _compare(self, scope: _Scope, state: AgentEmbeddings) -> Recall:
        assert state.active_model is not None

        async def embed(embedder: Embedder, texts: Sequence[str]) -> tuple[bytes, ...]:
            made = await self._embedding.make_vectors(scope, embedder, texts, run=scope.run)
            return made.vectors

        async with self._open(scope, write=False) as transaction:
            sample = await transaction.embeddings.sample(limit=_SAMPLED)
        return await compare_recall(
            lambda: self._open(scope, write=False),
            sample,
            before=(state.active_model, self._embedders.find(state.active_model)),
            after=scope.target,
            embed=embed,
        )

    async def _switch(
        self, params: MaintenanceStep, state: AgentEmbeddings, embedder: Embedder, *, recall: Recall
    ) -> tuple[MissingVectors, Counter[str]]:
        """Switches searches if no entry lacks a vector; returns how many do, and the counts if it has switched."""
        target = embedder.name
        operation = _operation(params, state.agent_id)
        async with self._begin(params, state.agent_id, write=True) as transaction:
            await transaction.replay(operation, operation.request_hash(params.kind))
            lacking = await transaction.embeddings.switch(target, now=await transaction.now())
            if any(lacking):
                transaction.discard()
                return lacking, Counter()
            switched = await transaction.embeddings.find()
            assert switched is not None, "it was switched"
            counts = Counter(reembedded=switched.vectors.get(target, 0), switched=1)
            transaction.note("embedding.compare", target, reason=recall.summary)
            await transaction.complete(operation, counts)
        return lacking, counts

    async def _remove_old(
        self, params: MaintenanceStep, state: AgentEmbeddings, embedder: Embedder
    ) -> Counter[str]:
        """Removes vectors that nothing compares any more, and those of the previous model once their time is over."""
        target = embedder.name
        needed = {state.active_model}
        if state.rejected_model != target:
            needed.add(target)
        if state.switched_at is not None and params.scheduled_at < state.switched_at + _WAY_BACK:
            needed.add(state.previous_model)
        removed = 0
        for model, number in sorted(state.vectors.items()):
            if model in needed:
                continue
            if params.dry_run:
                removed += number
                continue
            while done := await self._remove(params, state.agent_id, model=model):
                removed += done
        return Counter(vectors_removed=removed)

    async def _remove(self, params: MaintenanceStep, agent_id: str, *, model: str) -> int:
        async with self._begin(params, agent_id, write=True) as transaction:
            return await transaction.embeddings.remove_vectors(model, limit=_ENTRIES)

    @asynccontextmanager
    async def _begin(
        self, params: MaintenanceStep, agent_id: str, *, write: bool = False
    ) -> AsyncIterator[Transaction]:
        async with self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=agent_id, actor=params.actor, write=write
        ) as transaction:
            yield transaction

    @asynccontextmanager
    async def _open(self, scope: _Scope, *, write: bool) -> AsyncIterator[Transaction]:
        async with self._memory.transaction(
            tenant_id=scope.tenant_id,
            agent_id=scope.agent_id,
            actor="maintenance/monthly",
            write=write,
        ) as transaction:
            yield transaction


def _operation(params: MaintenanceStep, agent_id: str) -> Operation:
    return Operation(key=f"{params.run}/{agent_id}/embeddings", name="maintenance")


def _rejected(state: AgentEmbeddings) -> str:
    return (
        f"agent {state.agent_id} keeps its vectors of {state.active_model}, since somebody switched back from "
        f"{state.rejected_model}; to have it tried again, run `mnestic embeddings accept --agent {state.agent_id}`"
    )

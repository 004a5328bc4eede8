"""Learning from raw messages: what they claim, what their entries gain by it, and the vectors of those.

Each step takes the oldest messages that wait for it and moves them on in one transaction with what it
writes, so that a step that is run again finds the next ones.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from pydantic import BaseModel, ConfigDict, Field
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.memory.claims import Claim
from mnestic.memory.entries import Embedding
from mnestic.memory.errors import InvalidInputError, ModelRefusedError
from mnestic.memory.extraction import Extracted, claim_of
from mnestic.memory.learning import Lesson, entry_id_of, learned_entry
from mnestic.memory.ports import Embedder, Extractor, Memory, Transaction
from mnestic.memory.scope import Id

_BATCH = 200
log = logging.getLogger("mnestic.learning")


class LearnInput(BaseModel):
    """Whose messages to learn from, and how many at a time."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id
    limit: int = Field(_BATCH, ge=1, le=1000)


class Learned(BaseModel):
    """How many messages a step has moved on, and how many of them it has parked."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    taken: int
    parked: int = 0


class LearningActivities:
    """The steps of learning."""

    def __init__(self, memory: Memory, *, extractor: Extractor, embedder: Embedder) -> None:
        self._memory, self._extractor, self._embedder = memory, extractor, embedder

    @activity.defn(name="mnestic.extract")
    async def extract(self, asked: LearnInput) -> Learned:
        """Finds out what the next messages claim; one that cannot be read is parked with its reason.

        Idempotent: what was extracted is not taken again.
        """
        async with _step():
            async with self._transaction(asked) as transaction:
                lessons = await transaction.learning.take("received", limit=asked.limit)
            found = await self._extracted(lessons)  # no model is asked inside a transaction
            refused = [
                (lesson, told)
                for lesson, told in zip(lessons, found, strict=True)
                if isinstance(told, str)
            ]
            read = [
                lesson.model_copy(update={"extracted": tuple(told)})
                for lesson, told in zip(lessons, found, strict=True)
                if not isinstance(told, str)
            ]
            async with self._transaction(asked) as transaction:
                for lesson, reason in refused:
                    await transaction.learning.park(lesson, reason=reason)
                await transaction.learning.keep_extracted(read, extractor=self._extractor.name)
        return Learned(taken=len(lessons), parked=len(refused))

    @activity.defn(name="mnestic.learn")
    async def learn(self, asked: LearnInput) -> Learned:
        """Makes facts of what the next messages claim, and tells their entries, in one transaction.

        Idempotent: what was learned is not taken again.
        """
        run = activity.info().workflow_run_id
        async with _step(), self._transaction(asked) as transaction:
            lessons = await transaction.learning.take("extracted", limit=asked.limit)
            await _learn(transaction, lessons, asked, workflow_run=run)
        return Learned(taken=len(lessons))

    @activity.defn(name="mnestic.embed")
    async def embed(self, asked: LearnInput) -> Learned:
        """Gives vectors to entries that have none of the model.

        Idempotent: an entry has one vector of a model.
        """
        name = self._embedder.name
        async with _step():
            async with self._transaction(asked) as transaction:
                entries = await transaction.entries.list_unembedded(name, limit=asked.limit)
            if not entries:
                return Learned(taken=0)
            made = await self._embedder.embed([entry.content for entry in entries])
            embeddings = [
                Embedding(entry_id=entry.id, content=entry.content, vector=vector)
                for entry, vector in zip(entries, made.vectors, strict=True)
            ]
            async with self._transaction(asked) as transaction:
                await transaction.entries.embed(name, embeddings)
        return Learned(taken=len(entries))

    async def _extracted(self, lessons: Sequence[Lesson]) -> list[Sequence[Extracted] | str]:
        """What each message claims, or why it cannot be told.

        A batch that is refused is asked for again by halves, until the message is found.
        """
        if not lessons:
            return []
        try:
            return list(await self._extractor.extract([lesson.turn for lesson in lessons]))
        except (ModelRefusedError, InvalidInputError) as error:
            if len(lessons) == 1:
                log.warning("parked", extra={"said": lessons[0].name, "why": str(error)})
                return [str(error)]
        middle = len(lessons) // 2
        first = await self._extracted(lessons[:middle])
        return first + await self._extracted(lessons[middle:])

    def _transaction(self, asked: LearnInput) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=asked.tenant_id, agent_id=asked.agent_id, actor="learning", write=True
        )


@asynccontextmanager
async def _step() -> AsyncIterator[None]:
    """What all steps have in common: how they fail, and that they tell that they go on."""
    with failures():
        async with heartbeats():
            yield


async def _learn(
    transaction: Transaction,
    lessons: Sequence[Lesson],
    asked: LearnInput,
    *,
    workflow_run: str | None,
) -> None:
    if not lessons:
        return
    claims: dict[str, list[Claim]] = {
        lesson.name: [
            claim_of(
                found, lesson.turn, extractor=lesson.extractor or "", workflow_run=workflow_run
            )
            for found in lesson.extracted
        ]
        for lesson in lessons
    }
    changes = await transaction.facts.claim([claim for each in claims.values() for claim in each])
    by_claim = {claim: change.fact.id for change in changes for claim in change.fact.claims}
    names = {claim.predicate for each in claims.values() for claim in each}
    predicates = await transaction.facts.get_predicates(names)
    now = await transaction.now()
    owner = f"{asked.tenant_id}/{asked.agent_id}"
    ids = {
        entry_id_of(lesson.resource, owner=owner): lesson.name
        for lesson in lessons
        if claims[lesson.name]
    }
    entries = await transaction.entries.select(sorted(ids), lock=True)
    await transaction.entries.change(
        [
            learned_entry(
                entry,
                said := claims[ids[entry.id]],
                predicates=predicates,
                facts=sorted({by_claim[claim.id] for claim in said if claim.id in by_claim}),
                now=now,
            )
            for entry in entries.values()
        ]
    )
    await transaction.learning.learned(lessons)

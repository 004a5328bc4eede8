"""Ingestion of raw messages: extracts claims, derives facts, enriches entries, and embeds them.

Each step takes the oldest messages that wait for it, and writes its results and their new state in one transaction.
A step that is repeated so finds the next messages.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.knowledge.corrections import find_corrections
from mnestic.activities.knowledge.embedding import EntryEmbedding
from mnestic.activities.knowledge.model_batches import ModelRound
from mnestic.activities.knowledge.namesakes import with_namesakes_apart
from mnestic.activities.knowledge.receiving import remove_excluded
from mnestic.activities.models.calls import ModelCallLimits, ModelCalls, begin_model_step
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.memory.errors import ExtractionPausedError, InvalidInputError
from mnestic.memory.knowledge.enrichment import effective_claims, enriched_entry
from mnestic.memory.knowledge.extraction import Extraction, Turn, sound_claims
from mnestic.memory.knowledge.ingestion import PendingMessage, entry_id_at
from mnestic.memory.knowledge.relations import related_messages
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.models.errors import ModelMisconfiguredError, ModelRefusedError
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Extractor, Memory, Transaction
from mnestic.memory.scope import Id

Item = TypeVar("Item")
_BATCH = 500
_PRECEDING = 6  # messages before a batch that a model gets as its context
_LONGEST = timedelta(minutes=5)
log = logging.getLogger("mnestic.extraction")


class IngestInput(BaseModel):
    """The agent, and how many messages to process at a time."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id
    limit: int = Field(_BATCH, ge=1, le=1000)


class IngestProgress(BaseModel):
    """How many messages a step has processed.

    `parked` of them were set aside with a reason, and `learned` need no other step. `refused` counts claims that were
    dropped because the message does not contain their words.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    taken: int
    parked: int = 0
    learned: int = 0
    refused: int = 0


class IngestActivities:
    """The steps of ingestion."""

    def __init__(
        self,
        memory: Memory,
        *,
        extractor: Extractor,
        embedders: Embedders,
        limits: ModelCallLimits | None = None,
        prices: ModelPrices | None = None,
    ) -> None:
        self._memory, self._extractor, self._embedders = memory, extractor, embedders
        self._limits = limits or ModelCallLimits()
        limiter = RateLimiter(concurrency=self._limits.concurrency, daily=self._limits.daily)
        self._extracting = ModelCalls(
            memory,
            purpose="extract",
            model=extractor.model,
            limits=self._limits,
            limiter=limiter,
            prices=prices,
        )
        self._embedding = EntryEmbedding(
            memory, limits=self._limits, limiter=limiter, prices=prices
        )

    @activity.defn(name="mnestic.extract")
    async def extract(self, params: IngestInput) -> IngestProgress:
        """Extracts the claims of the next messages; one that cannot be read is parked with the reason.

        Idempotent: an extracted message is not taken again, and each batch is stored as soon as it is read.
        """
        learned = refused = 0

        async def read(batch: Sequence[PendingMessage]) -> None:
            nonlocal learned, refused
            silent, faults = await self._read(params, batch)
            learned, refused = learned + silent, refused + faults

        async def park(pending: PendingMessage, why: str) -> None:
            await self._park(params, pending, why)

        async with _step():
            async with begin_model_step(self._memory, params) as transaction:
                batch = await transaction.ingest_states.take("received", limit=params.limit)
            reading = self._round(partial(self._extracting.permit, params), read, park)
            await reading.run(list(_batches(batch, self._extractor.batch)))
        moved = reading.answered + reading.given_up
        return IngestProgress(
            taken=moved, parked=reading.given_up, learned=learned, refused=refused
        )

    @activity.defn(name="mnestic.learn")
    async def learn(self, params: IngestInput) -> IngestProgress:
        """Derives facts from the claims of the next messages, and enriches their entries, in one transaction.

        If that cannot be stored, fewer messages are taken, until one is left, which is parked with the reason.

        Idempotent: a processed message is not taken again.
        """
        async with _step():
            limit = params.limit
            while True:
                batch: tuple[PendingMessage, ...] = ()
                try:
                    async with begin_model_step(self._memory, params) as transaction:
                        batch = await transaction.ingest_states.take("extracted", limit=limit)
                        await _learn(transaction, batch, params)
                except InvalidInputError as error:
                    if len(batch) == 1:
                        await self._park(params, batch[0], str(error))
                        return IngestProgress(taken=1, parked=1)
                    limit = len(batch) // 2
                else:
                    return IngestProgress(taken=len(batch), learned=len(batch))

    @activity.defn(name="mnestic.embed")
    async def embed(self, params: IngestInput) -> IngestProgress:
        """Embeds entries that have no vector of the chosen model, and those that have none of the agent's active one.

        An entry that a model refuses is parked. It gets the vector 0, so that it is not tried again.

        Idempotent: an entry has one vector of a model.
        """
        moved = parked = 0
        async with _step():
            async with begin_model_step(self._memory, params) as transaction:
                active = await transaction.entries.find_active_model()
            chosen = self._embedders.chosen
            # The active one first, since searches compare its vectors until maintenance has switched.
            for embedder in dict.fromkeys((self._embedders.active(active), chosen)):
                try:
                    done, given_up = await self._embedding.embed_missing(
                        params, embedder, limit=params.limit, time_limit=_time_limit()
                    )
                except ExtractionPausedError as error:
                    if embedder is chosen:
                        raise
                    # Its server may have it no more, which keeps nothing else waiting.
                    log.warning("an earlier model makes no vectors", extra={"why": str(error)})
                else:
                    moved, parked = moved + done, parked + given_up
        return IngestProgress(taken=moved, parked=parked)

    async def _park(self, params: IngestInput, pending: PendingMessage, why: str) -> None:
        log.warning("parked", extra={"source": pending.name, "why": why})
        async with begin_model_step(self._memory, params) as transaction:
            await transaction.ingest_states.park(pending, reason=why)

    async def _read(self, params: IngestInput, batch: Sequence[PendingMessage]) -> tuple[int, int]:
        """Extracts and stores the claims of messages.

        Returns how many messages change no fact, and how many claims were refused.
        """
        extraction = await self._extract(params, await self._turns(params, batch))
        refused, read = extraction.refused, []
        for pending, found in zip(batch, extraction.claims, strict=True):
            claims, faults = sound_claims(found, pending.turn)
            read.append(pending.model_copy(update={"extracted": claims}))
            refused += len(faults)
        if refused:
            log.warning("claims refused", extra={"claims": refused, "messages": len(batch)})
        sessions = {pending.resource.session_id for pending in batch}
        async with begin_model_step(self._memory, params) as transaction:
            await transaction.ingest_states.store_extracted(read, extractor=self._extractor.name)
            session_id = sessions.pop() if len(sessions) == 1 else None
            await self._extracting.keep(transaction, extraction, session_id=session_id)
        return sum(not pending.may_change_facts for pending in read), refused

    async def _extract(self, params: IngestInput, turns: Sequence[Turn]) -> Extraction:
        """The claims of turns. If the model refuses, it is called once more without the earlier messages."""
        alone = [turn.model_copy(update={"before": ()}) for turn in turns]
        try:  # no model is called inside a transaction
            return await self._extracting.answer(params, lambda: self._extractor.extract(turns))
        except ModelMisconfiguredError:
            raise
        except ModelRefusedError:
            if not any(turn.before for turn in turns):
                raise
        return await self._extracting.answer(params, lambda: self._extractor.extract(alone))

    async def _turns(self, params: IngestInput, batch: Sequence[PendingMessage]) -> list[Turn]:
        """Messages as turns; where the extractor reads them, with the earlier messages of their sessions."""
        if not self._extractor.reads_earlier:
            return [pending.turn for pending in batch]
        first: dict[str, Resource] = {}
        for message in sorted((pending.resource for pending in batch), key=_order):
            first.setdefault(message.session_id, message)
        async with begin_model_step(self._memory, params, write=False) as transaction:
            before = {
                session: tuple(
                    PendingMessage(resource=message).turn
                    for message in await transaction.resources.list_before(
                        earliest, limit=_PRECEDING
                    )
                )
                for session, earliest in first.items()
            }
        return [
            pending.turn.model_copy(update={"before": before[pending.resource.session_id]})
            for pending in batch
        ]

    def _round(
        self,
        permit: Callable[[], AbstractAsyncContextManager[None]],
        ask: Callable[[Sequence[Item]], Awaitable[None]],
        give_up: Callable[[Item, str], Awaitable[None]],
    ) -> ModelRound[Item]:
        """A round that ends well before the step times out; the rest is left for the next step."""
        return ModelRound(
            ask=ask,
            give_up=give_up,
            permit=permit,
            recheck=self._limits.recheck,
            time_limit=_time_limit(),
        )


def _time_limit() -> timedelta:
    return (activity.info().start_to_close_timeout or _LONGEST) / 2


def _order(message: Resource) -> tuple[datetime, str]:
    return message.at, message.source_id


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


@asynccontextmanager
async def _step() -> AsyncIterator[None]:
    """Translates failures and sends heartbeats, for all steps."""
    with failures():
        async with heartbeats():
            yield


async def _learn(
    transaction: Transaction, batch: Sequence[PendingMessage], params: IngestInput
) -> None:
    if not batch:
        return
    run = activity.info().workflow_run_id
    batch = await with_namesakes_apart(transaction, batch)
    claimed = {pending.place: pending.claims(workflow_run=run) for pending in batch}
    all_claims = await remove_excluded(
        transaction, [claim for each in claimed.values() for claim in each]
    )
    ids = {claim.id for claim in all_claims}
    claims = {
        place: [claim for claim in each if claim.id in ids] for place, each in claimed.items()
    }
    changes = [*await transaction.facts.claim(all_claims)]
    for place, each in (await find_corrections(transaction, batch, workflow_run=run)).items():
        allowed = await remove_excluded(transaction, each)
        changes += await transaction.facts.claim(allowed)
        claims[place] += allowed
        all_claims += allowed
    predicates = await transaction.facts.get_predicates({claim.predicate for claim in all_claims})
    learned = {place for place, each in claims.items() if each}
    mentions = await transaction.facts.list_mentions(
        {(claim.subject, claim.predicate) for claim in all_claims}
    )
    related = related_messages(mentions, predicates=predicates, learned=learned)
    owner = f"{params.tenant_id}/{params.agent_id}"
    places = {entry_id_at(place, owner=owner): place for place in learned | related.keys()}
    entries = await transaction.entries.select(sorted(places), lock=True)
    earlier = {
        entry.id: {
            *entry.related,
            *(entry_id_at(one.place, owner=owner) for one in related.get(places[entry.id], ())),
        }
        for entry in entries.values()
    }
    times = await transaction.entries.select_times(set().union(*earlier.values()))
    children = await transaction.entries.count_children(entries.keys())
    basis = await transaction.settings.importance_basis()
    await transaction.entries.change(
        [
            enriched_entry(
                entry,
                effective_claims(claims.get(places[entry.id], ()), changes),
                predicates=predicates,
                related={name: times[name] for name in earlier[entry.id] & times.keys()},
                children=children[entry.id],
                basis=basis,
            )
            for entry in entries.values()
        ]
    )
    await transaction.ingest_states.mark_learned(batch)

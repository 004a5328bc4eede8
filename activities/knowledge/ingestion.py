"""Ingestion of raw messages: extracts claims, derives facts, enriches entries, and embeds them.

Each step takes the oldest messages that wait for it, and writes its results and their new state in one transaction.
A step that is repeated so finds the next messages.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.knowledge.embedding import EntryEmbedding
from mnestic.activities.knowledge.late_messages import park_unread, store_extracted
from mnestic.activities.knowledge.learning import learn_from
from mnestic.activities.knowledge.model_batches import ModelRound
from mnestic.activities.models.calls import ModelCallLimits, ModelCalls, begin_model_step
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.memory.errors import ExtractionPausedError, InvalidInputError
from mnestic.memory.knowledge.extraction import Extraction, ExtractionInput, valid_claims
from mnestic.memory.knowledge.ingestion import (
    CONTEXT_MESSAGES,
    IncomingMessage,
    contexts_of,
    entry_id_at,
    in_conversations,
)
from mnestic.memory.models.errors import ModelMisconfiguredError, ModelRefusedError
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Embedder, Extractor, Memory
from mnestic.memory.scope import Id

Item = TypeVar("Item")
_BATCH = 500
_LONGEST = timedelta(minutes=5)
_NEAREST = 3  # earlier messages that a model is shown beside each message
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
    dropped because the message does not contain their words. `is_last` if no other message waited for extraction or learning
    afterwards. `lacks_index`: so many have vectors that these are worth an index.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    taken: int
    parked: int = 0
    learned: int = 0
    refused: int = 0
    is_last: bool = False
    lacks_index: bool = False


@dataclass(kw_only=True)
class ExtractionAttempt:
    """What an attempt to extract tells the next one: how far it is.

    `until` is the number of the last message of the first attempt, `size` of how many messages a part is, and `parts` how many
    are being read. The counts are those of `IngestProgress`, of all attempts.
    """

    size: int
    until: int | None = None
    parts: int = 0
    taken: int = 0
    parked: int = 0
    learned: int = 0
    refused: int = 0

    @classmethod
    def after(cls, info: activity.Info, *, size: int) -> Self:
        """The attempt after another: with smaller parts, if that one was lost, or out of time, in the midst of some."""
        told = next((one for one in info.heartbeat_details if isinstance(one, dict)), {})
        known = {one.name for one in fields(cls)}
        before = cls(**{"size": size, **{name: told[name] for name in told if name in known}})
        return replace(
            before, size=max(1, before.size // 2) if before.parts else before.size, parts=0
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While a part is read; who is cancelled in its midst leaves it as begun."""
        self.parts += 1
        activity.heartbeat(self)
        try:
            yield
        except Exception:
            self.parts -= 1
            raise
        self.parts -= 1

    def progress(self) -> IngestProgress:
        """The result of the step."""
        return IngestProgress(
            taken=self.taken, parked=self.parked, learned=self.learned, refused=self.refused
        )


class _Corpus(NamedTuple):
    """Whose entries are embedded: an agent's, or those of one of its collections."""

    tenant_id: str
    agent_id: str


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

        Idempotent: an extracted message is not taken again, and each batch is stored as soon as it is read. Each attempt takes
        of the messages that the first one took, so that the next step learns from the same ones together; only once none of
        them is left it takes others.
        """
        attempt = ExtractionAttempt.after(activity.info(), size=self._extractor.batch)

        async def read(batch: Sequence[IncomingMessage]) -> None:
            with attempt.reading():
                learned, refused = await self._read(params, batch)
            attempt.taken += len(batch)
            attempt.learned += learned
            attempt.refused += refused

        async def park(pending: IncomingMessage, why: str) -> None:
            log.warning("parked", extra={"source": pending.name, "why": why})
            async with begin_model_step(self._memory, params) as transaction:
                await transaction.keep_to(pending.resource.readers)
                await park_unread(transaction, pending, reason=why, extractor=self._extractor)
            attempt.taken += 1
            attempt.parked += 1

        async with _step(lambda: attempt):
            batch = await self._take(params, attempt)
            reading = self._round(partial(self._extracting.permit, params), read, park)
            try:
                await reading.run(list(_batches(batch, attempt.size)))
            finally:
                activity.heartbeat(attempt)
        return attempt.progress()

    @activity.defn(name="mnestic.learn")
    async def learn(self, params: IngestInput) -> IngestProgress:
        """Derives facts from the claims of the next messages, and enriches their entries, in one transaction.

        If that cannot be stored, fewer messages are taken, until one is left, which is parked with the reason.

        Idempotent: a processed message is not taken again.
        """
        async with _step():
            limit = params.limit
            while True:
                batch: tuple[IncomingMessage, ...] = ()
                try:
                    async with begin_model_step(self._memory, params) as transaction:
                        await transaction.ingest_states.lock()
                        batch = await transaction.ingest_states.take("extracted", limit=limit)
                        if batch:
                            await transaction.keep_to(batch[0].resource.readers)
                        await learn_from(
                            transaction,
                            batch,
                            owner=f"{params.tenant_id}/{params.agent_id}",
                            workflow_run=activity.info().workflow_run_id,
                        )
                except InvalidInputError as error:
                    if len(batch) == 1:
                        await self._park(params, batch[0], str(error))
                        return IngestProgress(taken=1, parked=1)
                    limit = len(batch) // 2
                else:
                    async with begin_model_step(self._memory, params, write=False) as reading:
                        is_last = not await reading.ingest_states.is_pending()
                    number = len(batch)
                    return IngestProgress(taken=number, learned=number, is_last=is_last)

    @activity.defn(name="mnestic.embed")
    async def embed(self, params: IngestInput) -> IngestProgress:
        """Embeds entries that have no vector of the chosen model, and those that have none of the agent's active one.

        An entry that a model refuses is parked. It gets the vector 0, so that it is not tried again.

        Idempotent: an entry has one vector of a model.
        """
        moved = parked = 0
        lacks_index = False
        async with _step():
            async with begin_model_step(self._memory, params) as transaction:
                targets = await self._embedders.of_collections(transaction, params.agent_id)
            for corpus, target in {params.agent_id: self._embedders.chosen, **targets}.items():
                if target is not None:
                    done = await self._embed(
                        _Corpus(params.tenant_id, corpus), target, params.limit
                    )
                    moved, parked = moved + done.taken, parked + done.parked
                    lacks_index |= done.lacks_index
        return IngestProgress(taken=moved, parked=parked, lacks_index=lacks_index)

    async def _embed(self, corpus: _Corpus, target: Embedder, limit: int) -> IngestProgress:
        """Embeds the next entries of a corpus."""
        async with begin_model_step(self._memory, corpus) as transaction:
            active = await transaction.entries.find_active_model()
            lacks_index = active is not None and await transaction.embeddings.lacks_index(active)
        moved = parked = 0
        first = (active and self._embedders.find(active)) or target
        # The active one first, since searches compare its vectors until maintenance has switched.
        for embedder in dict.fromkeys((first, target)):
            try:
                done, given_up = await self._embedding.embed_missing(
                    corpus, embedder, limit=_halved(limit), time_limit=_time_limit()
                )
            except ExtractionPausedError as error:
                if embedder is target:
                    raise
                # Its server may have it no more, which keeps nothing else waiting.
                log.warning("an earlier model makes no vectors", extra={"why": str(error)})
            else:
                moved, parked = moved + done, parked + given_up
        return IngestProgress(taken=moved, parked=parked, lacks_index=lacks_index)

    async def _take(
        self, params: IngestInput, attempt: ExtractionAttempt
    ) -> tuple[IncomingMessage, ...]:
        """Those of the messages of the first attempt that are left, else the next ones."""
        async with begin_model_step(self._memory, params) as transaction:
            take = partial(transaction.ingest_states.take, "received", limit=params.limit)
            batch = await take(until=attempt.until)
            if not batch and attempt.until is not None:
                batch, attempt.until = await take(), None
        if batch and attempt.until is None:
            attempt.until = batch[-1].number
            activity.heartbeat(attempt)
        return batch

    async def _park(self, params: IngestInput, pending: IncomingMessage, why: str) -> None:
        log.warning("parked", extra={"source": pending.name, "why": why})
        async with begin_model_step(self._memory, params) as transaction:
            await transaction.ingest_states.park(pending, reason=why)

    async def _read(self, params: IngestInput, batch: Sequence[IncomingMessage]) -> tuple[int, int]:
        """Extracts and stores the claims of messages.

        Returns how many messages change no fact, and how many claims were refused.
        """
        batch = in_conversations(batch)
        contexts = await self._contexts(params, batch)
        places = {pending.place for pending in batch}
        nearest = await self._nearest(params, batch)
        turns = [
            pending.turn_after(
                [one for one in contexts[pending.place] if one.place not in places],
                nearest=[one for one in nearest.get(pending.place, ()) if one.place not in places],
            )
            for pending in batch
        ]
        extraction = await self._extract(params, turns)
        refused, read = extraction.refused, []
        named = extraction.replaced or ((),) * len(batch)
        for pending, found, replaces in zip(batch, extraction.claims, named, strict=True):
            claims, faults = valid_claims(found, pending.turn)
            read.append(pending.as_extracted(claims, replaces, context=contexts[pending.place]))
            refused += len(faults)
        if refused:
            log.warning("claims refused", extra={"claims": refused, "messages": len(batch)})
        sessions = {pending.resource.session_id for pending in batch}
        async with begin_model_step(self._memory, params) as transaction:
            await transaction.keep_to(batch[0].resource.readers)
            stored = await store_extracted(transaction, read, extractor=self._extractor)
            session_id = sessions.pop() if len(sessions) == 1 else None
            await self._extracting.keep(transaction, extraction, session_id=session_id)
        return sum(not pending.may_change_facts for pending in stored), refused

    async def _extract(self, params: IngestInput, turns: Sequence[ExtractionInput]) -> Extraction:
        """The claims of turns. If the model refuses, it is called once more without the earlier messages."""
        alone = [turn.model_copy(update={"before": (), "nearest": ()}) for turn in turns]
        try:  # no model is called inside a transaction
            return await self._extracting.answer(params, lambda: self._extractor.extract(turns))
        except ModelMisconfiguredError:
            raise
        except ModelRefusedError:
            if not any(turn.before or turn.nearest for turn in turns):
                raise
        return await self._extracting.answer(params, lambda: self._extractor.extract(alone))

    async def _contexts(
        self, params: IngestInput, batch: Sequence[IncomingMessage]
    ) -> dict[tuple[str, str], tuple[IncomingMessage, ...]]:
        """The messages before each in its session, where the extractor reads them; by session and source id."""
        if not self._extractor.reads_earlier:
            return {pending.place: () for pending in batch}
        async with begin_model_step(self._memory, params, write=False) as transaction:
            await transaction.keep_to(batch[0].resource.readers)
            before = await transaction.ingest_states.list_around(batch, before=CONTEXT_MESSAGES)
        return contexts_of(batch, before)

    async def _nearest(
        self, params: IngestInput, batch: Sequence[IncomingMessage]
    ) -> dict[tuple[str, str], tuple[ExtractionInput, ...]]:
        """The earlier messages that a model may name as replaced by each message, by session and source id."""
        if self._extractor.model is None:
            return {}
        owner = f"{params.tenant_id}/{params.agent_id}"
        places = {entry_id_at(one.place, owner=owner): one.place for one in batch}
        async with begin_model_step(self._memory, params, write=False) as transaction:
            await transaction.keep_to(batch[0].resource.readers)
            nearest = await transaction.search.list_nearest(places, limit=_NEAREST)
        return {places[entry_id]: turns for entry_id, turns in nearest.items()}

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


def _halved(size: int) -> int:
    """How many messages are done at a time: after each attempt that failed, as by the time limit, half as many."""
    return max(1, size >> (activity.info().attempt - 1))


def _time_limit() -> timedelta:
    return (activity.info().start_to_close_timeout or _LONGEST) / 2


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


@asynccontextmanager
async def _step(details: Callable[[], Any] | None = None) -> AsyncIterator[None]:
    """Translates failures and sends heartbeats, for all steps."""
    with failures():
        async with heartbeats(details):
            yield

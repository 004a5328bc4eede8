"""Vectors for entries that have none of a model, in batches, within the limits of model calls.

Maintenance makes vectors of another model in the same way, beside those that are there.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from mnestic.activities.knowledge.model_batches import ModelRound
from mnestic.activities.models.calls import (
    AgentScope,
    ModelCallLimits,
    ModelCalls,
    begin_model_step,
)
from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.memory.knowledge.entries import Embedding, Unembedded
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.models.messages import Embeddings
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Embedder, Memory, Transaction

log = logging.getLogger("mnestic.extraction")


@dataclass(frozen=True, slots=True)
class EmbeddingRun:
    """A run whose calls of models are written down under its name; `check_left` raises if none is left for it."""

    name: str
    check_left: Callable[[], Awaitable[None]]


class EntryEmbedding:
    """Embeds entries of agents, within a run of maintenance if one is named."""

    def __init__(
        self,
        memory: Memory,
        *,
        limits: ModelCallLimits,
        limiter: RateLimiter | None = None,
        prices: ModelPrices | None = None,
    ) -> None:
        self._memory, self._limits, self._prices = memory, limits, prices
        self._limiter = limiter or RateLimiter(concurrency=limits.concurrency, daily=limits.daily)

    async def embed_missing(
        self,
        scope: AgentScope,
        embedder: Embedder,
        *,
        limit: int,
        time_limit: timedelta,
        run: EmbeddingRun | None = None,
    ) -> tuple[int, int]:
        """Embeds the next entries that have no vector of an embedder; returns how many, and how many were given up.

        An entry that the model refuses gets the vector 0, so that it is not tried again, and its message is parked.

        Args:
            scope: Whose entries they are.
            embedder: Its vectors are stored under its name.
            limit: How many entries.
            time_limit: After it no further call begins.
            run: Whose calls they are.

        Raises:
            UnavailableError: the model does not answer, or a limit or a setting keeps it from being called.
        """
        calls = self._calls(embedder, run=run)
        async with begin_model_step(self._memory, scope) as transaction:
            entries = await transaction.entries.list_unembedded(embedder.name, limit=limit)
        work = ModelRound(
            ask=partial(self._embed, scope, embedder, calls=calls, run=run),
            give_up=lambda entry, why: self._give_up(scope, embedder, entry, why=why),
            permit=partial(calls.permit, scope),
            recheck=self._limits.recheck,
            time_limit=time_limit,
        )
        await work.run(list(_batches(entries, embedder.batch)))
        return work.answered + work.given_up, work.given_up

    async def make_vectors(
        self,
        scope: AgentScope,
        embedder: Embedder,
        texts: Sequence[str],
        *,
        run: EmbeddingRun | None = None,
    ) -> Embeddings:
        """The vectors of texts that are no entries of an index, such as archived ones and sampled queries.

        Raises:
            UnavailableError: the model does not answer, or a limit keeps it from being called.
            ModelRefusedError: it refuses one of the texts.
            ConfigurationError: a setting keeps it from being called.
        """
        calls = self._calls(embedder, run=run)
        async with calls.permit(scope):
            made = await _answer(scope, embedder, texts, calls=calls, run=run)
            async with begin_model_step(self._memory, scope) as transaction:
                await calls.keep(transaction, made, operation_key=run.name if run else None)
        return made

    def _calls(self, embedder: Embedder, *, run: EmbeddingRun | None) -> ModelCalls:
        return ModelCalls(
            self._memory,
            purpose="embed" if run is None else "maintain",
            model=embedder.model,
            limits=self._limits,
            limiter=self._limiter,
            prices=self._prices,
        )

    async def _embed(
        self,
        scope: AgentScope,
        embedder: Embedder,
        entries: Sequence[Unembedded],
        *,
        calls: ModelCalls,
        run: EmbeddingRun | None,
    ) -> None:
        texts = [entry.content for entry in entries]
        made = await _answer(scope, embedder, texts, calls=calls, run=run)
        embeddings = [
            Embedding(entry_id=entry.id, content=entry.content, vector=vector)
            for entry, vector in zip(entries, made.vectors, strict=True)
        ]
        async with begin_model_step(self._memory, scope) as transaction:
            await transaction.entries.embed(embedder.name, embeddings)
            await calls.keep(transaction, made, operation_key=run.name if run else None)

    async def _give_up(
        self, scope: AgentScope, embedder: Embedder, entry: Unembedded, *, why: str
    ) -> None:
        log.warning("not embedded", extra={"entry": entry.id, "why": why})
        (nothing,) = (await embedder.embed([""])).vectors
        embedding = Embedding(entry_id=entry.id, content=entry.content, vector=nothing)
        reason = f"has no vector: {why}"
        async with begin_model_step(self._memory, scope) as transaction:
            pending = await _lock_message(transaction, entry)
            if await transaction.entries.embed(embedder.name, [embedding]):
                transaction.note("entry.embed", entry.id, reason=reason)
                if pending is not None:
                    await transaction.ingest_states.park(pending, reason=reason)


async def _answer(
    scope: AgentScope,
    embedder: Embedder,
    texts: Sequence[str],
    *,
    calls: ModelCalls,
    run: EmbeddingRun | None,
) -> Embeddings:
    if run is not None and embedder.model is not None:
        await run.check_left()
    key = run.name if run else None
    return await calls.answer(scope, lambda: embedder.embed(texts), operation_key=key)


async def _lock_message(transaction: Transaction, entry: Unembedded) -> IncomingMessage | None:
    """An entry's message, locked before the entry, in the same order as in `learn`."""
    if entry.session_id is None or entry.source_id is None:
        return None
    return await transaction.ingest_states.find(entry.session_id, entry.source_id, lock=True)


def _batches(entries: Sequence[Unembedded], size: int) -> Iterator[Sequence[Unembedded]]:
    for start in range(0, len(entries), size):
        yield entries[start : start + size]

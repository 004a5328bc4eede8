"""The models that queries call: within budgets, on the account of a caller, with every call recorded.

Somebody waits for the answer. A call is recorded at once, in a transaction of its own, whatever becomes of the query.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from types import MappingProxyType
from typing import TypeVar

from mnestic.activities.callers import Caller
from mnestic.activities.models.calls import ModelCallLimits, ModelCalls
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.activities.retrieval.reranking import RERANKING_LIMIT, Rerankers
from mnestic.memory.error_texts import describe_error
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.models.messages import Embeddings, RerankScores
from mnestic.memory.models.usage import ModelPrices, Purpose
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval.ports import Reranker

Answer = TypeVar("Answer", Embeddings, RerankScores)
_NONE: Rerankers = MappingProxyType({})
_CLOSING = timedelta(seconds=5)
_ANY_TEXT = "memory"
log = logging.getLogger("mnestic.query_models")


class QueryModels:
    """The models of a process that questions ask. Calls of local ones are neither held nor counted."""

    def __init__(
        self,
        embedders: Embedders,
        *,
        rerankers: Rerankers = _NONE,
        limits: ModelCallLimits | None = None,
        prices: ModelPrices | None = None,
        closing: timedelta = _CLOSING,
    ) -> None:
        """Prepares the models.

        Args:
            embedders: Those of the entries' vectors.
            rerankers: Who may read the best of a search once more, by what the settings call them.
            limits: How many calls go at once, and what a tenant's day may take, learning included.
            prices: USD by model.
            closing: How long `close` may take.
        """
        self._embedders, self._rerankers, self._closing = embedders, rerankers, closing
        self._is_loaded = False
        self._limits, self._prices = limits or ModelCallLimits(), prices
        self._limiter = RateLimiter(concurrency=self._limits.concurrency, daily=self._limits.daily)
        self._recordings: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Loads a local embedder, which takes a moment in a new process; that of a server needs nothing."""
        embedder = self._embedders.chosen
        if embedder.model is None and not self._is_loaded:
            await embedder.embed([_ANY_TEXT])
            self._is_loaded = True

    def embedders(
        self, caller: Caller, *, within: timedelta | None = None, is_budgeted: bool = True
    ) -> Embedders:
        """The embedders, on a caller's account.

        Args:
            caller: Who asks.
            within: How long who asks waits; as long as it takes without it.
            is_budgeted: Whether the day's budget holds the calls back; they are written down anyway.
        """

        def metered(embedder: Embedder) -> Embedder:
            if embedder.model is None:
                return embedder
            return _MeteredEmbedder(
                embedder, self, caller=caller, within=within, is_budgeted=is_budgeted
            )

        def find(name: str) -> Embedder | None:
            other = self._embedders.find(name)
            return other and metered(other)

        return Embedders(metered(self._embedders.chosen), find_other=find)

    def rerankers(self, caller: Caller, *, within: timedelta | None = None) -> Rerankers:
        """The rerankers, on a caller's account; nobody waits longer than he would anyway, or `within`."""
        limit = RERANKING_LIMIT if within is None else min(within, RERANKING_LIMIT)
        return {
            name: one
            if one.model is None
            else _MeteredReranker(one, self, caller=caller, within=limit)
            for name, one in self._rerankers.items()
        }

    async def call(
        self,
        caller: Caller,
        work: Callable[[], Awaitable[Answer]],
        *,
        purpose: Purpose,
        model: str,
        within: timedelta | None = None,
        is_budgeted: bool = True,
    ) -> Answer:
        """Asks a model within the budget, and writes down what that took.

        Args:
            caller: On whose account.
            work: The call.
            purpose: What it is for.
            model: Which model it asks.
            within: How long it is waited for; as long as it takes without it.
            is_budgeted: Whether the day's budget holds it back.

        Raises:
            BudgetExceededError: the tenant's day has nothing left.
            ConfigurationError: its budget is of money, and some calls have no price.
            ModelUnavailableError: the model does not answer; what that took is not known.
            ModelMisconfiguredError: the server takes no call of this kind.
            ModelRefusedError: the model or its server refused, or the answer is of no use.
        """
        calls = ModelCalls(
            caller.memory,
            purpose=purpose,
            model=model,
            limits=self._limits if is_budgeted else self._limits.model_copy(update={"daily": None}),
            limiter=self._limiter,
            prices=self._prices,
            actor=caller.actor,
        )
        async with _time_limit(within, model=model), AsyncExitStack() as permit:
            await permit.enter_async_context(calls.permit(caller))
            await calls.check_budget(caller)
            answer = await _call(work)
            # Who asked may give up; what was paid is written down, and has its permit until it is.
            await asyncio.shield(
                self._begin_recording(calls, caller, answer, permit=permit.pop_all())
            )
        if isinstance(answer, ModelRefusedError):
            raise answer
        return answer

    async def close(self) -> None:
        """Waits until what was paid is written down; what cannot be in time is given up, and logged."""
        if not self._recordings:
            return
        _, late = await asyncio.wait(self._recordings, timeout=self._closing.total_seconds())
        for recording in late:
            recording.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _begin_recording(
        self,
        calls: ModelCalls,
        caller: Caller,
        answer: Embeddings | RerankScores | ModelRefusedError,
        *,
        permit: AsyncExitStack,
    ) -> asyncio.Task[None]:
        async def keep() -> None:
            async with permit, caller(write=True) as transaction:
                await calls.keep(
                    transaction, answer, session_id=caller.session_id, job_id=caller.job_id
                )

        recording = asyncio.create_task(keep())
        self._recordings.add(recording)
        recording.add_done_callback(self._recorded)
        return recording

    def _recorded(self, recording: asyncio.Task[None]) -> None:
        self._recordings.discard(recording)
        error = asyncio.CancelledError() if recording.cancelled() else recording.exception()
        if error is not None:
            log.warning(
                "what a call took is not written down", extra={"why": describe_error(error)}
            )


@asynccontextmanager
async def _time_limit(within: timedelta | None, *, model: str) -> AsyncIterator[None]:
    """A block in which a model answers within a time, if there is one."""
    seconds = None if within is None else within.total_seconds()
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        why = "no answer in time" if seconds is None else f"no answer within {seconds:g} s"
        raise ModelUnavailableError(model=model, why=why) from error


async def _call(work: Callable[[], Awaitable[Answer]]) -> Answer | ModelRefusedError:
    """An answer, or the refusal of one that was paid for."""
    try:
        return await work()
    except ModelRefusedError as error:
        if error.usage is None:
            raise
        return error


class _MeteredEmbedder:
    """An embedder on somebody's account."""

    def __init__(
        self,
        embedder: Embedder,
        models: QueryModels,
        *,
        caller: Caller,
        within: timedelta | None,
        is_budgeted: bool,
    ) -> None:
        self.name, self.model, self.batch = embedder.name, embedder.model, embedder.batch
        self._embedder, self._models = embedder, models
        self._caller, self._within, self._is_budgeted = caller, within, is_budgeted

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """See the port."""
        return await self._models.call(
            self._caller,
            lambda: self._embedder.embed(texts),
            purpose="retrieve",
            model=str(self.model),
            within=self._within,
            is_budgeted=self._is_budgeted,
        )


class _MeteredReranker:
    """A reranker on somebody's account."""

    def __init__(
        self, reranker: Reranker, models: QueryModels, *, caller: Caller, within: timedelta
    ) -> None:
        self.name, self.model = reranker.name, reranker.model
        self._reranker, self._models = reranker, models
        self._caller, self._within = caller, within

    async def rerank(self, question: str, texts: Sequence[str]) -> RerankScores:
        """See the port."""
        return await self._models.call(
            self._caller,
            lambda: self._reranker.rerank(question, texts),
            purpose="rerank",
            model=str(self.model),
            within=self._within,
        )

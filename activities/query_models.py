"""The models that questions ask, on whose account they do, and what that took.

They stand apart from those of learning, since somebody waits for the answer: what a call took is written
down at once, in a transaction of its own, whatever becomes of the question.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import MappingProxyType
from typing import TypeVar

from mnestic.activities.askers import Asker
from mnestic.activities.headroom import Headroom
from mnestic.activities.learning_calls import LearningCalls, LearningLimits
from mnestic.activities.reranking import Rerankers
from mnestic.memory.language import Embedded, Reranked
from mnestic.memory.ports import Embedder, Reranker
from mnestic.memory.usage import ModelPrices, Purpose

Answer = TypeVar("Answer", Embedded, Reranked)
_NONE: Rerankers = MappingProxyType({})


class QueryModels:
    """The models of a process that questions ask. Calls of local ones are neither held nor counted."""

    def __init__(
        self,
        embedder: Embedder,
        *,
        rerankers: Rerankers = _NONE,
        limits: LearningLimits | None = None,
        prices: ModelPrices | None = None,
    ) -> None:
        """Prepares the models.

        Args:
            embedder: That of the entries' vectors.
            rerankers: Who may read the best of a search once more, by what the settings call them.
            limits: How many calls go at once, and what a tenant's day may take, learning included.
            prices: USD by model.
        """
        self._embedder, self._rerankers = embedder, rerankers
        self._limits, self._prices = limits or LearningLimits(), prices
        self._headroom = Headroom(concurrency=self._limits.concurrency, daily=self._limits.daily)
        self._keeping: set[asyncio.Task[None]] = set()

    def embedder(self, asker: Asker, *, is_held: bool = True) -> Embedder:
        """The embedder, on an asker's account.

        Args:
            asker: Who asks.
            is_held: Whether the day's budget holds the calls back; they are written down anyway.
        """
        if self._embedder.model is None:
            return self._embedder
        return _MeteredEmbedder(self._embedder, self, asker=asker, is_held=is_held)

    def rerankers(self, asker: Asker) -> Rerankers:
        """The rerankers, on an asker's account."""
        return {
            name: one if one.model is None else _MeteredReranker(one, self, asker=asker)
            for name, one in self._rerankers.items()
        }

    async def ask(
        self,
        asker: Asker,
        work: Callable[[], Awaitable[Answer]],
        *,
        purpose: Purpose,
        model: str,
        is_held: bool = True,
    ) -> Answer:
        """Asks a model within the budget, and writes down what that took.

        Raises:
            BudgetExceededError: the tenant's day has nothing left.
            ConfigurationError: its budget is of money, and some calls have no price.
            ModelUnavailableError: the model does not answer; what that took is not known.
            ModelMisconfiguredError: the server takes no call of this kind.
            ModelRefusedError: the model or its server refused, or the answer is of no use.
        """
        calls = LearningCalls(
            asker.memory,
            purpose=purpose,
            model=model,
            limits=self._limits if is_held else self._limits.model_copy(update={"daily": None}),
            headroom=self._headroom,
            prices=self._prices,
            actor=asker.actor,
        )
        async with calls.room(asker):
            answer = await calls.answer(asker, work)
            keeping = asyncio.create_task(self._keep(calls, asker, answer))
            self._keeping.add(keeping)
            keeping.add_done_callback(self._keeping.discard)
            await asyncio.shield(keeping)  # who asked may give up; what was paid stays paid
        return answer

    async def _keep(self, calls: LearningCalls, asker: Asker, answer: Embedded | Reranked) -> None:
        async with asker(write=True) as transaction:
            await calls.keep(transaction, answer, session_id=asker.session_id, job_id=asker.job_id)


class _MeteredEmbedder:
    """An embedder on somebody's account."""

    def __init__(
        self, embedder: Embedder, models: QueryModels, *, asker: Asker, is_held: bool
    ) -> None:
        self.name, self.model, self.batch = embedder.name, embedder.model, embedder.batch
        self._embedder, self._models = embedder, models
        self._asker, self._is_held = asker, is_held

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """See the port."""
        return await self._models.ask(
            self._asker,
            lambda: self._embedder.embed(texts),
            purpose="retrieve",
            model=str(self.model),
            is_held=self._is_held,
        )


class _MeteredReranker:
    """A reranker on somebody's account."""

    def __init__(self, reranker: Reranker, models: QueryModels, *, asker: Asker) -> None:
        self.name, self.model = reranker.name, reranker.model
        self._reranker, self._models, self._asker = reranker, models, asker

    async def rerank(self, question: str, texts: Sequence[str]) -> Reranked:
        """See the port."""
        return await self._models.ask(
            self._asker,
            lambda: self._reranker.rerank(question, texts),
            purpose="rerank",
            model=str(self.model),
        )

"""The reranker that asks a server which speaks Cohere's API: `POST {base}/rerank`.

Relevances are checked as nothing else is: one for each text, from 0 to 1.
"""

import asyncio
import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from openai import AsyncOpenAI
from pydantic import AliasChoices, BaseModel, Field, ValidationError

from mnestic.activities.clients.openai_failures import translated_failures
from mnestic.activities.clients.tokens import count_tokens, cut_tokens
from mnestic.memory.models.errors import ModelMisconfiguredError, ModelRefusedError
from mnestic.memory.models.messages import RerankScores, TokenUsage

_LONGEST_TOKENS = 512
_ROUNDING = 1e-3  # how far off 0 and 1 a relevance may be


class _Result(BaseModel):
    """The relevance of a text, by its index. Source: Cohere's API reference, "Rerank"."""

    index: int
    relevance: float = Field(
        allow_inf_nan=False, validation_alias=AliasChoices("relevance_score", "score")
    )


class _Units(BaseModel):
    search_units: float | None = Field(None, ge=0, allow_inf_nan=False)
    input_tokens: float | None = Field(None, ge=0, allow_inf_nan=False)


class _Meta(BaseModel):
    billed_units: _Units | None = None
    tokens: _Units | None = None


class _Usage(BaseModel):
    total_tokens: int | None = Field(None, ge=0)


class _Answer(BaseModel):
    """What we read of an answer: Cohere tells in `meta` what it took, Jina and vLLM in `usage`."""

    results: list[Any]
    model: str | None = None
    meta: _Meta | None = None
    usage: _Usage | None = None


class RemoteReranker:
    """Implements `mnestic.memory.retrieval.ports.Reranker`."""

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        model: str,
        timeout: timedelta,
        max_tokens: int = _LONGEST_TOKENS,
    ) -> None:
        """Of a text longer than `max_tokens` the beginning counts."""
        self.name = self.model = model
        self._max_tokens, self._timeout_s = max_tokens, timeout.total_seconds()
        self._client = client.with_options(max_retries=0, timeout=self._timeout_s)

    async def rerank(self, question: str, texts: Sequence[str]) -> RerankScores:
        """See the port. One request, whatever the number of texts."""
        if not texts:
            usage = TokenUsage(input_tokens=0, output_tokens=0)
            return RerankScores(relevances=(), model=self.model, usage=usage)
        query, *cut = await asyncio.to_thread(
            lambda: [cut_tokens(text, self._max_tokens) for text in (question, *texts)]
        )
        body = await self._receive(query, cut)
        try:
            answer = _Answer.model_validate_json(body)
        except ValidationError:
            # Without its cause, which may repeat what was said.
            why = "the answer is no list of results; check MNESTIC_RERANK_URL"
            raise ModelMisconfiguredError(model=self.model, why=why) from None
        tokens = _tokens(answer)
        if tokens is None:
            tokens = await asyncio.to_thread(lambda: sum(map(count_tokens, (query, *cut))))
        usage = TokenUsage(input_tokens=tokens, output_tokens=0)
        units = _search_units(answer)
        try:
            relevances = _relevances(answer.results, number=len(cut))
        except ValueError as error:  # it is billed all the same
            raise ModelRefusedError(
                model=answer.model or self.model, why=str(error), usage=usage, search_units=units
            ) from None
        return RerankScores(
            relevances=relevances,
            model=answer.model or self.model,
            usage=usage,
            search_units=units,
        )

    async def _receive(self, question: str, texts: list[str]) -> str:
        body = {"model": self.model, "query": question, "documents": texts, "top_n": len(texts)}
        with translated_failures(model=self.model, api_key=self._client.api_key):
            # The SDK's timeout is one for each read; a server that drips must end as well.
            async with asyncio.timeout(self._timeout_s):
                return await self._client.post("/rerank", body=body, cast_to=str)


def _relevances(results: list[Any], *, number: int) -> tuple[float, ...]:
    """Relevances, one for each text, in their order.

    Raises:
        ValueError: a text has none or two, or one is no number from 0 to 1.
    """
    try:
        ordered = sorted((_Result.model_validate(result) for result in results), key=_place)
    except ValidationError:
        raise ValueError("a result has no index, or a relevance that is no number") from None
    if [one.index for one in ordered] != list(range(number)):
        raise ValueError(
            f"it answered {len(ordered)} results for {number} texts, or not one for each"
        )
    for one in ordered:
        if not -_ROUNDING <= one.relevance <= 1 + _ROUNDING:
            raise ValueError(f"a relevance is {one.relevance:g}, which is not from 0 to 1")
    return tuple(min(1.0, max(0.0, one.relevance)) for one in ordered)


def _place(result: _Result) -> int:
    return result.index


def _search_units(answer: _Answer) -> int:
    """What the server bills, where it bills by search."""
    billed = answer.meta.billed_units if answer.meta else None
    return math.ceil(billed.search_units or 0) if billed else 0


def _tokens(answer: _Answer) -> int | None:
    """What the server counted, or None."""
    if answer.usage is not None and answer.usage.total_tokens is not None:
        return answer.usage.total_tokens
    for units in (answer.meta.tokens, answer.meta.billed_units) if answer.meta else ():
        if units is not None and units.input_tokens is not None:
            return math.ceil(units.input_tokens)
    return None

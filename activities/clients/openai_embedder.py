"""The embedder that asks a server which speaks OpenAI's API.

Vectors are checked as nothing else is: their number, width and length.
"""

import asyncio
import base64
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from openai import AsyncOpenAI
from pydantic import BaseModel, Field, ValidationError

from mnestic.activities.clients.openai_failures import translated_failures
from mnestic.activities.clients.tokens import count_tokens, cut_tokens
from mnestic.memory.models.errors import ModelMisconfiguredError, ModelRefusedError
from mnestic.memory.models.messages import Embeddings, TokenUsage

# Of a request. Source: OpenAI's API reference, "Create embeddings", `input`.
_MOST_TOKENS = 300_000
_LONGEST_TOKENS = 8192
_HANDY_TEXTS = 256  # the API takes 2,048; more at once saves nothing, and is repeated as a whole
# What a refusal says if a server has no such option. Without the width it is checked below; without a format the SDK asks for base64.
_REFUSED = {
    "dimensions": re.compile("dimension|matryoshka", re.IGNORECASE),
    "encoding_format": re.compile("encoding.?format", re.IGNORECASE),
}
_TIMEOUT = timedelta(seconds=60)


class _Vector(BaseModel):
    index: int | None = None
    embedding: Any = None


class _Usage(BaseModel):
    prompt_tokens: int = Field(ge=0)


class _Answer(BaseModel):
    """What we read of an answer; servers differ in the rest."""

    data: list[_Vector]
    model: str | None = None
    usage: _Usage | None = None


class OpenAIEmbedder:
    """Implements `mnestic.memory.ports.Embedder`."""

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        model: str,
        dimensions: int,
        max_tokens: int = _LONGEST_TOKENS,
        timeout: timedelta = _TIMEOUT,
    ) -> None:
        """Of a text longer than `max_tokens` the beginning counts."""
        self.model = model
        self.name = f"{model}-{dimensions}"
        self.batch = max(1, min(_HANDY_TEXTS, _MOST_TOKENS // max_tokens))
        self._dimensions, self._max_tokens = dimensions, max_tokens
        self._timeout_s = timeout.total_seconds()
        self._client = client.with_options(max_retries=0, timeout=self._timeout_s)
        self._options: dict[str, Any] = {"dimensions": dimensions, "encoding_format": "float"}

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """See the port. As many requests as it takes, of `batch` texts each, one after the other."""
        cut = await asyncio.to_thread(
            lambda: [cut_tokens(text, self._max_tokens) for text in texts]
        )
        filled = [place for place, text in enumerate(cut) if text.strip()]
        vectors = [bytes(4 * self._dimensions)] * len(texts)
        model, spent = self.model, 0
        for start in range(0, len(filled), self.batch):
            places = filled[start : start + self.batch]
            try:
                made = await self._ask([cut[place] for place in places])
            except ModelRefusedError as error:
                error.usage = _sum(spent, error.usage)
                raise
            model, spent = made.model, spent + made.usage.input_tokens
            for place, vector in zip(places, made.vectors, strict=True):
                vectors[place] = vector
        usage = TokenUsage(input_tokens=spent, output_tokens=0)
        return Embeddings(vectors=tuple(vectors), model=model, usage=usage)

    async def _ask(self, texts: Sequence[str]) -> Embeddings:
        body = await self._receive_without_refused(texts)
        try:
            answer = _Answer.model_validate_json(body)
        except ValidationError:
            # Without its cause, which may repeat what was said.
            why = "the answer is no list of embeddings; check the base URL"
            raise ModelMisconfiguredError(model=self.model, why=why) from None
        counted = answer.usage.prompt_tokens if answer.usage else sum(map(count_tokens, texts))
        usage = TokenUsage(input_tokens=counted, output_tokens=0)
        vectors = tuple(self._vectors(answer.data, number=len(texts), usage=usage))
        return Embeddings(vectors=vectors, model=answer.model or self.model, usage=usage)

    async def _receive_without_refused(self, texts: Sequence[str]) -> bytes:
        """The answer; an option that the server refuses is left out from then on."""
        while True:
            try:
                return await self._receive(texts)
            except (ModelRefusedError, ModelMisconfiguredError) as error:
                refused = [name for name in self._options if _REFUSED[name].search(str(error))]
                if not refused:
                    raise
                for name in refused:
                    del self._options[name]

    async def _receive(self, texts: Sequence[str]) -> bytes:
        # The raw answer is validated by us: the SDK builds its models without checking them.
        embeddings = self._client.embeddings.with_raw_response
        with translated_failures(model=self.model, api_key=self._client.api_key):
            # The SDK's timeout is one for each read; a server that drips must end as well.
            async with asyncio.timeout(self._timeout_s):
                made = await embeddings.create(
                    model=self.model,
                    input=list(texts),
                    **self._options,
                )
                return made.content

    def _vectors(self, data: list[_Vector], *, number: int, usage: TokenUsage) -> Iterator[bytes]:
        """The vectors in the order of their texts, each of length 1.

        Raises:
            ModelMisconfiguredError: they have another width.
            ModelRefusedError: there are more or fewer than texts, or one is no vector.
        """
        if len(data) == number and all(each.index is not None for each in data):
            data = sorted(data, key=lambda each: each.index or 0)
        places = [place if each.index is None else each.index for place, each in enumerate(data)]
        if places != list(range(number)):
            why = f"it answered {len(data)} vectors for {number} texts, or not one for each"
            raise ModelRefusedError(model=self.model, why=why, usage=usage)
        for each in data:
            row = _row(each.embedding)
            if row is not None and len(row) != self._dimensions:
                why = (
                    f"its vectors have {len(row)} dimensions, and {self._dimensions} are asked for"
                )
                raise ModelMisconfiguredError(model=self.model, why=why, usage=usage)
            with np.errstate(over="ignore"):
                length = 0.0 if row is None else float(np.linalg.norm(row))
            if row is None or not 0 < length < np.inf:
                why = "it answered something that is no vector"
                raise ModelRefusedError(model=self.model, why=why, usage=usage)
            yield (row / length).astype("<f4").tobytes()


def _row(data: Any) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """The numbers of a vector, or None; some servers answer base64, whatever they are asked for."""
    try:
        if isinstance(data, str):
            return np.frombuffer(base64.b64decode(data, validate=True), dtype="<f4").astype(float)
        row = np.asarray(data, dtype=float)
    except (TypeError, ValueError):
        return None
    return row if row.ndim == 1 and np.isfinite(row).all() else None


def _sum(spent: int, more: TokenUsage | None) -> TokenUsage | None:
    if not spent:
        return more
    tokens = spent + (more.input_tokens if more else 0)
    return TokenUsage(input_tokens=tokens, output_tokens=0)

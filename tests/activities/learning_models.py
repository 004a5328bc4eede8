"""Models on a loopback server, the messages they read, and the steps that ask them."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput, IngestProgress
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.extraction import Extracted, Extraction, ExtractionInput
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PRICES = ModelPrices.model_validate(
    {"reader": {"input": 1, "output": 10}, "vectors": {"input": 0.5, "output": 0}}
)
Answer = tuple[int, Any, dict[str, str]]
Call = tuple[Any, ...]
Begin = Callable[..., Any]
Execute = Callable[[str], list[Any]]
Learn = Callable[..., Awaitable[None]]


def read(_: str, body: Any) -> Answer:
    """Each message that says "I live in X." is told to say so; what is said otherwise says nothing."""
    facts = []
    for line in body["messages"][-1]["content"].splitlines():
        said = json.loads(line)
        if "message" in said and said["text"].startswith("I live in "):
            told = {"message": said["message"], "words": said["text"].rstrip(".")}
            place = said["text"].removeprefix("I live in ").rstrip(".")
            facts.append(
                told
                | {"kind": "affirmed", "subject": said["speaker"], "predicate": "lives_in"}
                | {"object": place, "confidence": 0.9, "valid_from": None, "valid_to": None}
            )
    return 200, completion(json.dumps({"facts": facts})), {}


def completion(content: str | None, **choice: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {
        "model": "reader-2026-01-01",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message} | choice],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


def vectors(_: str, body: Any) -> Answer:
    data = [{"index": n, "embedding": [1, len(text)]} for n, text in enumerate(body["input"])]
    return 200, {"model": "vectors", "data": data, "usage": {"prompt_tokens": 7}}, {}


def refused(status: int, message: str = "no", **error: Any) -> Answer:
    headers = {"Retry-After": "4"} if status == 429 else {}
    return status, {"error": {"message": message} | error}, headers


def said(number: int, content: str, **fields: Any) -> Resource:
    """A message of Mara, a minute after the one before it."""
    message = {
        "session_id": "s1",
        "source_id": f"m{number:03}",
        "channel": "chat",
        "speaker": "Mara",
        "at": NOON + timedelta(minutes=number),
    }
    return Resource.model_validate(message | {"content": content} | fields)


def texts_of(body: Any) -> list[str]:
    """The messages, and what was said before them in their conversations."""
    lines = [json.loads(line) for line in body["messages"][-1]["content"].splitlines()]
    return [line["text"] for line in lines if "conversation" in line]


def numbered(body: Any) -> list[str]:
    """The messages that facts are asked of, without those that were said before."""
    lines = [json.loads(line) for line in body["messages"][-1]["content"].splitlines()]
    return [line["text"] for line in lines if "message" in line]


class Steps:
    """The steps of learning of an agent, as Temporal would run them."""

    def __init__(
        self, activities: IngestActivities, settings: Settings, *, agent_id: str = "ada"
    ) -> None:
        self._activities = activities
        self._asked = IngestInput(tenant_id=settings.tenant_id, agent_id=agent_id)

    async def extract(self, **attempt: Any) -> IngestProgress:
        return await self._run(self._activities.extract, **attempt)

    async def learn(self, **attempt: Any) -> IngestProgress:
        return await self._run(self._activities.learn, **attempt)

    async def embed(self) -> IngestProgress:
        return await self._run(self._activities.embed)

    async def _run(
        self, step: Callable[[IngestInput], Awaitable[IngestProgress]], **attempt: Any
    ) -> IngestProgress:
        environment = ActivityEnvironment()
        attempt = {"start_to_close_timeout": timedelta(minutes=5), **attempt}
        environment.info = replace(environment.info, **attempt)
        return await environment.run(step, self._asked)

    async def held(self) -> ApplicationError:
        with pytest.raises(ApplicationError) as failed:
            await self.extract()
        return failed.value


def english_steps(memory: Memory, settings: Settings, *, agent_id: str = "ada") -> Steps:
    """The steps with the parser of English and the local embedder."""
    activities = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    return Steps(activities, settings, agent_id=agent_id)


async def parked(ada: MemoryClient) -> dict[str, str | None]:
    messages, _ = await ada.parked.list()
    return {message.resource.source_id: message.reason for message in messages}


async def extracted(begin: Callable[[], Any]) -> dict[str, tuple[str, ...]]:
    async with begin() as transaction:
        found: Sequence[IncomingMessage]
        found, _ = await transaction.ingest_states.list_by_state("extracted")
        silent, _ = await transaction.ingest_states.list_by_state("learned")
    return {
        message.resource.source_id: tuple(each.object or "" for each in message.extracted)
        for message in (*found, *silent)
    }


class Inventor:
    """An extractor that tells what no message says."""

    name, model, batch, reads_earlier = "inventor", None, 10, False

    async def extract(self, turns: Sequence[ExtractionInput]) -> Extraction:
        def tell(turn: ExtractionInput) -> tuple[Extracted, ...]:
            end = len(turn.content)
            spans = (Span(start=0, end=end), Span(start=0, end=end + 1), Span(start=99, end=999))
            return tuple(
                Extracted(subject="Mara", predicate="likes", object=f"thing {n}", span=span)
                for n, span in enumerate(spans)
            )

        return Extraction(claims=tuple(map(tell, turns)), refused=1, model=self.name)

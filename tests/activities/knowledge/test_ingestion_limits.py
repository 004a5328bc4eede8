"""What keeps learning waiting: a wrong setting, a model that is down, and the day's budget."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.openai_extractor import OpenAIExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.ingestion import IngestCounts
from mnestic.memory.models.usage import Budget
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import (
    Answer,
    Call,
    Inventor,
    Steps,
    completion,
    read,
    refused,
    said,
)


@pytest.fixture
def memory(unembedded: Memory) -> Memory:
    """Entries get their vectors by learning."""
    return unembedded


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (refused(401, "bad key"), "check the API key"),
        (refused(400, "no schemas here"), "no schemas here"),
    ],
    ids=["key", "all are refused"],
)
async def test_a_wrong_setting_parks_nothing_and_learning_goes_on_once_it_is_mended(
    chat_server: Any, steps: Callable[..., Steps], ada: MemoryClient, answer: Answer, why: str
) -> None:
    chat_server.answers = lambda *_: answer
    await ada.ingest([said(number, f"I live in City{number}.") for number in range(40)])
    learning = steps()

    held = await learning.held()
    asked = len(chat_server.requests)
    waiting = await ada.messages.count()
    chat_server.answers = read
    done = await learning.extract()

    assert (held.type, held.non_retryable) == ("ExtractionPausedError", False)
    assert held.next_retry_delay == timedelta(seconds=30)
    assert why in str(held)
    assert asked < 30
    assert waiting == IngestCounts(received=40)
    assert (done.taken, done.parked) == (40, 0)


async def test_what_was_answered_before_the_model_went_down_is_kept(
    chat_server: Any,
    steps: Callable[..., Steps],
    ada: MemoryClient,
    usage: Callable[[], list[Call]],
) -> None:
    def goes_down(path: str, body: Any) -> Answer:
        return read(path, body) if len(chat_server.requests) == 1 else refused(429)

    chat_server.answers = goes_down
    await ada.ingest([said(number, "Hm.") for number in range(48)])

    failed = await steps(limits=ModelCallLimits(concurrency=1)).held()

    assert (failed.type, failed.non_retryable) == ("ModelUnavailableError", False)
    assert failed.next_retry_delay == timedelta(seconds=4)
    assert await ada.messages.count() == IngestCounts(received=32, learned=16)
    assert len(chat_server.requests) == 2
    assert len(usage()) == 1


async def test_when_the_days_budget_is_used_up_messages_wait_until_there_is_more(
    chat_server: Any, steps: Callable[..., Steps], ada: MemoryClient
) -> None:
    chat_server.answers = read
    await ada.ingest([said(number, "Hm.") for number in range(64)])
    learning = steps(limits=ModelCallLimits(concurrency=1, daily=Budget(usd=0.0003)))

    first = await learning.extract()
    held = await learning.held()
    waiting = await ada.messages.count()
    asked = len(chat_server.requests)
    more = await steps(limits=ModelCallLimits(daily=Budget(tokens=10_000))).extract()

    assert (first.taken, first.parked) == (32, 0)
    assert held.type == "ExtractionPausedError"
    assert "0.0004 of 0.0003 USD" in str(held)
    assert "learning on 2" in str(held)
    assert (waiting, asked) == (IngestCounts(received=32, learned=32), 2)
    assert (more.taken, len(chat_server.requests)) == (32, 4)


async def test_a_budget_of_money_waits_for_a_price_and_not_for_those_of_other_models(
    chat_server: Any, openai: AsyncOpenAI, steps: Callable[..., Steps], ada: MemoryClient
) -> None:
    chat_server.answers = lambda *_: (200, completion('{"facts": []}') | {"model": "x"}, {})
    await ada.ingest([said(1, "Hm.")])
    limits = ModelCallLimits(daily=Budget(usd=1))
    unpriced = OpenAIExtractor(openai, model="new-reader")

    held = await steps(limits=limits, extractor=unpriced).held()
    await steps(extractor=unpriced).extract()
    await ada.ingest([said(2, "Hm.")])
    done = await steps(limits=limits).extract()

    assert "MNESTIC_MODEL_PRICES: has no price for new-reader" in str(held)
    assert done.taken == 1


async def test_a_days_budget_is_no_matter_to_local_extraction_and_vectors(
    chat_server: Any, steps: Callable[..., Steps], ada: MemoryClient
) -> None:
    chat_server.answers = read
    await ada.ingest([said(1, "Hm.")])
    used_up = ModelCallLimits(daily=Budget(tokens=1))
    await steps(limits=used_up).extract()

    local = steps(limits=used_up, embedders=Embedders(TokenVectorEmbedder()), extractor=Inventor())
    await ada.ingest([said(2, "Hm.")])

    assert (await local.extract()).taken == 1
    assert (await local.embed()).taken == 2

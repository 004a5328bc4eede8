"""What questions ask of models: written down on whose account it was, and held to the day's budget."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from openai import AsyncOpenAI

from mnestic.activities.callers import Caller
from mnestic.activities.clients.openai_embedder import OpenAIEmbedder
from mnestic.activities.forgetting.topic_meaning import find_entries_by_meaning
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.memory.models.usage import Budget
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.memory_wiring import open_query_models
from mnestic.starter.settings import Settings
from tests.activities.learning_models import PRICES, Call, Steps, said, vectors
from tests.activities.locks import until_held_up
from tests.activities.retrieval.query_models.conftest import ANSWER, QUESTION

AGAIN = "Where is it that Mara lives?"  # an answer is kept, and asks no model again
COST = 7 * 0.5 / 1_000_000


@pytest.fixture
def revision(admin_url: str, settings: Settings) -> Callable[[], int]:
    def read() -> int:
        with psycopg.connect(admin_url) as owner:
            row = owner.execute(
                "SELECT revision FROM mnestic.agent_revision WHERE tenant_id = %s",
                [settings.tenant_id],
            ).fetchone()
        assert row is not None
        return int(row[0])

    return read


async def test_what_a_question_takes_is_written_down_and_changes_no_memory(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    usage: Callable[[], list[Call]],
    revision: Callable[[], int],
) -> None:
    ada = client(models())
    await ada.add(ANSWER)
    before = revision()

    found = await ada.retrieve(QUESTION)
    await ada.auto_retrieve(QUESTION, "chat")
    await ada.context_for_query(QUESTION)
    await ada.retrieve(QUESTION, mode="text")  # asks no model

    assert [one.entry.content for one in found.results] == [ANSWER]
    assert usage() == [("retrieve", "vectors", 7, 0, COST, None)]  # what it means is cached
    assert revision() == before


@pytest.mark.parametrize("budget", [Budget(tokens=7), Budget(usd=COST)])
async def test_a_day_that_is_used_up_leaves_the_other_sources(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    chat_server: Any,
    budget: Budget,
) -> None:
    ada = client(models(daily=budget))
    await ada.add(ANSWER)

    first = await ada.retrieve(QUESTION)
    second = await ada.retrieve(AGAIN)
    told = await ada.auto_retrieve(AGAIN, "chat", min_score=0.1)

    assert first.skipped == {}
    assert list(second.skipped) == ["semantic"]
    assert "is used up" in second.skipped["semantic"]
    assert [one.entry.content for one in second.results] == [ANSWER]
    assert [(one.source, one.name) for one in told.skipped] == [("memories", "semantic")]
    assert len(chat_server.requests) == 1


async def test_a_budget_of_money_without_a_price_asks_no_model_and_says_so(
    openai: AsyncOpenAI, client: Callable[[QueryModels], MemoryClient], chat_server: Any
) -> None:
    embedder = OpenAIEmbedder(openai, model="unpriced", dimensions=2)
    ada = client(
        QueryModels(Embedders(embedder), limits=ModelCallLimits(daily=Budget(usd=1)), prices=PRICES)
    )
    await ada.add(ANSWER)

    found = await ada.retrieve(QUESTION)

    assert "has no price for unpriced" in found.skipped["semantic"]
    assert [one.entry.content for one in found.results] == [ANSWER]
    assert chat_server.requests == []


async def test_questions_and_learning_share_a_day(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    steps: Callable[..., Steps],
) -> None:
    ada = client(models())
    await ada.add(ANSWER)
    await ada.retrieve(QUESTION)
    await ada.ingest([said(1, "I live in Ghent.")])

    held = await steps(limits=ModelCallLimits(daily=Budget(tokens=7))).held()

    assert "is used up: 7 of 7 tokens" in str(held)


@pytest.fixture
def full_books(admin_url: str) -> Callable[[], AbstractContextManager[None]]:
    """Makes a block in which usage can be read and not written."""

    @contextmanager
    def lock() -> Iterator[None]:
        with psycopg.connect(admin_url) as owner:
            owner.execute("LOCK TABLE mnestic.llm_usage IN SHARE MODE")
            yield

    return lock


async def give_up(models: QueryModels, caller: Caller, *, admin_url: str) -> None:
    """Asks, and gives up while what was paid waits to be written down."""
    asking = asyncio.create_task(models.embedders(caller).chosen.embed([QUESTION]))
    await until_held_up(admin_url)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_what_was_paid_is_written_down_before_models_close_though_who_asked_has_given_up(
    models: Callable[..., QueryModels],
    caller: Caller,
    usage: Callable[[], list[Call]],
    full_books: Callable[[], AbstractContextManager[None]],
    admin_url: str,
) -> None:
    asked = models()
    with full_books():
        await give_up(asked, caller, admin_url=admin_url)
        closing = asyncio.create_task(asked.close())
        await asyncio.sleep(0)
        is_open = not closing.done()
    await closing

    assert is_open
    assert usage() == [("retrieve", "vectors", 7, 0, COST, None)]


async def test_a_process_that_ends_has_written_down_what_was_paid(
    openai: AsyncOpenAI,
    caller: Caller,
    settings: Settings,
    usage: Callable[[], list[Call]],
    full_books: Callable[[], AbstractContextManager[None]],
    admin_url: str,
    chat_server: Any,
) -> None:
    chat_server.answers = vectors
    embedder = OpenAIEmbedder(openai, model="vectors", dimensions=2)
    async with open_query_models(settings, Embedders(embedder)) as asked:
        with full_books():
            await give_up(asked, caller, admin_url=admin_url)

    assert [call[:3] for call in usage()] == [("retrieve", "vectors", 7)]


async def test_a_refusal_that_was_paid_is_written_down_though_who_asked_has_given_up(
    models: Callable[..., QueryModels],
    caller: Caller,
    usage: Callable[[], list[Call]],
    full_books: Callable[[], AbstractContextManager[None]],
    admin_url: str,
    chat_server: Any,
) -> None:
    asked = models()
    told = {"model": "vectors", "data": [], "usage": {"prompt_tokens": 7}}
    chat_server.answers = lambda *_: (200, told, {})
    with full_books():
        await give_up(asked, caller, admin_url=admin_url)
    await asked.close()

    assert usage() == [("retrieve", "vectors", 7, 0, COST, None)]


@pytest.mark.parametrize(
    "limits", [{"concurrency": 1}, {"daily": Budget(tokens=13)}], ids=["calls", "day"]
)
async def test_a_call_has_its_room_until_it_is_written_down(
    models: Callable[..., QueryModels],
    caller: Caller,
    full_books: Callable[[], AbstractContextManager[None]],
    admin_url: str,
    chat_server: Any,
    limits: dict[str, Any],
) -> None:
    asked = models(**limits)
    hasty = asked.embedders(caller, within=timedelta(seconds=0.3)).chosen
    with full_books():
        await give_up(asked, caller, admin_url=admin_url)
        with pytest.raises(ModelUnavailableError, match="no answer within"):
            await hasty.embed([AGAIN])
        requests = len(chat_server.requests)
    await asked.close()
    await asked.embedders(caller).chosen.embed([AGAIN])

    assert (requests, len(chat_server.requests)) == (1, 2)


async def test_what_cannot_be_written_down_in_time_is_given_up_and_logged(
    models: Callable[..., QueryModels],
    caller: Caller,
    full_books: Callable[[], AbstractContextManager[None]],
    admin_url: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = models(closing=timedelta(seconds=0.1))
    with full_books():
        await give_up(asked, caller, admin_url=admin_url)
        async with asyncio.timeout(30):
            await asked.close()

    assert "what a call took is not written down" in caplog.text


async def test_what_was_refused_after_it_was_paid_for_is_written_down(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    usage: Callable[[], list[Call]],
    chat_server: Any,
) -> None:
    ada = client(models())
    await ada.add(ANSWER)
    chat_server.answers = lambda *_: (
        200,
        {"model": "vectors", "data": [], "usage": {"prompt_tokens": 7}},
        {},
    )

    found = await ada.retrieve(QUESTION)

    assert list(found.skipped) == ["semantic"]
    assert usage() == [("retrieve", "vectors", 7, 0, COST, None)]


async def test_what_is_to_be_forgotten_is_looked_for_whatever_the_budget(
    models: Callable[..., QueryModels], caller: Caller, ada: MemoryClient, usage: Any
) -> None:
    await ada.add(ANSWER)
    used_up = models(daily=Budget(tokens=7))
    for topic in ("rivers of Piedmont", "lakes of Piedmont"):
        embedders = used_up.embedders(caller, is_budgeted=False)
        await find_entries_by_meaning(caller, topic, embedders=embedders)

    # The entry gets its vector first, so that it cannot be missed.
    assert [call[:3] for call in usage()] == [("retrieve", "vectors", 7)] * 3


async def test_no_more_questions_ask_a_model_at_once_than_may(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    chat_server: Any,
) -> None:
    ada = client(models(concurrency=2))
    await ada.add(ANSWER)
    chat_server.together, chat_server.pause_s = 2, 0.1
    await asyncio.gather(*(ada.retrieve(f"{QUESTION} {n}") for n in range(6)))

    assert chat_server.most_at_once == 2

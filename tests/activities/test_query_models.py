"""What questions ask of models: written down on whose account it was, and held to the day's budget."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from openai import AsyncOpenAI

from mnestic.activities.askers import Asker
from mnestic.activities.clients.openai_embedder import OpenAIEmbedder
from mnestic.activities.learning_calls import LearningLimits
from mnestic.activities.query_models import QueryModels
from mnestic.activities.topic_meaning import entries_about
from mnestic.memory.ports import Memory
from mnestic.memory.usage import Budget
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import PRICES, Call, Steps, refused, said, vectors
from tests.activities.locks import until_held_up

QUESTION = "Where does Mara live?"
AGAIN = "Where is it that Mara lives?"  # an answer is kept, and asks no model again
ANSWER = "Mara lives in Turin, near the river."
COST = 7 * 0.5 / 1_000_000


@pytest.fixture
def models(openai: AsyncOpenAI, chat_server: Any) -> Callable[..., QueryModels]:
    """Makes models whose vectors come from the loopback server."""
    chat_server.answers = vectors

    def make(**limits: Any) -> QueryModels:
        embedder = OpenAIEmbedder(openai, model="vectors", dimensions=2)
        return QueryModels(embedder, limits=LearningLimits(**limits), prices=PRICES)

    return make


@pytest.fixture
def client(memory: Memory, settings: Settings) -> Callable[[QueryModels], MemoryClient]:
    """The agent's memory, asked through models."""
    return lambda models: MemoryClient(
        memory, tenant_id=settings.tenant_id, agent_id="ada", models=models
    )


@pytest.fixture
def asker(memory: Memory, settings: Settings) -> Asker:
    return Asker(memory=memory, tenant_id=settings.tenant_id, agent_id="ada", actor="test")


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

    assert [one.entry.content for one in found.found] == [ANSWER]
    assert "semantic" in found.found[0].signals
    assert usage() == [("retrieve", "vectors", 7, 0, COST, None)] * 3
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
    assert [one.entry.content for one in second.found] == [ANSWER]
    assert [(one.source, one.name) for one in told.skipped] == [("memories", "semantic")]
    assert len(chat_server.requests) == 1


async def test_a_budget_of_money_without_a_price_asks_no_model_and_says_so(
    openai: AsyncOpenAI, client: Callable[[QueryModels], MemoryClient], chat_server: Any
) -> None:
    embedder = OpenAIEmbedder(openai, model="unpriced", dimensions=2)
    ada = client(QueryModels(embedder, limits=LearningLimits(daily=Budget(usd=1)), prices=PRICES))
    await ada.add(ANSWER)

    found = await ada.retrieve(QUESTION)

    assert "has no price for unpriced" in found.skipped["semantic"]
    assert [one.entry.content for one in found.found] == [ANSWER]
    assert chat_server.requests == []


async def test_questions_and_learning_share_a_day(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    steps: Callable[..., Steps],
) -> None:
    ada = client(models())
    await ada.add(ANSWER)
    await ada.retrieve(QUESTION)
    await ada.learn([said(1, "I live in Ghent.")])

    held = await steps(limits=LearningLimits(daily=Budget(tokens=7))).held()

    assert "is used up: 7 of 7 tokens" in str(held)


async def test_what_was_paid_is_written_down_though_who_asked_has_given_up(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    usage: Callable[[], list[Call]],
    admin_url: str,
) -> None:
    ada = client(models())
    await ada.add(ANSWER)

    with psycopg.connect(admin_url) as owner:
        owner.execute("LOCK TABLE mnestic.llm_usage IN ACCESS EXCLUSIVE MODE")
        asking = asyncio.create_task(ada.retrieve(QUESTION))
        await until_held_up(admin_url)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    async with asyncio.timeout(30):
        while not usage():  # noqa: ASYNC110 - Postgres sets no event
            await asyncio.sleep(0.02)

    assert usage() == [("retrieve", "vectors", 7, 0, COST, None)]


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


async def test_a_model_that_is_down_is_named_and_costs_nothing(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    usage: Callable[[], list[Call]],
    chat_server: Any,
) -> None:
    ada = client(models())
    await ada.add(ANSWER)
    chat_server.answers = lambda *_: refused(503)

    found = await ada.retrieve(QUESTION)

    assert list(found.skipped) == ["semantic"]
    assert [one.entry.content for one in found.found] == [ANSWER]
    assert usage() == []


async def test_what_is_to_be_forgotten_is_looked_for_whatever_the_budget(
    models: Callable[..., QueryModels], asker: Asker, ada: MemoryClient, usage: Any
) -> None:
    await ada.add(ANSWER)
    used_up = models(daily=Budget(tokens=7))
    for topic in ("rivers of Piedmont", "lakes of Piedmont"):
        embedder = used_up.embedder(asker, is_held=False)
        await entries_about(asker, topic, embedder=embedder)

    assert [call[:3] for call in usage()] == [("retrieve", "vectors", 7)] * 2


async def test_no_more_questions_ask_a_model_at_once_than_may(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    chat_server: Any,
) -> None:
    ada = client(models(concurrency=2))
    await ada.add(ANSWER)
    chat_server.pause_s = 0.1
    await asyncio.gather(*(ada.retrieve(f"{QUESTION} {n}") for n in range(6)))

    assert chat_server.most_at_once == 2


async def test_a_model_that_hangs_leaves_a_message_what_its_words_find(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    chat_server: Any,
) -> None:
    ada = client(models())
    await ada.add(ANSWER)
    chat_server.answers, chat_server.silent = None, True

    told = await ada.auto_retrieve(QUESTION, "chat", min_score=0.1)

    assert [one.content for one in told.memories] == [ANSWER]
    assert [(one.source, one.name) for one in told.skipped] == [("memories", "semantic")]
    assert "no answer within" in told.skipped[0].why

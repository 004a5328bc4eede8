"""Models that questions ask, on a loopback server: what they cost, and what is found when they fail, hang or refuse."""

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
from mnestic.memory.knowledge.entries import Embedding
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.memory.models.usage import Budget
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import (
    PRICES,
    Answer,
    Call,
    Execute,
    refused,
    vectors,
)
from tests.activities.locks import until_held_up

QUESTION, ANSWER = "Where does Mara live?", "Mara lives in Turin, near the river."
AGAIN = "Where is it that Mara lives?"  # an answer is kept, and asks no model again
Models = Callable[..., QueryModels]
Client = Callable[[QueryModels], MemoryClient]
Usage = Callable[[], list[Call]]
Books = Callable[[], AbstractContextManager[None]]
REVISION = "SELECT revision FROM mnestic.agent_revision WHERE tenant_id = %s"
COST = 7 * 0.5 / 1_000_000


async def test_what_a_question_takes_is_written_down_and_changes_no_memory(
    models: Models, client: Client, usage: Usage, execute: Execute
) -> None:
    ada = client(models())
    await ada.add(ANSWER)
    before = execute(REVISION)

    found = await ada.retrieve(QUESTION)
    await ada.auto_retrieve(QUESTION, "chat")
    await ada.context_for_query(QUESTION)
    await ada.retrieve(QUESTION, mode="text")  # asks no model

    assert [one.entry.content for one in found.results] == [ANSWER]
    assert usage() == [("retrieve", "vectors", 7, 0, COST, None)]  # what it means is cached
    assert execute(REVISION) == before


@pytest.mark.parametrize("budget", [Budget(tokens=7), Budget(usd=COST)])
async def test_a_day_that_is_used_up_leaves_the_other_sources(
    models: Models, client: Client, chat_server: Any, budget: Budget
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


@pytest.fixture
def full_books(admin_url: str) -> Books:
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
    models: Models, caller: Caller, usage: Usage, full_books: Books, admin_url: str
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


@pytest.mark.parametrize(
    "limits", [{"concurrency": 1}, {"daily": Budget(tokens=13)}], ids=["calls", "day"]
)
async def test_a_call_has_its_room_until_it_is_written_down(
    models: Models,
    caller: Caller,
    full_books: Books,
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
    models: Models,
    caller: Caller,
    full_books: Books,
    admin_url: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = models(closing=timedelta(seconds=0.1))
    with full_books():
        await give_up(asked, caller, admin_url=admin_url)
        async with asyncio.timeout(30):
            await asked.close()

    assert "what a call took is not written down" in caplog.text


async def test_what_is_to_be_forgotten_is_looked_for_whatever_the_budget(
    models: Models, caller: Caller, ada: MemoryClient, usage: Any
) -> None:
    await ada.add(ANSWER)
    used_up = models(daily=Budget(tokens=7))
    for topic in ("rivers of Piedmont", "lakes of Piedmont"):
        embedders = used_up.embedders(caller, is_budgeted=False)
        await find_entries_by_meaning(caller, topic, embedders=embedders)

    # The entry gets its vector first, so that it cannot be missed.
    assert [call[:3] for call in usage()] == [("retrieve", "vectors", 7)] * 3


def refusing(words: str) -> Callable[[str, Any], Answer]:
    """A server that takes no request with some words."""
    return lambda path, body: (
        refused(400) if any(words in text for text in body["input"]) else vectors(path, body)
    )


async def test_a_text_that_the_model_refuses_is_named_and_keeps_no_topic_from_being_forgotten(
    models: Models, client: Client, caller: Caller, chat_server: Any
) -> None:
    asked = models()
    ada = client(asked)
    contents = ("The ferry leaves at noon.", "forbidden", "A forbidden river.", ANSWER)
    ids = [(await ada.add(content)).id for content in contents]
    earlier = (await ada.add("forbidden earlier")).id  # which ingestion could not embed
    chat_server.answers = refusing("forbidden")
    embedders = asked.embedders(caller, is_budgeted=False)
    async with caller(write=True) as transaction:
        nothing = Embedding(entry_id=earlier, content="forbidden earlier", vector=bytes(8))
        await transaction.entries.embed(embedders.chosen.name, [nothing])

    found = await find_entries_by_meaning(caller, "river", embedders=embedders)

    # What has the topic's words goes by these.
    uncompared = {(one.kind, one.name) for one in found.uncompared}
    assert uncompared == {("entry", ids[1]), ("entry", earlier)}
    async with caller() as transaction:
        missing = await transaction.entries.list_unembedded(embedders.chosen.name, limit=10)
    assert [one.id for one in missing] == ids[1:3]


@pytest.mark.parametrize("status", [401, 503])
async def test_nothing_is_forgotten_by_meaning_while_no_entry_can_be_embedded(
    models: Models, client: Client, caller: Caller, chat_server: Any, status: int
) -> None:
    asked = models()
    await client(asked).add(ANSWER)
    chat_server.answers = lambda *_: refused(status)

    with pytest.raises(ModelUnavailableError):
        await find_entries_by_meaning(
            caller, "river", embedders=asked.embedders(caller, is_budgeted=False)
        )


@pytest.fixture
def memory(unembedded: Memory) -> Memory:
    """Entries get their vectors by learning."""
    return unembedded


@pytest.fixture
def models(openai: AsyncOpenAI, chat_server: Any) -> Models:
    """Makes models whose vectors come from the loopback server."""
    chat_server.answers = vectors

    def make(closing: timedelta = timedelta(minutes=1), **limits: Any) -> QueryModels:
        embedder = OpenAIEmbedder(openai, model="vectors", dimensions=2)
        return QueryModels(
            Embedders(embedder), limits=ModelCallLimits(**limits), prices=PRICES, closing=closing
        )

    return make


@pytest.fixture
def client(memory: Memory, settings: Settings) -> Client:
    """The agent's memory, asked through models."""
    return lambda models: MemoryClient(
        client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"), models=models
    )


@pytest.fixture
def caller(memory: Memory, settings: Settings) -> Caller:
    return Caller(memory=memory, tenant_id=settings.tenant_id, agent_id="ada", actor="test")


async def test_a_budget_of_money_without_a_price_asks_no_model_and_says_so(
    openai: AsyncOpenAI, client: Client, chat_server: Any
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

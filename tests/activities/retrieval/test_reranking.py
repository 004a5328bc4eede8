"""The best of a search, read once more together with the question: locally, or by a server on loopback."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.remote_reranker import RemoteReranker
from mnestic.activities.clients.token_matching import TokenMatchReranker
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.activities.retrieval.reranking import RERANKING_LIMIT
from mnestic.memory.models.usage import Budget, ModelPrices
from mnestic.memory.ports import Memory
from mnestic.memory.retrieval.queries import PRESETS, Retrieval
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Call, Execute, refused

TIDES = (
    "The tide table hangs in the harbour office.",
    "The tide table of last year is in the attic.",
    "A tide table costs four euros.",
)
Make = Callable[..., MemoryClient]
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
QUESTION = "Where is the tide table?"
PRICE = TIDES[2]
PRICES = ModelPrices.model_validate({"ranker": {"input": 0, "output": 0, "search": 2}})


def prefers(word: str, *, units: int = 1) -> Callable[..., Any]:
    """A server for which texts with a word are relevant, and no others."""

    def answer(path: str, body: Any) -> Any:
        assert path == "/v1/rerank"
        told = [
            {"index": n, "relevance_score": 0.98 if word in text else 0.02}
            for n, text in enumerate(body["documents"])
        ]
        return 200, {"results": told, "meta": {"billed_units": {"search_units": units}}}, {}

    return answer


@pytest.fixture
def make(memory: Memory, settings: Settings, openai: AsyncOpenAI) -> Make:
    """Makes the agent's memory, asked with both rerankers."""

    def build(*, daily: Budget | None = None, **fields: Any) -> MemoryClient:
        remote = RemoteReranker(openai, model="ranker", **{"timeout": RERANKING_LIMIT} | fields)
        models = QueryModels(
            Embedders(TokenVectorEmbedder()),
            rerankers={"local": TokenMatchReranker(), "remote": remote},
            limits=ModelCallLimits(daily=daily),
            prices=PRICES,
        )
        return MemoryClient(
            client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"), models=models
        )

    return build


@pytest.fixture
async def ada(make: Make) -> MemoryClient:
    client = make()
    for days, text in enumerate(TIDES):  # the first is the newest
        await client.add(text, at=NOON - timedelta(days=days))
    return client


def told(found: Retrieval) -> list[str]:
    return [one.entry.content for one in found.results]


async def test_a_servers_relevance_moves_what_it_reads(
    ada: MemoryClient, chat_server: Any, usage: Callable[[], list[Call]]
) -> None:
    chat_server.answers = prefers("euros")
    plain = await ada.retrieve(QUESTION)
    found = await ada.retrieve(QUESTION, rerank="remote")

    assert told(found)[0] == PRICE != told(plain)[0]
    before = {one.entry.content: one.score for one in plain.results}
    for one in found.results:
        relevance = 0.98 if one.entry.content == PRICE else 0.02
        score = before[one.entry.content]
        assert one.score == pytest.approx((score + relevance) / 2, abs=2e-4)
        assert one.signals["rerank"] == pytest.approx((relevance - score) / 2, abs=2e-4)
    assert all("rerank" not in one.signals for one in plain.results)
    (request,) = chat_server.requests
    assert request["body"]["query"] == QUESTION
    assert request["body"]["documents"] == [f"ada: {text}" for text in told(plain)]
    ((purpose, model, tokens, _, cost, _),) = usage()
    assert (purpose, model, cost) == ("rerank", "ranker", 0.002)
    assert tokens > 0


@pytest.mark.parametrize("tokens", [0, 40])
async def test_search_units_are_on_the_books_also_of_an_answer_that_was_refused(
    ada: MemoryClient, chat_server: Any, execute: Execute, tokens: int
) -> None:
    billed = {"search_units": 3, "input_tokens": tokens}
    chat_server.answers = lambda *_: (200, {"results": [], "meta": {"billed_units": billed}}, {})
    found = await ada.retrieve(QUESTION, rerank="remote")

    chat_server.answers = prefers("euros", units=4)
    await ada.retrieve(QUESTION, rerank="remote")

    refused, taken = execute(
        "SELECT input_tokens, search_units, cost_usd::float FROM mnestic.llm_usage "
        "WHERE tenant_id = %s ORDER BY id"
    )
    assert "0 results for 3 texts" in found.skipped["rerank"]
    assert refused == (tokens, 3, 0.006)
    assert taken[1:] == (4, 0.008)


async def test_no_transaction_is_open_while_a_server_is_waited_for(
    ada: MemoryClient, chat_server: Any, admin_url: str
) -> None:
    seen = []

    def answer(path: str, body: Any) -> Any:
        with psycopg.connect(admin_url) as owner:
            seen.append(
                owner.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"
                ).fetchone()
            )
        return prefers("euros")(path, body)

    chat_server.answers = answer
    await ada.retrieve(QUESTION, rerank="remote")

    assert seen == [(0,)]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (refused(429), "no"),
        (refused(401, "bad key"), "check the API key"),
        ((200, {"hello": "world"}, {}), "check MNESTIC_RERANK_URL"),
    ],
    ids=["busy", "key", "another API"],
)
async def test_a_server_that_fails_is_named_and_changes_nothing(
    ada: MemoryClient, chat_server: Any, answer: Any, why: str
) -> None:
    plain = await ada.retrieve(QUESTION)
    chat_server.answers = lambda *_: answer

    found = await ada.retrieve(QUESTION, rerank="remote")

    assert why in found.skipped["rerank"]
    assert found.results == plain.results
    assert len(chat_server.requests) == 1


async def test_an_agents_setting_holds_for_each_way_of_asking_and_a_call_may_differ(
    ada: MemoryClient, chat_server: Any
) -> None:
    chat_server.answers = prefers("euros")
    await ada.settings.change(rerank="remote", retrieval_policy={"remote_relevance": 0.9})

    asked = await ada.retrieve(QUESTION)
    message = await ada.auto_retrieve(QUESTION, "chat")
    context = await ada.context_for_query(QUESTION)
    number = len(chat_server.requests)
    local = await ada.retrieve(QUESTION, rerank="local")
    off = await ada.retrieve(QUESTION, rerank="off")

    assert told(asked)[0] == PRICE
    assert [one.content for one in message.memories] == [PRICE]
    assert context.kept[0].score == asked.results[0].score
    assert number == len(chat_server.requests) == 3
    assert "rerank" in local.results[0].signals
    assert all("rerank" not in one.signals for one in off.results)


async def test_the_local_one_asks_nobody_and_costs_nothing(
    ada: MemoryClient, chat_server: Any, usage: Callable[[], list[Call]]
) -> None:
    found = await ada.retrieve(QUESTION, rerank="local")

    assert sorted(told(found)) == sorted(told(await ada.retrieve(QUESTION)))
    assert any(one.signals["rerank"] for one in found.results)
    assert (chat_server.requests, usage()) == ([], [])


async def test_only_the_best_are_read_and_the_others_come_after(
    ada: MemoryClient, chat_server: Any
) -> None:
    chat_server.answers = prefers("tide")
    two = PRESETS["mnestic"].model_copy(update={"reranked": 2, "remote_relevance": 1.0})

    found = await ada.retrieve(QUESTION, rerank="remote", policy=two, min_score=0)

    assert len(chat_server.requests[0]["body"]["documents"]) == 2
    assert len(found.results) == 3
    assert ["rerank" in one.signals for one in found.results] == [True, True, False]


async def test_a_server_that_hangs_leaves_a_message_time_for_its_memories(
    make: Make, ada: MemoryClient, chat_server: Any
) -> None:
    await ada.settings.change(rerank="remote")
    chat_server.silent = True
    patient, hasty = make(timeout=timedelta(minutes=1)), make(timeout=timedelta(seconds=0.2))

    message = await patient.auto_retrieve(QUESTION, "chat")
    found = await hasty.retrieve(QUESTION)

    assert message.memories
    assert [(one.source, one.name) for one in message.skipped] == [("memories", "rerank")]
    assert "no answer in time" in found.skipped["rerank"]
    assert found.results == (await ada.retrieve(QUESTION, rerank="off")).results

"""A reranker on a real HTTP server: what is asked, what is taken for an answer, and what a failure means."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.openai_compatible import openai_client
from mnestic.activities.clients.remote_reranker import RemoteReranker
from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)

TEXTS = ("The tide table hangs in the office.", "Mara lives in Turin.")
QUESTION = "Where does Mara live?"
COHERE = {"meta": {"billed_units": {"search_units": 1}}}
VLLM = {"model": "served", "usage": {"total_tokens": 21}}


def results(*told: tuple[int, Any], **more: Any) -> dict[str, Any]:
    return {"results": [{"index": n, "relevance_score": value} for n, value in told]} | more


@pytest.fixture
async def client(chat_server: Any) -> AsyncIterator[AsyncOpenAI]:
    async with openai_client(api_key="key-1", base_url=chat_server.base_url) as client:
        yield client


@pytest.fixture
def reranker(client: AsyncOpenAI) -> Callable[..., RemoteReranker]:
    return lambda **fields: RemoteReranker(client, model="ranker", **fields)


async def test_texts_are_sent_as_cohere_has_it_and_relevances_come_back_in_their_order(
    reranker: Callable[..., RemoteReranker], chat_server: Any
) -> None:
    chat_server.sends(results((1, 0.9), (0, 0.01), **COHERE))

    told = await reranker().rerank(QUESTION, TEXTS)

    assert told.relevances == (0.01, 0.9)
    assert (told.model, told.search_units) == ("ranker", 1)
    assert told.usage.input_tokens == sum(map(count_tokens, (QUESTION, *TEXTS)))
    (request,) = chat_server.requests
    assert request["path"] == "/v1/rerank"
    assert request["authorization"] == "Bearer key-1"
    assert request["body"] == {
        "model": "ranker",
        "query": QUESTION,
        "documents": list(TEXTS),
        "top_n": 2,
    }


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [
        (VLLM, 21),
        ({"meta": {"tokens": {"input_tokens": 13}}}, 13),
        ({"meta": {"billed_units": {"input_tokens": 8}}}, 8),
    ],
)
async def test_tokens_are_those_that_the_server_counted(
    reranker: Callable[..., RemoteReranker], chat_server: Any, answer: Any, tokens: int
) -> None:
    chat_server.sends(results((0, 0.5), (1, 1.0)) | answer)

    told = await reranker().rerank(QUESTION, TEXTS)

    assert (told.usage.input_tokens, told.search_units) == (tokens, 0)


async def test_a_relevance_may_be_called_score(
    reranker: Callable[..., RemoteReranker], chat_server: Any
) -> None:
    chat_server.sends({"results": [{"index": 0, "score": 1.0000001}, {"index": 1, "score": -1e-9}]})

    assert (await reranker().rerank(QUESTION, TEXTS)).relevances == (1.0, 0.0)


async def test_of_a_long_text_the_beginning_is_sent(
    reranker: Callable[..., RemoteReranker], chat_server: Any
) -> None:
    chat_server.sends(results((0, 0.5)))

    await reranker(max_tokens=3).rerank(QUESTION, ["one two three four five"])

    assert chat_server.requests[0]["body"]["documents"] == ["one two three"]


async def test_nothing_is_asked_about_no_texts(
    reranker: Callable[..., RemoteReranker], chat_server: Any
) -> None:
    assert (await reranker().rerank(QUESTION, [])).relevances == ()
    assert chat_server.requests == []


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (results((0, 0.5)), "1 results for 2 texts"),
        (results((0, 0.5), (2, 0.5)), "or not one for each"),
        (results((0, 0.5), (0, 0.5)), "or not one for each"),
        (results((0, 0.5), (-1, 0.5)), "or not one for each"),
        (results((0, 0.5), (1, 0.5), (1, 0.6)), "3 results for 2 texts"),
        (results((0, float("nan")), (1, 0.5)), "no number"),
        (results((0, float("inf")), (1, 0.5)), "no number"),
        (results((0, None), (1, 0.5)), "no number"),
        (results((0, "high"), (1, 0.5)), "no number"),
        (results((0, 3.2), (1, 0.5)), "is 3.2, which is not from 0 to 1"),
        (results((0, -4.0), (1, 0.5)), "is -4, which is not from 0 to 1"),
        ({"results": [{"relevance_score": 0.5}, {"relevance_score": 0.5}]}, "no index"),
    ],
)
async def test_an_answer_of_no_use_is_refused_and_says_what_it_took(
    reranker: Callable[..., RemoteReranker], chat_server: Any, told: Any, why: str
) -> None:
    chat_server.sends(told | VLLM)

    with pytest.raises(ModelRefusedError, match=why) as refused:
        await reranker().rerank(QUESTION, TEXTS)

    assert refused.value.usage is not None
    assert refused.value.usage.input_tokens == 21


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"data": []}', b'{"results": "none"}'])
async def test_an_answer_in_another_shape_is_a_wrong_address(
    reranker: Callable[..., RemoteReranker], chat_server: Any, body: bytes
) -> None:
    chat_server.body = body

    with pytest.raises(ModelMisconfiguredError, match="check MNESTIC_RERANK_URL"):
        await reranker().rerank(QUESTION, TEXTS)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503])
async def test_a_server_that_cannot_answer_now_is_unavailable_and_asked_once(
    reranker: Callable[..., RemoteReranker], chat_server: Any, status: int
) -> None:
    chat_server.fails(status, headers={"Retry-After": "7"})

    with pytest.raises(ModelUnavailableError) as failed:
        await reranker().rerank(QUESTION, TEXTS)

    assert failed.value.retry_after_s == 7
    assert len(chat_server.requests) == 1


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ModelRefusedError),
        (422, ModelRefusedError),
        (401, ModelMisconfiguredError),
        (404, ModelMisconfiguredError),
    ],
)
async def test_a_request_that_is_refused_is_told_apart_from_a_wrong_setting(
    reranker: Callable[..., RemoteReranker],
    chat_server: Any,
    status: int,
    error: type[Exception],
) -> None:
    chat_server.fails(status, "no, key-1")

    with pytest.raises(error) as failed:
        await reranker().rerank(QUESTION, TEXTS)

    assert "key-1" not in str(failed.value)


@pytest.mark.parametrize("how", ["silent", "drips"])
async def test_a_server_that_hangs_or_drips_is_left_in_time(
    reranker: Callable[..., RemoteReranker], chat_server: Any, how: str
) -> None:
    chat_server.sends(results((0, 0.5), (1, 0.5)))
    setattr(chat_server, how, True)
    began = time.monotonic()

    with pytest.raises(ModelUnavailableError, match="no answer in time"):
        await reranker(timeout=timedelta(seconds=0.3)).rerank(QUESTION, TEXTS)

    assert time.monotonic() - began < 3


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with openai_client(api_key="k", base_url="http://127.0.0.1:1/v1") as client:
        with pytest.raises(ModelUnavailableError, match="no connection"):
            await asyncio.wait_for(RemoteReranker(client, model="m").rerank(QUESTION, TEXTS), 30)


def test_a_key_or_an_address_that_cannot_be_is_named_as_it_is_set() -> None:
    called = ("MNESTIC_RERANK_API_KEY", "MNESTIC_RERANK_URL")

    with pytest.raises(ConfigurationError, match="MNESTIC_RERANK_URL"):
        openai_client(api_key="k", base_url="cohere", called=called)
    with pytest.raises(ConfigurationError, match="MNESTIC_RERANK_API_KEY"):
        openai_client(api_key="", base_url="http://a", called=called)

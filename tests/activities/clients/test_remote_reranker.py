"""A reranker on a real HTTP server: what is asked, what is taken for an answer, and what a failure means."""

from collections.abc import Callable
from typing import Any

import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.remote_reranker import RemoteReranker
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.retrieval.reranking import RERANKING_LIMIT
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
)

TEXTS = ("The tide table hangs in the office.", "Mara lives in Turin.")
QUESTION = "Where does Mara live?"
COHERE = {"meta": {"billed_units": {"search_units": 1}}}
VLLM = {"model": "served", "usage": {"total_tokens": 21}}


def results(*told: tuple[int, Any], **more: Any) -> dict[str, Any]:
    return {"results": [{"index": n, "relevance_score": value} for n, value in told]} | more


Make = Callable[..., RemoteReranker]


@pytest.fixture
def reranker(client: AsyncOpenAI) -> Make:
    return lambda **fields: RemoteReranker(
        client, model="ranker", **{"timeout": RERANKING_LIMIT} | fields
    )


async def test_texts_are_sent_as_cohere_has_it_and_relevances_come_back_in_their_order(
    reranker: Make, chat_server: Any
) -> None:
    chat_server.sends(results((1, 0.9), (0, 0.01), **COHERE))

    told = await reranker().rerank(QUESTION, TEXTS)

    assert told.relevances == (0.01, 0.9)
    assert (told.model, told.search_units) == ("ranker", 1)
    assert told.usage.input_tokens == sum(map(count_tokens, (QUESTION, *TEXTS)))
    (request,) = chat_server.requests
    assert request["path"] == "/v1/rerank"
    assert request["authorization"] == "Bearer sk-secret-0123"
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
    reranker: Make, chat_server: Any, answer: Any, tokens: int
) -> None:
    chat_server.sends(results((0, 0.5), (1, 1.0)) | answer)

    told = await reranker().rerank(QUESTION, TEXTS)

    assert (told.usage.input_tokens, told.search_units) == (tokens, 0)


async def test_of_a_long_text_the_beginning_is_sent_and_a_relevance_may_be_called_score(
    reranker: Make, chat_server: Any
) -> None:
    chat_server.sends({"results": [{"index": 0, "score": 1.0000001}, {"index": 1, "score": -1e-9}]})

    told = await reranker(max_tokens=3).rerank(QUESTION, ["one two three four five", "x"])
    nothing = await reranker().rerank(QUESTION, [])

    assert (told.relevances, nothing.relevances) == ((1.0, 0.0), ())
    (request,) = chat_server.requests
    assert request["body"]["documents"] == ["one two three", "x"]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (results((0, 0.5)), "1 results for 2 texts"),
        (results((0, 0.5), (0, 0.5)), "or not one for each"),
        (results((0, 0.5), (1, 0.5), (1, 0.6)), "3 results for 2 texts"),
        (results((0, float("nan")), (1, 0.5)), "no number"),
        (results((0, "high"), (1, 0.5)), "no number"),
        (results((0, 3.2), (1, 0.5)), "is 3.2, which is not from 0 to 1"),
        (results((0, -4.0), (1, 0.5)), "is -4, which is not from 0 to 1"),
        ({"results": [{"relevance_score": 0.5}, {"relevance_score": 0.5}]}, "no index"),
    ],
)
async def test_an_answer_of_no_use_is_refused_and_says_what_it_took(
    reranker: Make, chat_server: Any, told: Any, why: str
) -> None:
    chat_server.sends(told | VLLM)

    with pytest.raises(ModelRefusedError, match=why) as refused:
        await reranker().rerank(QUESTION, TEXTS)

    assert refused.value.usage is not None
    assert refused.value.usage.input_tokens == 21


@pytest.mark.parametrize("body", [b"<html>", b'{"results": "none"}'])
async def test_an_answer_in_another_shape_is_a_wrong_address(
    reranker: Make, chat_server: Any, body: bytes
) -> None:
    chat_server.body = body

    with pytest.raises(ModelMisconfiguredError, match="check MNESTIC_RERANK_URL"):
        await reranker().rerank(QUESTION, TEXTS)

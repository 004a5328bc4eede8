"""The embedder that asks a server, over HTTP."""

import base64
import math
from typing import Any

import numpy as np
import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.openai_embedder import OpenAIEmbedder
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
)
from mnestic.memory.models.messages import Embeddings, TokenUsage
from mnestic.memory.ports import Embedder

NOTHING = TokenUsage(input_tokens=0, output_tokens=0)


def answer(*vectors: Any, tokens: int | None = 5, **fields: Any) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": place, "embedding": vector}
        for place, vector in enumerate(vectors)
    ]
    usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
    return {"object": "list", "model": "served-model", "data": data} | usage | fields


def by_length(_: str, body: Any) -> tuple[int, Any, dict[str, str]]:
    """A vector for each text that tells how long the text is."""
    return 200, answer(*([3.0 * len(text), 4.0 * len(text)] for text in body["input"])), {}


def numbers(made: Embeddings) -> list[list[float]]:
    return [np.frombuffer(vector, dtype="<f4").tolist() for vector in made.vectors]


async def embed(client: AsyncOpenAI, *texts: str, **fields: Any) -> Embeddings:
    options = {"model": "small", "dimensions": 2} | fields
    embedder: Embedder = OpenAIEmbedder(client, **options)
    return await embedder.embed(texts)


async def test_texts_become_vectors_of_length_1_in_their_order(
    chat_server: Any, client: AsyncOpenAI
) -> None:
    chat_server.sends(
        {**answer([3, 4], [0, -2.5]), "data": answer([3, 4], [0, -2.5])["data"][::-1]}
    )

    made = await embed(client, "I live in Ghent.", "I like tea.")

    [request] = chat_server.requests
    assert numbers(made) == [[pytest.approx(0.6), pytest.approx(0.8)], [0, -1]]
    assert (made.model, made.usage.input_tokens) == ("served-model", 5)
    assert request["path"] == "/v1/embeddings"
    assert request["body"] == {
        "model": "small",
        "input": ["I live in Ghent.", "I like tea."],
        "dimensions": 2,
        "encoding_format": "float",
    }
    vector = base64.b64encode(np.array([3, 4], dtype="<f4").tobytes()).decode()
    chat_server.sends(answer(vector, tokens=None))
    made = await embed(client, "hello world")
    assert numbers(made) == [[pytest.approx(0.6), pytest.approx(0.8)]]
    assert made.usage.input_tokens == 2  # counted here, where the server does not


async def test_no_request_is_over_the_apis_limits(chat_server: Any, client: AsyncOpenAI) -> None:
    chat_server.answers = by_length
    long = "tea " * 9000

    made = await embed(client, *(["I like tea."] * 300), *([long] * 40))

    sent = [request["body"]["input"] for request in chat_server.requests]
    assert len(made.vectors) == 340
    assert max(map(len, sent)) <= 2048
    assert max(sum(min(len(text) // 4, 8192) for text in texts) for texts in sent) <= 300_000
    assert made.usage.input_tokens == 5 * len(sent)


def test_a_batch_is_one_request_within_the_limits(client: AsyncOpenAI) -> None:
    embedder = OpenAIEmbedder(client, model="text-embedding-3-small", dimensions=512)
    assert (embedder.name, embedder.model) == (f"{embedder.model}-512", "text-embedding-3-small")
    batches = {
        tokens: OpenAIEmbedder(client, model="m", dimensions=2, max_tokens=tokens).batch
        for tokens in (1, 512, 8192, 300_000, 1_000_000)
    }

    assert batches == {1: 256, 512: 256, 8192: 36, 300_000: 1, 1_000_000: 1}


async def test_of_a_long_text_the_beginning_counts(chat_server: Any, client: AsyncOpenAI) -> None:
    chat_server.answers = by_length

    await embed(client, "tea " * 50, "I like tea.", "上海" * 50, max_tokens=10)

    sent = chat_server.requests[0]["body"]["input"]
    assert sent[0] == ("tea " * 50)[: len(sent[0])]
    assert 10 <= len(sent[0]) <= 40
    assert sent[1] == "I like tea."
    assert sent[2]
    assert ("上海" * 50).startswith(sent[2])


async def test_empty_texts_are_not_sent_and_have_the_vector_0(
    chat_server: Any, client: AsyncOpenAI
) -> None:
    chat_server.sends(answer([0, 7]))

    made = await embed(client, "", "I like tea.", " \n")
    nothing = await embed(client, "", " ")

    assert [request["body"]["input"] for request in chat_server.requests] == [["I like tea."]]
    assert numbers(made) == [[0, 0], [0, 1], [0, 0]]
    assert (numbers(nothing), nothing.usage) == ([[0, 0], [0, 0]], NOTHING)
    assert (await embed(client)).vectors == ()


NO_VECTORS = {
    "too few": answer([1, 0]),
    "too many": answer([1, 0], [1, 0], [1, 0]),
    "one twice": answer([1, 0], [1, 0])
    | {"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]},
    "no number": answer([1, 0], [1, "x"]),
    "an infinity": answer([1, 0], [1, math.inf]),
    "too large a number": answer([1, 0], [1e300, 1e300]),
    "no length": answer([1, 0], [0, 0]),
    "a table": answer([1, 0], [[1], [0]]),
    "no base64": answer([1, 0], "ä"),
}


@pytest.mark.parametrize("body", NO_VECTORS.values(), ids=NO_VECTORS.keys())
async def test_an_answer_without_a_vector_for_each_text_is_refused_and_says_what_it_took(
    chat_server: Any, client: AsyncOpenAI, body: Any
) -> None:
    chat_server.sends(body)

    with pytest.raises(ModelRefusedError) as refused:
        await embed(client, "I live in Ghent.", "I like tea.")

    assert refused.value.usage == TokenUsage(input_tokens=5, output_tokens=0)
    assert not isinstance(refused.value, ModelMisconfiguredError)
    assert "Ghent" not in str(refused.value)


async def test_vectors_of_another_width_are_a_wrong_setting(
    chat_server: Any, client: AsyncOpenAI
) -> None:
    chat_server.sends(answer([1, 0, 0]))

    with pytest.raises(ModelMisconfiguredError, match="3 dimensions, and 2 are asked for"):
        await embed(client, "I like tea.")


@pytest.mark.parametrize(
    ("option", "refusal"),
    [
        ("dimensions", {"error": {"message": "Model does not support matryoshka representation"}}),
        ("dimensions", {"error": {"message": "Extra inputs", "param": "dimensions"}}),
        ("encoding_format", {"detail": "encoding_format must be base64 or null, not float"}),
    ],
)
async def test_an_option_that_a_server_refuses_is_left_out(
    chat_server: Any, client: AsyncOpenAI, option: str, refusal: Any
) -> None:
    given = {"dimensions": 2, "encoding_format": "float"}

    def fixed(_: str, body: Any) -> tuple[int, Any, dict[str, str]]:
        if body.get(option) == given[option]:
            return 400, refusal, {}
        return 200, answer(*([1, 0] for _ in body["input"])), {}

    chat_server.answers = fixed
    embedder = OpenAIEmbedder(client, model="small", dimensions=2)

    made = [await embedder.embed(["I like tea."]) for _ in range(2)]

    assert [numbers(each) for each in made] == [[[1, 0]]] * 2
    asked = [each["body"].get(option) == given[option] for each in chat_server.requests]
    assert asked == [True, False, False]


@pytest.mark.parametrize("body", [b"<html>", b'{"data": null}'])
async def test_an_answer_that_is_no_list_of_embeddings_is_a_wrong_setting(
    chat_server: Any, client: AsyncOpenAI, body: bytes
) -> None:
    chat_server.body = body

    with pytest.raises(ModelMisconfiguredError, match="base URL"):
        await embed(client, "I like tea.")


async def test_a_text_that_is_too_large_is_refused_though_the_server_calls_it_its_own_error(
    chat_server: Any, client: AsyncOpenAI
) -> None:
    chat_server.fails(500, "input (702 tokens) is too large to process. increase the batch size")

    with pytest.raises(ModelRefusedError, match="too large to process") as refused:
        await embed(client, "I like tea.")

    assert not isinstance(refused.value, ModelMisconfiguredError)

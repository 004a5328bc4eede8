"""Models of questions that fail, hang or refuse: what is said, and what is found without them."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import pytest

from mnestic.activities.callers import Caller
from mnestic.activities.forgetting.topic_meaning import find_entries_by_meaning
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.knowledge.entries import Embedding
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Answer, Call, refused, vectors
from tests.activities.retrieval.query_models.conftest import ANSWER, QUESTION


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
    assert [one.entry.content for one in found.results] == [ANSWER]
    assert usage() == []


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


class Late:
    """An embedder of somebody else's, which tells by Python's own error that it was too late."""

    name = model = "late"
    batch = 1

    async def embed(self, _: Sequence[str]) -> NoReturn:
        raise TimeoutError


async def test_a_model_that_is_too_late_by_its_own_limit_is_named(
    client: Callable[[QueryModels], MemoryClient],
) -> None:
    ada = client(QueryModels(Embedders(Late())))
    await ada.add(ANSWER)

    found = await ada.retrieve(QUESTION)

    assert found.skipped == {"semantic": "model late does not answer: no answer in time"}
    assert [one.entry.content for one in found.results] == [ANSWER]


def refusing(words: str) -> Callable[[str, Any], Answer]:
    """A server that takes no request with some words."""
    return lambda path, body: (
        refused(400) if any(words in text for text in body["input"]) else vectors(path, body)
    )


async def test_a_text_that_the_model_refuses_is_named_and_keeps_no_topic_from_being_forgotten(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    caller: Caller,
    chat_server: Any,
) -> None:
    asked = models()
    ada = client(asked)
    contents = ("The ferry leaves at noon.", "forbidden", "A forbidden river.", ANSWER)
    ids = [(await ada.add(content)).id for content in contents]
    chat_server.answers = refusing("forbidden")
    embedders = asked.embedders(caller, is_budgeted=False)

    found = await find_entries_by_meaning(caller, "river", embedders=embedders)

    # What has the topic's words goes by these.
    assert [(one.kind, one.name) for one in found.uncompared] == [("entry", ids[1])]
    async with caller() as transaction:
        missing = await transaction.entries.list_unembedded(embedders.chosen.name, limit=10)
    assert [one.id for one in missing] == ids[1:3]


async def test_what_ingestion_could_not_embed_is_named_too(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    caller: Caller,
) -> None:
    asked = models()
    (entry_id,) = [(await client(asked).add("forbidden")).id]
    embedders = asked.embedders(caller, is_budgeted=False)
    async with caller(write=True) as transaction:
        nothing = Embedding(entry_id=entry_id, content="forbidden", vector=bytes(8))
        await transaction.entries.embed(embedders.chosen.name, [nothing])

    found = await find_entries_by_meaning(caller, "river", embedders=embedders)

    assert [one.name for one in found.uncompared] == [entry_id]


@pytest.mark.parametrize("status", [401, 503])
async def test_nothing_is_forgotten_by_meaning_while_no_entry_can_be_embedded(
    models: Callable[..., QueryModels],
    client: Callable[[QueryModels], MemoryClient],
    caller: Caller,
    chat_server: Any,
    status: int,
) -> None:
    asked = models()
    await client(asked).add(ANSWER)
    chat_server.answers = lambda *_: refused(status)

    with pytest.raises(ModelUnavailableError):
        await find_entries_by_meaning(
            caller, "river", embedders=asked.embedders(caller, is_budgeted=False)
        )

"""Earlier messages that a model names as replaced, ended or corrected by a later one, in whatever words."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Answer, Begin, Steps, completion, said

LISBON = "Visitors come to us at the Lisbon office, second floor."
PORTO = "We moved the office to Porto."
QUESTION = "Where is the office?"


def lines_of(body: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body["messages"][-1]["content"].splitlines()]


def names(kind: str = "replaced", **changed: Any) -> Callable[[str, Any], Answer]:
    """A model that names the Lisbon office wherever it is shown before the move, or what it is told to name."""

    def answer(_: str, body: Any) -> Answer:
        lines = {line["text"]: line for line in lines_of(body)}
        changes = []
        if {LISBON, PORTO} <= lines.keys():
            earlier = lines[LISBON].get("message", lines[LISBON].get("statement"))
            change = {"message": lines[PORTO]["message"], "earlier": earlier, "kind": kind}
            changes.append(change | changed)
        return 200, completion(json.dumps({"facts": [], "changes": changes})), {}

    return answer


def elsewhere(number: int, text: str) -> Resource:
    return said(number, text, session_id=f"s{number}")


@pytest.fixture
def learn(chat_server: Any, ada: MemoryClient, steps: Callable[..., Steps]) -> Any:
    """Learns from messages, with a model that names what it is told to."""

    async def learn(*messages: Resource, answers: Any = None, embedder: Any = None) -> None:
        chat_server.answers = answers or names()
        await ada.ingest(messages)
        chosen = steps(embedders=Embedders(embedder or TokenVectorEmbedder()))
        await chosen.extract()
        await chosen.learn()

    return learn


async def found(ada: MemoryClient) -> list[str]:
    return [one.entry.content for one in (await ada.retrieve(QUESTION)).results]


async def ids(ada: MemoryClient) -> dict[str, str]:
    entries, _ = await ada.entries.list(EntryQuery())
    return {entry.content: entry.id for entry in entries}


@pytest.mark.parametrize("at_once", [True, False])
async def test_what_a_model_names_is_left_out(ada: MemoryClient, learn: Any, at_once: bool) -> None:
    messages = [elsewhere(1, LISBON), elsewhere(2, "Lunch is at noon."), elsewhere(3, PORTO)]
    for batch in [messages] if at_once else [[one] for one in messages]:
        await learn(*batch)

    entry_ids = await ids(ada)
    trace = await ada.why(QUESTION, expect=entry_ids[LISBON])

    assert await found(ada) == [PORTO]
    assert f"replaced by entry {entry_ids[PORTO]}" in trace.why


async def test_it_is_named_once_and_for_good(ada: MemoryClient, learn: Any, begin: Begin) -> None:
    await learn(elsewhere(1, LISBON))
    await learn(elsewhere(2, PORTO))
    entry_ids = await ids(ada)
    before = await ada.entries.get(entry_ids[PORTO])

    await learn(elsewhere(2, PORTO))  # which is a duplicate
    async with begin() as transaction:  # and what is read again is so again
        learned, _ = await transaction.ingest_states.list_by_state("learned")
        await transaction.ingest_states.repeat(learned, state="received")
    await learn()

    after = await ada.entries.get(entry_ids[PORTO])
    assert before.replaces == after.replaces == ((entry_ids[LISBON], "replaced"),)
    assert await found(ada) == [PORTO]


async def test_it_is_exported_archived_and_read_back(
    ada: MemoryClient, learn: Any, memory: Memory, settings: Settings
) -> None:
    await learn(elsewhere(1, LISBON), elsewhere(2, PORTO))
    bob = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="bob"))

    await bob.import_lines([line async for line in ada.export()])
    porto = (await ids(ada))[PORTO]
    await ada.entries.archive(porto)
    await ada.entries.restore(porto)

    assert await found(bob) == await found(ada) == [PORTO]


@pytest.mark.parametrize("how", ["remove", "change", "reinstate", "read anew"])
async def test_it_counts_again_once_it_is_not_replaced(
    ada: MemoryClient, learn: Any, begin: Begin, how: str
) -> None:
    await learn(elsewhere(1, LISBON), elsewhere(2, PORTO))
    entry_ids = await ids(ada)
    assert LISBON not in await found(ada)

    if how == "remove":
        await ada.entries.delete(entry_ids[PORTO])
    elif how == "change":
        await ada.entries.change(entry_ids[PORTO], content="The office in Porto is nice.")
    elif how == "reinstate":
        await ada.entries.reinstate(entry_ids[LISBON])
    else:
        async with begin() as transaction:
            learned, _ = await transaction.ingest_states.list_by_state("learned")
            await transaction.ingest_states.repeat(learned, state="received")
        await learn(answers=lambda *_: (200, completion('{"facts": []}'), {}))

    assert LISBON in await found(ada)


async def test_a_model_is_shown_few_short_statements_that_are_near(
    chat_server: Any, learn: Any
) -> None:
    text = "The office has room {}. " + "Very " * 60
    await learn(*(elsewhere(number, text.format(number)) for number in range(9)))
    await learn(elsewhere(20, "Lunch was fine."))

    await learn(elsewhere(30, PORTO))

    *statements, asked = lines_of(chat_server.requests[-1]["body"])
    assert (asked["message"], asked["text"]) == (1, PORTO)
    assert [one["statement"] for one in statements] == [2, 3, 4]
    assert all(one["text"].startswith("The office") for one in statements)
    assert max(len(one["text"]) for one in statements) <= 200

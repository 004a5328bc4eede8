"""The steps of learning with models that answer over HTTP, and with what those get wrong."""

from collections.abc import Callable
from typing import Any

from mnestic.activities.models.calls import ModelCallLimits
from mnestic.memory.models.usage import Budget
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import (
    Answer,
    Call,
    Execute,
    Inventor,
    Steps,
    completion,
    extracted,
    numbered,
    parked,
    read,
    said,
    texts_of,
)


async def test_messages_are_read_in_batches_and_each_call_is_written_down(
    chat_server: Any,
    steps: Callable[..., Steps],
    ada: MemoryClient,
    begin: Callable[[], Any],
    usage: Callable[[], list[Call]],
) -> None:
    chat_server.answers = read
    await ada.ingest([said(number, f"I live in City{number}.") for number in range(20)])

    done = await steps().extract()
    again = await steps().extract()

    asked = [len(numbered(request["body"])) for request in chat_server.requests]
    assert (done.taken, done.parked, done.refused, again.taken) == (20, 0, 0, 0)
    assert sorted(asked) == [4, 16]
    assert (await extracted(begin))["m007"] == ("City7",)
    row = ("extract", "reader-2026-01-01", 100, 10, 0.0002, "s1")
    assert usage() == [row, row]


async def test_a_model_is_told_what_was_said_in_the_session_before(
    chat_server: Any, steps: Callable[..., Steps], ada: MemoryClient
) -> None:
    chat_server.answers = lambda *_: (200, completion('{"facts": []}'), {})
    await ada.ingest([said(number, f"Message {number}.") for number in range(10)])
    await ada.ingest([said(5, "Elsewhere.").model_copy(update={"session_id": "s2"})])
    await steps().extract()
    await ada.ingest([said(10, "She lives in Oslo.")])

    await steps().extract()

    first, last = (texts_of(request["body"]) for request in chat_server.requests)
    assert first == [*(f"Message {number}." for number in range(10)), "Elsewhere."]
    assert last == [*(f"Message {number}." for number in range(2, 10)), "She lives in Oslo."]


async def test_a_message_that_the_model_declines_is_parked_and_the_others_are_learned(
    chat_server: Any,
    steps: Callable[..., Steps],
    ada: MemoryClient,
    begin: Callable[[], Any],
    usage: Callable[[], list[Call]],
) -> None:
    def declines(path: str, body: Any) -> Answer:
        if "Something awful." in texts_of(body):
            return 200, completion("", finish_reason="content_filter"), {}
        return read(path, body)

    chat_server.answers = declines
    await ada.ingest([said(1, "I live in Ghent."), said(2, "Something awful."), said(3, "Hm.")])

    done = await steps().extract()  # and what comes after it is not declined for its sake

    assert (done.taken, done.parked) == (3, 1)
    assert await parked(ada) == {"m002": "model reader refused: it declined to answer this content"}
    assert await extracted(begin) == {"m001": ("Ghent",), "m003": ()}
    assert len(usage()) == len(chat_server.requests)  # also those whose answers were refused


async def test_a_claim_whose_words_are_not_in_the_message_is_not_kept_whoever_tells_it(
    steps: Callable[..., Steps], ada: MemoryClient, begin: Callable[[], Any]
) -> None:
    await ada.ingest([said(1, "I like tea."), said(2, "Hm?")])

    done = await steps(extractor=Inventor()).extract()

    assert await extracted(begin) == {"m001": ("thing 0",), "m002": ("thing 0",)}
    assert (done.taken, done.refused) == (2, 5)


async def test_no_more_calls_than_allowed_run_side_by_side_nor_go_over_the_days_budget(
    chat_server: Any, steps: Callable[..., Steps], ada: MemoryClient
) -> None:
    def read_beside_others(path: str, body: Any) -> Answer:
        chat_server.together = 2  # from the second call on: the first runs alone, to show its size
        return read(path, body)

    chat_server.answers = read_beside_others
    await ada.ingest([said(number, "Hm.") for number in range(160)])
    learning = steps(limits=ModelCallLimits(concurrency=2, daily=Budget(tokens=600)))

    done = await learning.extract()
    held = await learning.held()

    assert (done.taken, len(chat_server.requests)) == (96, 6)  # of 110 tokens; the last goes over
    assert chat_server.most_at_once == 2
    assert "660 of 600 tokens" in str(held)


async def test_what_cannot_be_stored_is_parked_and_the_rest_is_learned(
    chat_server: Any, steps: Callable[..., Steps], ada: MemoryClient, execute: Execute
) -> None:
    chat_server.answers = read
    await ada.ingest([said(number, f"I live in City{number}.") for number in range(7)])
    await steps().extract()
    execute(  # as a rule of an earlier version might have
        "UPDATE mnestic.ingest_state SET extracted = jsonb_set(extracted, '{0,object}', to_jsonb("
        "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 999) AS n))) "
        "WHERE tenant_id = %s AND source_id = 'm004'"
    )

    moved = [await steps().learn() for _ in range(4)]

    facts, _ = await ada.facts.list()
    assert sum(step.learned for step in moved) == 6
    assert set(await parked(ada)) == {"m004"}
    assert [fact.object for fact in facts] == ["City6"]

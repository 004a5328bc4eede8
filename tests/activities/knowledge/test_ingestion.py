"""The steps of learning: models that answer over HTTP, what those get wrong, what keeps learning waiting, and parts of it."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.knowledge.ingestion import IngestProgress
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.memory.knowledge.extraction import Extraction, ExtractionInput
from mnestic.memory.knowledge.ingestion import IngestCounts
from mnestic.memory.models.usage import Budget
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import (
    Answer,
    Begin,
    Call,
    Execute,
    Inventor,
    Steps,
    completion,
    extracted,
    numbered,
    parked,
    read,
    refused,
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


@pytest.fixture
def memory(unembedded: Memory) -> Memory:
    """Entries get their vectors by learning."""
    return unembedded


async def test_answers_from_before_an_outage_of_the_model_are_stored(
    chat_server: Any,
    steps: Callable[..., Steps],
    ada: MemoryClient,
    usage: Callable[[], list[Call]],
) -> None:
    def goes_down(path: str, body: Any) -> Answer:
        return read(path, body) if len(chat_server.requests) == 1 else refused(429)

    chat_server.answers = goes_down
    await ada.ingest([said(number, "Hm.") for number in range(48)])

    failed = await steps(limits=ModelCallLimits(concurrency=1)).held()

    assert (failed.type, failed.non_retryable) == ("ModelUnavailableError", False)
    assert failed.next_retry_delay == timedelta(seconds=4)
    assert await ada.messages.count() == IngestCounts(received=32, learned=16)
    assert len(chat_server.requests) == 2
    assert len(usage()) == 1


MESSAGES = 3 * EnglishExtractor.batch


@pytest.fixture
async def english(steps: Callable[..., Steps], ada: MemoryClient) -> Steps:
    """The steps with the parser, and messages that wait for them."""
    await ada.ingest([said(number, f"I live in City{number}.") for number in range(MESSAGES)])
    return steps(extractor=EnglishExtractor())


async def test_an_attempt_that_is_cancelled_keeps_what_it_has_read(
    english: Steps, ada: MemoryClient
) -> None:
    attempt = asyncio.create_task(english.extract())
    while (await ada.messages.count()).received == MESSAGES:
        assert not attempt.done()
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    left = (await ada.messages.count()).received

    done = await english.extract()

    assert 0 < left < MESSAGES
    assert done.taken == left
    assert (await ada.messages.count()).received == 0


class CountingInventor(Inventor):
    """It notes how many messages it gets at a time."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    async def extract(self, turns: Sequence[ExtractionInput]) -> Extraction:
        self.sizes.append(len(turns))
        return await super().extract(turns)


async def test_a_later_attempt_takes_what_the_first_one_took_in_smaller_parts(
    steps: Callable[..., Steps], ada: MemoryClient, begin: Begin
) -> None:
    """The parts are smaller if it was lost while it read one; else a server was down, which is asked for as much as before."""
    extractor = CountingInventor()
    size = extractor.batch
    await ada.ingest([said(number, "Hello.") for number in range(5 * size)])
    async with begin() as transaction:
        pending, _ = await transaction.ingest_states.list_by_state("received")

    async def attempt(last: int, *, parts: int) -> IngestProgress:
        told = {"size": size, "until": pending[last].number, "parts": parts, "taken": 3}
        extractor.sizes.clear()
        return await steps(extractor=extractor).extract(attempt=3, heartbeat_details=[told])

    after_outage = await attempt(2 * size - 1, parts=0)
    sizes_after_outage = [*extractor.sizes]
    after_loss = await attempt(4 * size - 1, parts=2)
    sizes_after_loss = [*extractor.sizes]
    others = await attempt(4 * size - 1, parts=0)  # all of the first ones were done

    assert (after_outage.taken, sizes_after_outage) == (3 + 2 * size, [size] * 2)
    assert (after_loss.taken, sizes_after_loss) == (3 + 2 * size, [size // 2] * 4)
    assert (others.taken, sum(extractor.sizes)) == (3 + size, size)

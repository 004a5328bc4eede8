"""Extraction in parts: what is read is kept, whatever becomes of the attempt that has read it."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.memory.knowledge.extraction import Extraction, Turn
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Inventor, Steps, said

MESSAGES = 3 * EnglishExtractor.batch


class SlowInventor(Inventor):
    """It takes as long for a part as a step may take in all."""

    pause = timedelta(milliseconds=500)

    async def extract(self, turns: Sequence[Turn]) -> Extraction:
        await asyncio.sleep(self.pause.total_seconds())
        return await super().extract(turns)


@pytest.fixture
def memory(unembedded: Memory) -> Memory:
    """Entries get their vectors by learning."""
    return unembedded


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


async def test_a_step_begins_no_part_that_it_may_not_end_in_time(
    steps: Callable[..., Steps], ada: MemoryClient
) -> None:
    await ada.ingest([said(number, "Hello.") for number in range(3 * Inventor.batch)])
    slow = steps(extractor=SlowInventor())

    done = await slow.extract(start_to_close_timeout=SlowInventor.pause)

    assert done.taken == SlowInventor.batch


async def test_a_step_takes_half_as_many_after_each_attempt_that_failed(english: Steps) -> None:
    extracted = await english.extract(attempt=4)
    learned = await english.learn(attempt=6)

    assert extracted.taken == 500 // 2**3
    assert learned.taken == 500 // 2**5

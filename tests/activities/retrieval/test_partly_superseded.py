"""Messages of which a part is so no longer: the rest of them still answers, and so does what ended it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import NOON, Learn, said

TWO_SENTENCES = ("I live in Porto. The alarm code is 7731.", "I moved to Turin.")


async def tell(learn: Learn, *texts: str) -> None:
    for number, text in enumerate(texts):
        await learn(said(number, text, speaker="Ruth", at=NOON + timedelta(days=number)))


async def found(ada: MemoryClient, question: str, *, min_score: float | None = None) -> list[str]:
    retrieval = await ada.retrieve(question, min_score=min_score)
    return [one.entry.content for one in retrieval.results]


WORLDS = yaml.safe_load(Path(__file__).with_name("partly_superseded.yaml").read_text("utf-8"))


@pytest.mark.parametrize("world", WORLDS["parts"], ids=lambda world: world["say"][0][:30])
async def test_the_part_of_a_message_that_still_holds_answers_and_is_quoted_alone(
    ada: MemoryClient, learn: Learn, world: dict[str, Any]
) -> None:
    await tell(learn, *world["say"])

    first = world["say"][0]
    for question in world["hidden from"]:
        assert first not in await found(ada, question), question
    for question, quoted in world["quoted"].items():
        before_message = await ada.auto_retrieve(question, "other")
        context = await ada.context_for_query(question)
        assert first in await found(ada, question), question
        for text in (before_message.text, context.text):
            assert quoted in text
            assert first not in text


@pytest.mark.parametrize("world", WORLDS["ends"], ids=lambda world: world["say"][-1])
async def test_the_message_that_ended_a_fact_answers_where_nothing_is_so(
    ada: MemoryClient, learn: Learn, world: dict[str, Any]
) -> None:
    await tell(learn, *world["say"])

    contents = await found(ada, world["question"], min_score=0.5)

    assert contents[: len(world["answers"]) or None] == world["answers"]


async def test_a_question_about_the_past_quotes_the_whole_message(
    ada: MemoryClient, learn: Learn
) -> None:
    await tell(learn, *TWO_SENTENCES)

    context = await ada.context_for_query("Where did Ruth live before?")

    assert TWO_SENTENCES[0] in context.text


async def test_a_correction_by_hand_hides_only_what_it_corrects(
    ada: MemoryClient, learn: Learn
) -> None:
    message = TWO_SENTENCES[0]
    await tell(learn, message)
    await ada.facts.add("Ruth", "lives_in", "Genoa")

    assert message not in await found(ada, "Where does Ruth live?")
    assert await found(ada, "What is the alarm code?") == [message]

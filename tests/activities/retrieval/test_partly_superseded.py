"""Messages of which a part is so no longer: the rest of them still answers, and so does what ended it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import NOON, Learn, said

TWO_SENTENCES = ("I live in Porto. The alarm code is 7731.", "I moved to Turin.")
JOB = (
    "I work at Bosch and I live in Ulm with my two cats, they are called Tim and Tom and sleep all day",
    "I left Bosch, I'm at Siemens now",
)


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


async def test_the_message_about_what_is_so_instead_answers_and_why_says_so(
    ada: MemoryClient, learn: Learn
) -> None:
    await tell(learn, *JOB)
    entries, _ = await ada.entries.list(EntryQuery())

    for question, answer in (
        ("Where does Ruth work?", JOB[1]),
        ("Who is Ruth's employer?", JOB[1]),
        ("Where does Ruth live?", JOB[0]),
    ):
        for min_score in (None, 0.0):
            contents = await found(ada, question, min_score=min_score)
            assert contents[0] == answer, question
            assert JOB[0] == answer or JOB[0] not in contents
    traces = [await ada.why("Where does Ruth work?", expect=one.id) for one in entries]
    assert [one.stage for one in traces] == ["returned", "validity"]
    assert traces[1].why == "what the query asks of it is so no longer"


async def test_a_correction_by_hand_hides_only_what_it_corrects(
    ada: MemoryClient, learn: Learn
) -> None:
    message = TWO_SENTENCES[0]
    await tell(learn, message)
    await ada.facts.add("Ruth", "lives_in", "Genoa")

    assert message not in await found(ada, "Where does Ruth live?")
    assert await found(ada, "What is the alarm code?") == [message]

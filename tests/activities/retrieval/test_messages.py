"""What is found for a message of several clauses: by each clause, questions before remarks."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.retrieval.queries import Retrieval
from mnestic.starter.client.memory_client import MemoryClient

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
CHATTER = (
    "Sorry that I am late, the bridge was up for half an hour. My umbrella broke on the way and the bakery had "
    "nothing left but the dry rolls from yesterday."
)
KNOWN = (
    ("Mara lives in Turin, near the river.", "Mara"),
    ("Mara cannot eat peanuts.", "Mara"),
    ("Tom lives in Bergen.", "Tom"),
    ("The staging server runs Debian and is backed up every night.", None),
    ("The spare key hangs behind the boiler.", None),
)


@pytest.fixture
async def known(ada: MemoryClient) -> MemoryClient:
    for content, subject in KNOWN:
        await ada.add(content, subjects=[subject] if subject else [], at=NOON)
    return ada


def contents(retrieval: Retrieval) -> list[str]:
    return [one.entry.content for one in retrieval.results]


@pytest.mark.parametrize("question", ["Where does Mara live?", "What does the staging server run?"])
async def test_words_around_a_question_change_neither_its_answer_nor_its_score(
    known: MemoryClient, question: str
) -> None:
    alone = await known.retrieve(question)

    for message in (f"{CHATTER} {question}", f"{question} {CHATTER}", f"Hi! {question} Thanks!"):
        found = await known.retrieve(message)
        assert contents(found)[:1] == contents(alone)[:1]
        assert found.results[0].score == alone.results[0].score


@pytest.mark.parametrize(
    ("before", "question", "after"),
    [
        (
            "been in the garden since seven and my hands are full of earth and then it struck me",
            "where does Tom live",
            "because I have to send him the seeds",
        ),
        (
            "ok the door fell shut behind me and I stand in the hall in my socks",
            "where is the spare key",
            "",
        ),
        (
            "the table is set and the soup has been on for an hour",
            "can you tell me what Mara cannot eat",
            "so I can start with the rest",
        ),
    ],
)
async def test_a_question_without_marks_is_answered_as_if_it_stood_alone(
    known: MemoryClient, before: str, question: str, after: str
) -> None:
    alone = await known.retrieve(question)

    found = await known.retrieve(f"{before} {question} {after}".strip())

    assert contents(found)[0] == contents(alone)[0]
    assert found.results[0].score == alone.results[0].score


@pytest.mark.parametrize(
    "message",
    [
        "been in the garden since seven and the rain came down so hard that I gave up on the beds and went in for a coffee",
        "we were out on the ice until noon and then it struck me when does the ferry to the island leave on a day like this",
        "they told me what is wrong with the pump and it is nothing but a bit of sand so I cleaned it and went to bed",
    ],
)
async def test_a_message_without_marks_about_nothing_known_brings_nothing(
    known: MemoryClient, message: str
) -> None:
    assert contents(await known.retrieve(message, min_score=0.5)) == []


async def test_each_question_brings_what_answers_it(known: MemoryClient) -> None:
    message = "Where does Tom live? And where is the spare key? What does the staging server run?"

    found = await known.retrieve(message, limit=3)

    assert {*contents(found)} == {
        "Tom lives in Bergen.",
        "The spare key hangs behind the boiler.",
        "The staging server runs Debian and is backed up every night.",
    }
    scores = [one.score for one in found.results]
    assert scores == sorted(scores, reverse=True)


async def test_a_pronoun_stands_for_who_was_named_before(known: MemoryClient) -> None:
    found = await known.retrieve("I meet Mara tomorrow. What can she not eat?")

    assert contents(found)[0] == "Mara cannot eat peanuts."


async def test_a_time_in_a_remark_is_not_the_period_of_the_question(known: MemoryClient) -> None:
    found = await known.retrieve("I have to send it before tomorrow noon. Where does Tom live?")

    assert found.period is None
    assert contents(found)[0] == "Tom lives in Bergen."


async def test_a_remark_is_answered_where_nothing_is_asked(known: MemoryClient) -> None:
    found = await known.retrieve(
        "The weather is grey here. I am cooking for Mara, peanuts and rice."
    )

    assert contents(found)[0] == "Mara cannot eat peanuts."


async def test_who_is_unknown_answers_little(known: MemoryClient) -> None:
    of_known = await known.retrieve("Where does Tom live?")
    of_stranger = await known.retrieve("Where does Kevin live?")

    assert of_known.results[0].score > 0.5
    assert all(one.score < 0.5 for one in of_stranger.results)

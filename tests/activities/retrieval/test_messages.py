"""What is found for a message of several clauses: by each clause, questions before remarks."""

from datetime import UTC, datetime

import pytest

from mnestic.starter.client.memory_client import MemoryClient

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
CHATTER = (
    "Sorry that I am late, the bridge was up for half an hour. My umbrella broke on the way and the bakery had "
    "nothing left but the dry rolls from yesterday."
)
SERVER = "The staging server runs Debian and is backed up every night."
KNOWN = (
    ("Mara lives in Turin, near the river.", "Mara"),
    ("Mara cannot eat peanuts.", "Mara"),
    ("Tom lives in Bergen.", "Tom"),
    (SERVER, None),
    ("The spare key hangs behind the boiler.", None),
)


@pytest.fixture
async def known(ada: MemoryClient) -> MemoryClient:
    for content, subject in KNOWN:
        await ada.add(content, subjects=[subject] if subject else [], at=NOON)
    return ada


async def answers(known: MemoryClient, message: str, **fields: float) -> list[tuple[str, float]]:
    found = await known.retrieve(message, **fields)
    return [(one.entry.content, one.score) for one in found.results]


async def test_words_around_a_question_change_neither_its_answer_nor_its_score(
    known: MemoryClient,
) -> None:
    for question, *around in (
        ("Where does Mara live?", f"{CHATTER} {{}}", f"{{}} {CHATTER}", "Hi! {} Thanks!"),
        (
            "where does Tom live",
            "been in the garden since seven and my hands are full of earth and then it struck me {}",
        ),
        (
            "can you tell me what Mara cannot eat",
            "the table is set and the soup has been on for an hour {} so I can start with the rest",
        ),
    ):
        alone = await answers(known, question)
        for message in around:
            assert (await answers(known, message.format(question)))[0] == alone[0], message


async def test_each_question_brings_what_answers_it(known: MemoryClient) -> None:
    message = "Where does Tom live? And where is the spare key? What does the staging server run?"

    found = await answers(known, message, limit=3)

    assert {content for content, _ in found} == {KNOWN[2][0], SERVER, KNOWN[4][0]}
    assert found == sorted(found, key=lambda one: -one[1])

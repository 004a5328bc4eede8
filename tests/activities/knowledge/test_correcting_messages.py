"""What messages mean after others, through the whole of ingestion: corrections, namesakes, and dates by the speaker's clock."""

from collections.abc import Iterable
from typing import Any

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Learn, said

SIEMENS, KIDDING = "I work at Siemens.", "Just kidding!"


async def tell(learn: Learn, texts: Iterable[str], *, at_once: bool = True, **fields: Any) -> None:
    messages = [said(number, text, **fields) for number, text in enumerate(texts)]
    for batch in [messages] if at_once else [[message] for message in messages]:
        await learn(*batch)


async def active(ada: MemoryClient) -> set[str]:
    facts, _ = await ada.facts.list(limit=100)
    return {fact.object for fact in facts}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("My brothers are Luke and Mark.", "Sorry, I meant Marc, not Mark."), {"Luke", "Marc"}),
        ((SIEMENS, KIDDING), set()),
    ],
)
async def test_a_correction_takes_out_what_it_corrects(
    ada: MemoryClient, learn: Learn, texts: tuple[str, ...], left: set[str], *, at_once: bool
) -> None:
    await tell(learn, texts, at_once=at_once)

    assert await active(ada) == left


VILLA, CABIN = ("Villa",), ("Cabin",)
OKOYE, BRANDT = "My landlord is Mrs Okoye.", "My landlord is Mr Brandt."


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("Gate code: 4471", "Gate code: 9036", "What is the gate code?"),
        (OKOYE, BRANDT, "Who is the landlord?"),
    ],
)
async def test_a_value_that_is_stated_again_supersedes_the_earlier_one(
    ada: MemoryClient, learn: Learn, old: str, new: str, question: str
) -> None:
    first = await ada.add(old, speaker="Ines")
    second = await ada.add(new, speaker="Ines")
    await learn()

    found = await ada.retrieve(question)
    trace = await ada.why(question, expect=first.id)

    assert [one.entry.content for one in found.results] == [new]
    assert trace.stage == "validity"
    assert f"superseded by entry {second.id}" in trace.why


@pytest.mark.parametrize(
    ("notes", "left"),
    [
        pytest.param(
            [("Gate code: 4471", VILLA), ("Gate code: 9920", CABIN), ("Gate code: 5555", VILLA)],
            {"Gate code: 5555", "Gate code: 9920"},
            id="of one subject",
        ),
        pytest.param(
            [("Gate code: 4471", VILLA + CABIN), ("Gate code: 9920", VILLA + CABIN)],
            {"Gate code: 9920", "Gate code: 4471"},
            id="of several subjects",
        ),
        pytest.param([(OKOYE, VILLA), (BRANDT, CABIN)], {BRANDT}, id="in the first person"),
    ],
)
async def test_what_a_note_gives_to_nobody_is_its_subjects(
    ada: MemoryClient, learn: Learn, notes: list[tuple[str, tuple[str, ...]]], left: set[str]
) -> None:
    for text, subjects in notes:
        await ada.add(text, subjects=subjects)
        await learn()

    found = await ada.retrieve("gate code, landlord", min_score=0.0)

    assert {one.entry.content for one in found.results} == left

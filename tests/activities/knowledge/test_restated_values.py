"""Notes that state another value of the same thing: the earlier one is superseded, and why says by which."""

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Learn

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

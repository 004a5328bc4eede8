"""Notes that state another value of the same thing: the earlier one is superseded, and why says by which."""

from collections.abc import Sequence

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("Gate code: 4471", "Gate code: 9036", "What is the gate code?"),
        ("The code of the shed is 4471.", "The code of the shed is 9036.", "the shed's code"),
        ("My landlord is Mrs Okoye.", "My landlord is Mr Brandt.", "Who is the landlord?"),
    ],
)
async def test_a_value_that_is_stated_again_supersedes_the_earlier_one(
    memory: Memory, settings: Settings, ada: MemoryClient, old: str, new: str, question: str
) -> None:
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    params = IngestInput(tenant_id=settings.tenant_id, agent_id="ada")
    first = await ada.add(old, speaker="Ines")
    second = await ada.add(new, speaker="Ines")
    for step in (steps.extract, steps.learn):
        await ActivityEnvironment().run(step, params)

    found = await ada.retrieve(question)
    trace = await ada.why(question, expect=first.id)

    assert [one.entry.content for one in found.results] == [new]
    assert trace.stage == "validity"
    assert f"superseded by entry {second.id}" in trace.why


VILLA, CABIN = ("Villa",), ("Cabin",)


@pytest.mark.parametrize(
    ("notes", "left"),
    [
        pytest.param(
            [("Gate code: 4471", VILLA), ("Gate code: 9920", CABIN), ("Gate code: 5555", VILLA)],
            ["Gate code: 5555", "Gate code: 9920"],
            id="of one subject",
        ),
        pytest.param(
            [("Gate code: 4471", VILLA + CABIN), ("Gate code: 9920", VILLA + CABIN)],
            ["Gate code: 9920", "Gate code: 4471"],
            id="of several subjects",
        ),
        pytest.param(
            [("My landlord is Mrs Okoye.", VILLA), ("My landlord is Mr Brandt.", CABIN)],
            ["My landlord is Mr Brandt."],
            id="in the first person",
        ),
    ],
)
async def test_what_a_note_gives_to_nobody_is_its_subjects(
    memory: Memory,
    settings: Settings,
    ada: MemoryClient,
    notes: Sequence[tuple[str, tuple[str, ...]]],
    left: list[str],
) -> None:
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    params = IngestInput(tenant_id=settings.tenant_id, agent_id="ada")
    for text, subjects in notes:
        await ada.add(text, subjects=subjects)
        for step in (steps.extract, steps.learn):
            await ActivityEnvironment().run(step, params)

    found = await ada.retrieve("gate code, landlord", min_score=0.0)

    assert sorted(one.entry.content for one in found.results) == sorted(left)

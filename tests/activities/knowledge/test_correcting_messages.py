"""What messages mean after others, through the whole of ingestion: corrections, namesakes, and dates by the speaker's clock."""

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Learn, said

SEOUL, LIMA = timezone(timedelta(hours=9)), timezone(timedelta(hours=-5))
SIEMENS, KIDDING = "I work at Siemens.", "Just kidding!"
NAMESAKES = (
    "My brother Otto lives in Graz.",
    "Otto from logistics lives in Linz.",
    "My dog Otto is 7.",
    "Otto is 52.",
)


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
        (("I'm allergic to shrimp.", "I mixed that up. I'm allergic to celery."), {"celery"}),
        (("I live in Utrecht.", "Sorry, I have to run now."), {"Utrecht"}),
    ],
)
async def test_a_correction_takes_out_what_it_corrects(
    ada: MemoryClient, learn: Learn, texts: tuple[str, ...], left: set[str], *, at_once: bool
) -> None:
    await tell(learn, texts, at_once=at_once)

    assert await active(ada) == left


@pytest.mark.parametrize(
    ("between", "fields"),
    [
        ((), {"speaker": "Karel"}),
        ((), {"at": said(120, "").at}),
        (("The train is late.", "I baked bread."), {}),
    ],
    ids=["of somebody else", "of long ago", "of an earlier message"],
)
async def test_a_correction_is_of_ones_own_last_messages(
    ada: MemoryClient, learn: Learn, between: tuple[str, ...], fields: dict[str, Any]
) -> None:
    await tell(learn, (SIEMENS, *between))
    await learn(said(9, KIDDING, **fields))

    assert "Siemens" in await active(ada)


@pytest.mark.parametrize("at_once", [True, False])
async def test_facts_and_messages_of_one_namesake_are_none_of_another(
    ada: MemoryClient, learn: Learn, *, at_once: bool
) -> None:
    await tell(learn, NAMESAKES, at_once=at_once, speaker="Lena")
    await learn(said(9, "I live in Wels.", speaker="Otto"))

    dog = await ada.retrieve("How old is Lena's dog?")
    man = await ada.retrieve("Where does Otto live?")

    assert dog.results[0].entry.content == "My dog Otto is 7."
    assert man.results[0].entry.content == "I live in Wels."
    facts, _ = await ada.facts.list(limit=100)
    told_apart = {
        ("Otto (pet of Lena)", "age", "7"),
        ("Otto (sibling of Lena)", "lives_in", "Graz"),
    }
    assert (told_apart if at_once else set()) | {
        ("Otto", "age", "52"),
        ("Otto", "lives_in", "Wels"),
    } <= {(fact.subject, fact.predicate, fact.object) for fact in facts}


async def test_the_only_one_of_a_name_is_updated_by_it(ada: MemoryClient, learn: Learn) -> None:
    await tell(learn, (NAMESAKES[0], "Otto moved to Salzburg."), speaker="Lena")

    facts, _ = await ada.facts.list(subject="Otto", predicate="lives_in")

    assert [fact.object for fact in facts] == ["Salzburg"]


async def test_yesterday_is_by_the_clock_of_who_says_it(ada: MemoryClient, learn: Learn) -> None:
    new_year = datetime(2025, 1, 1, 0, 30, tzinfo=SEOUL)  # in UTC still 2024
    new_years_eve = datetime(2024, 12, 31, 23, 30, tzinfo=LIMA)  # in UTC 2025 by then

    await learn(
        said(1, "I moved to Busan yesterday.", speaker="Minjun", at=new_year),
        said(2, "I moved to Cusco yesterday.", speaker="Rosa", at=new_years_eve),
    )

    facts, _ = await ada.facts.list(predicate="lives_in")
    entries, _ = await ada.entries.list(EntryQuery())
    began = {fact.subject: fact.valid_from for fact in facts}
    times = {entry.speaker: entry.times[0].start for entry in entries}
    busan, cusco = datetime(2024, 12, 31, tzinfo=SEOUL), datetime(2024, 12, 30, tzinfo=LIMA)
    assert began == times == {"Minjun": busan, "Rosa": cusco}


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

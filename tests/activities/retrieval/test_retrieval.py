"""What is found for a question, in a real database with the local embedder."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.retrieval.queries import PRESETS, Mode, Retrieval
from mnestic.starter.client.memory_client import MemoryClient

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
KNOWN = (
    ("Mara lives in Turin, near the river.", "Mara"),
    ("Mara's dog is called Pixel.", "Mara"),
    ("Tom lives in Bergen.", "Tom"),
    ("The staging server runs Debian and is backed up every night.", None),
    ("Quarterly invoices go out on the first Monday of the month.", None),
)


@pytest.fixture
async def known(ada: MemoryClient) -> MemoryClient:
    for content, subject in KNOWN:
        await ada.add(content, subjects=[subject] if subject else [], at=NOON)
    return ada


def told(found: Retrieval) -> list[str]:
    return [one.entry.content for one in found.results]


async def test_the_same_is_found_by_words_and_by_meaning(known: MemoryClient) -> None:
    answer = await known.retrieve("Where does Mara live?")
    assert (told(answer)[0], answer.names) == ("Mara lives in Turin, near the river.", ("mara",))
    about = {content for content, of in KNOWN if of == "Mara"}
    assert {*told(await known.retrieve("Mara"))} == about
    for mode in ("hybrid", "text", "semantic"):
        found = await known.retrieve("What does the staging server run?", mode=mode)
        assert told(found)[0].startswith("The staging server"), mode


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
async def test_a_word_that_means_nearly_the_same_is_enough(known: MemoryClient, mode: Mode) -> None:
    await known.add("The physician comes every second Thursday, to all on the ward.", at=NOON)
    await known.add("The cobbler comes every first Friday, to all in the street.", at=NOON)

    found = await known.retrieve("the doctor", mode=mode)

    assert [content.split()[1] for content in told(found)] == ["physician"]
    await known.add("Tom drinks espresso at breakfast.", subjects=["Tom"], at=NOON)
    paraphrase = await known.retrieve("Which beverage does he enjoy in the morning?", mode=mode)
    assert told(paraphrase) == ["Tom drinks espresso at breakfast."]


async def test_by_words_alone_only_entries_with_words_of_the_question_are_found(
    ada: MemoryClient,
) -> None:
    violin = "My violin is at the repair shop."
    for speaker, content in (("Mara", violin), ("Tom", "How sad."), ("Mara", "Yes, and costly.")):
        await ada.add(content, speaker=speaker, session_id="shop", at=NOON)

    for question in ("violin", "What did Mara say of the violin?", "the violin on 2 March 2026"):
        found = await ada.retrieve(question, mode="text", min_score=0)
        assert told(found) == [violin]
    assert told(await ada.retrieve("What does Mara say of zebras?", mode="text", min_score=0)) == []
    assert len(told(await ada.retrieve("Mara", mode="text", min_score=0))) == 2


async def test_a_day_without_a_year_is_the_last_one_of_which_something_is_known(
    ada: MemoryClient,
) -> None:
    for year in (2023, 2024):
        await ada.add(f"The bridge was closed, {year}.", at=datetime(year, 3, 2, 9, tzinfo=UTC))

    found = await ada.retrieve("What happened on 2 March?", asked_at=NOON)

    assert told(found) == ["The bridge was closed, 2024."]
    assert found.period is not None
    assert found.period[0] == datetime(2024, 3, 2, tzinfo=UTC)
    for day, content in enumerate(("Lunch with auditors.", "The pump was repaired.", "A lamp.")):
        await ada.add(content, at=NOON - timedelta(days=7 * day))
    last_week = await ada.retrieve("What happened last week?", asked_at=NOON)
    assert told(last_week) == ["The pump was repaired."]


async def test_what_is_not_known_has_no_answer_and_what_is_no_question_is_refused(
    known: MemoryClient,
) -> None:
    for question in ("Explain quantum chromodynamics", "what is it about, and why?", "..."):
        assert told(await known.retrieve(question)) == []
    for question, why in ((" \n", "is empty"), ("x" * 10_001, "limit is 10000"), ("a\0b", "NUL")):
        with pytest.raises(InvalidInputError, match=why):
            await known.retrieve(question)


async def test_misspelt_words_and_beginnings_are_read_as_what_is_known(known: MemoryClient) -> None:
    slip = await known.retrieve("Which one runs Debain?")
    begun = await known.retrieve("quarterl invoi")

    assert slip.misspelt == {"Debain": "debian"}
    assert told(slip)[:1] == ["The staging server runs Debian and is backed up every night."]
    assert told(begun)[:1] == ["Quarterly invoices go out on the first Monday of the month."]


async def test_each_filter_is_held_to(known: MemoryClient) -> None:
    await known.add(
        "The bakery in Turin opens at six.", entry_type="insight", tags=["food"], at=NOON
    )
    await known.add("Turin has a football club.", channel="news", session_id="n1", at=NOON)

    async def of(question: str = "Turin", **filters: Any) -> list[str]:
        return [content.split()[1] for content in told(await known.retrieve(question, **filters))]

    assert await of(entry_types=("insight",)) == await of(tags=("Food",)) == ["bakery"]
    assert await of("our foods") == ["bakery"]  # which is a tag of it
    assert await of(channel="news") == await of(session_id="n1") == ["has"]
    assert await of(subject="mara") == ["lives"]
    assert (
        await of(since=NOON + timedelta(days=1)) == await of(as_of=NOON - timedelta(days=1)) == []
    )


async def test_many_that_are_archived_do_not_hide_the_others(ada: MemoryClient) -> None:
    for number in range(30):
        entry = await ada.add(f"The lamp number {number} is red.", at=NOON)
        if number:
            await ada.entries.change(entry.id, status="archived")

    policy = PRESETS["mnestic"].model_copy(update={"pool": 10})
    assert told(await ada.retrieve("red lamp", policy=policy)) == ["The lamp number 0 is red."]


@pytest.mark.parametrize(("days_ago", "is_found"), [(6, True), (8, False)])
async def test_the_preset_leonidas_looks_at_the_last_seven_days(
    ada: MemoryClient, days_ago: int, is_found: bool
) -> None:
    await ada.add("The ferry leaves from pier nine.", at=NOON - timedelta(days=days_ago))
    for number in range(30):
        await ada.add(f"Ledger page {number} is balanced.", at=NOON - timedelta(days=30))

    policy = PRESETS["leonidas"].model_copy(update={"pool": 10})
    found = await ada.retrieve("ledger page", policy=policy, asked_at=NOON, min_score=0, limit=100)

    assert ("The ferry leaves from pier nine." in told(found)) == is_found


async def test_an_alias_is_another_name_of_the_one_whom_an_entry_is_about(
    known: MemoryClient,
) -> None:
    await known.add("The spare key is with Mara.", subjects=["Mara"], aliases=["Mouse"], at=NOON)
    await known.add("A mouse was seen in the cellar.", at=NOON)

    found = await known.retrieve("Where does Mouse live?")

    assert told(found)[0] == "Mara lives in Turin, near the river."
    assert found.names == ("mara", "mouse")


async def test_what_is_replaced_comes_back_where_it_is_asked_for(known: MemoryClient) -> None:
    old, new = "The bin is emptied on Thursdays.", "The bin is emptied on Fridays now."
    wrong = await known.add(old, at=NOON)
    corrected_at = NOON + timedelta(days=9)
    await known.add(new, at=corrected_at, entry_type="correction", parent=wrong.id)

    now = await known.retrieve("When is the bin emptied?")
    before = await known.retrieve("When was the bin emptied before?")
    then = await known.retrieve("When is the bin emptied?", as_of=NOON + timedelta(days=1))
    with_archived = await known.retrieve(
        "When is the bin emptied?", statuses=("active", "archived")
    )

    assert told(now) == [new]
    assert {*told(before)} == {*told(with_archived)} == {old, new}
    assert told(then) == [old]

"""Archived entries are found where nothing live answers: marked, and below the live ones."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from mnestic.memory.knowledge.entries import ArchiveMark, ArchiveReason, Entry, EntryQuery
from mnestic.memory.ports import Memory
from mnestic.memory.retrieval.queries import PRESETS, Retrieval
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Begin, Learn, said

QUESTION = "What is Nora allergic to?"
LATEX = "Nora is allergic to latex."


NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
Archive = Callable[..., Awaitable[Entry]]
Move = Callable[..., Awaitable[None]]


@pytest.fixture
def move(begin: Begin) -> Move:
    """Archives an entry, as a cleanup does unless another reason is given."""

    async def archive(
        entry: Entry, *, reason: ArchiveReason = "unimportant", agent_id: str = "ada"
    ) -> None:
        mark = ArchiveMark(archived_at=NOON, reason=reason, run="maintenance/cleanup/test")
        async with begin(agent_id) as transaction:
            assert await transaction.archive.add([entry.id], mark) == 1

    return archive


@pytest.fixture
def archive(ada: MemoryClient, move: Move) -> Archive:
    """Adds an entry and archives it."""

    async def add(content: str, *, reason: ArchiveReason = "unimportant", **fields: str) -> Entry:
        entry = await ada.add(content, at=NOON, **fields)
        await move(entry, reason=reason)
        return entry

    return add


@pytest.fixture(autouse=True)
async def live(ada: MemoryClient) -> None:
    for content in ("The staging server runs Debian.", "Tom sent a mail about the budget."):
        await ada.add(content, at=NOON)


def contents_of(found: Retrieval) -> list[tuple[str, bool]]:
    return [(one.entry.content, one.archived) for one in found.results]


@pytest.mark.parametrize("mode", ["hybrid", "text", "semantic"])
async def test_what_nothing_live_answers_is_found_in_the_archive_and_marked(
    ada: MemoryClient, archive: Archive, mode: str
) -> None:
    entry = await archive(LATEX)

    found = await ada.retrieve(QUESTION, mode=mode)

    assert contents_of(found) == [(LATEX, True)]
    assert found.results[0].entry == (await ada.entries.list_archived())[0][0].entry
    assert found.results[0].entry.id == entry.id
    assert found.misspelt == {}


async def test_an_agent_all_of_whose_entries_are_archived_is_answered_and_they_count_as_used(
    memory: Memory, settings: Settings, move: Move, begin: Begin
) -> None:
    bo = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="bo"))
    entry = await bo.add(LATEX, at=NOON)
    await move(entry, reason="over_limit", agent_id="bo")

    assert contents_of(await bo.retrieve(QUESTION)) == [(LATEX, True)]
    async with begin("bo") as transaction:
        assert not await transaction.accesses.count({entry.id: 2})
    ((archived,), _) = await bo.entries.list_archived()
    assert archived.entry.access_count >= 2
    assert archived.entry.last_accessed is not None


async def test_the_archive_is_left_alone_where_a_live_entry_answers(
    ada: MemoryClient, archive: Archive
) -> None:
    await archive(LATEX)
    await ada.add("Nora is allergic to walnuts.", at=NOON)

    assert contents_of(await ada.retrieve(QUESTION)) == [("Nora is allergic to walnuts.", False)]


async def test_a_live_entry_about_the_same_does_not_hide_an_archived_answer(
    ada: MemoryClient, archive: Archive
) -> None:
    await archive("Ottoline is writing her doctorate on lichens.")
    await ada.add("Ottoline moves to Bergen in January.", at=NOON)

    found = await ada.retrieve("What is Ottoline's doctorate about?")

    assert contents_of(found) == [
        ("Ottoline moves to Bergen in January.", False),
        ("Ottoline is writing her doctorate on lichens.", True),
    ]
    assert found.results[0].score > 0.5


async def test_a_prompt_marks_what_is_archived(ada: MemoryClient, archive: Archive) -> None:
    await archive(LATEX)

    question = f"{QUESTION} What does the staging server run?"
    texts = [
        (await ada.auto_retrieve(question, "chat")).text,
        (await ada.context_for_query(question)).text,
    ]

    for text in texts:
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        assert {line["memory"]: line.get("archived") for line in lines} == {
            "The staging server runs Debian.": None,
            LATEX: True,
        }


async def test_a_setting_leaves_the_archive_out_of_searches(
    ada: MemoryClient, archive: Archive
) -> None:
    await archive(LATEX)
    policy = PRESETS["mnestic"].model_copy(update={"archived": "never"})

    assert (await ada.retrieve(QUESTION, policy=policy)).results == ()
    await ada.settings.change(archived="never")
    assert (await ada.retrieve(QUESTION)).results == ()
    await ada.settings.change(archived="when_empty")
    assert contents_of(await ada.retrieve(QUESTION)) == [(LATEX, True)]


@pytest.mark.parametrize("reason", ["by_hand", "merged", "compressed"])
async def test_what_a_person_archived_or_another_entry_quotes_is_not_found(
    ada: MemoryClient, archive: Archive, reason: ArchiveReason
) -> None:
    await archive(LATEX, reason=reason)

    assert (await ada.retrieve(QUESTION)).results == ()


async def test_filters_hold_in_the_archive_too(ada: MemoryClient, archive: Archive) -> None:
    await archive(LATEX, channel="mail")

    assert contents_of(await ada.retrieve(QUESTION, channel="mail", until=datetime.now(UTC))) == [
        (LATEX, True)
    ]
    assert (await ada.retrieve(QUESTION, channel="chat")).results == ()
    assert (await ada.retrieve(QUESTION, since=datetime.now(UTC))).results == ()
    assert (await ada.retrieve(QUESTION, tags=["home"])).results == ()


async def test_words_that_mean_something_to_full_text_search_are_looked_up_as_they_are(
    ada: MemoryClient, archive: Archive
) -> None:
    path = r"Nora keeps it in C:\old\'keys' & <b>."
    await archive(path)

    assert contents_of(await ada.retrieve(r"What is in C:\old\'keys'?")) == [(path, True)]


@pytest.mark.parametrize("is_archived_before", [True, False])
async def test_what_was_superseded_before_or_after_it_was_archived_is_not_found(
    ada: MemoryClient, learn: Learn, move: Move, *, is_archived_before: bool
) -> None:
    await learn(said(0, "I live in Haarlem.", speaker="Nora"))
    (old,), _ = await ada.entries.list(EntryQuery(speaker="Nora"))
    if is_archived_before:
        await move(old)
    await ada.facts.add("Nora", "lives_in", "Delft")
    if not is_archived_before:
        await move(old)

    found = await ada.retrieve("Where does Nora live?", min_score=0)

    assert old.content not in {one.entry.content for one in found.results}

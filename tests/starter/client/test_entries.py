"""An agent's entries from Python."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def listed(ada: MemoryClient, **asked: Any) -> list[Entry]:
    found, _ = await ada.entries.list(EntryQuery(**asked))
    return list(found)


async def test_identical_adds_at_once_leave_one_entry(ada: MemoryClient) -> None:
    entries = await asyncio.gather(
        *(ada.add("Tea, not coffee.", subjects=["Mara", "Jonas"]) for _ in range(10)),
        *(ada.add("Tea, not coffee.", subjects=["jonas", "MARA "]) for _ in range(10)),
    )

    assert len({entry.id for entry in entries}) == 1
    assert await listed(ada) == [entries[0]]


async def test_an_entry_does_not_wait_for_the_server_of_an_embedding_model(
    settings: Settings,
) -> None:
    away = {"embedding_model": "some-model", "openai_base_url": "http://127.0.0.1:9/v1"}
    async with await MnesticClient.connect(settings.model_copy(update=away)) as client:
        await client.memory("ada").add("Tea, not coffee.")
        stats = await client.memory("ada").stats()

    assert (stats.entries.total, stats.entries.embedded) == (1, {})


async def test_another_type_subject_speaker_session_or_content_is_another_entry(
    ada: MemoryClient,
) -> None:
    same: dict[str, Any] = {"entry_type": "insight", "subjects": ["Mara"]}
    added = [
        await ada.add("Tea.", **same),
        await ada.add("Tea!", **same),
        await ada.add("Tea.", **same | {"subjects": ["Jonas"]}),
        await ada.add("Tea.", **same | {"entry_type": "preference"}),
        await ada.add("Tea.", **same | {"session_id": "s2"}),
        await ada.add("Tea.", **same, speaker="Jonas"),
        await ada.add("Tea.", **same, source_id="mail-1"),
    ]

    again = await ada.add("Tea.", **same, source_id="mail-1")
    with pytest.raises(InvalidInputError, match="message added/mail-1: has another text"):
        await ada.add("Another tea.", source_id="mail-1")

    assert len({entry.id for entry in added}) == 7
    assert again == added[-1]


async def test_an_entry_has_the_text_of_its_stored_message(ada: MemoryClient) -> None:
    kept = Resource(
        session_id="s1",
        source_id="mail-1",
        channel="chat",
        speaker="Mara",
        content="Tea at nine.",
        at=NOON,
    )
    await ada.messages.append([kept])

    with pytest.raises(InvalidInputError, match="message s1/mail-1: was kept with another text"):
        await ada.add("Tea at ten.", session_id="s1", source_id="mail-1")
    added = await ada.add("Tea at nine.", session_id="s1", source_id="mail-1")

    assert await listed(ada) == [added]


async def test_all_that_is_said_of_an_entry_is_kept(ada: MemoryClient) -> None:
    first = await ada.add("The map is wrong.")

    entry = await ada.add(
        "The map is right.",
        entry_type="correction",
        subjects=["the map"],
        tags=["cartography"],
        aliases=["chart"],
        critical=True,
        parent=first.id,
        speaker="Mara",
        session_id="s1",
        source_id="m1",
        channel="mail",
        at=NOON,
        expires_at=NOON + timedelta(days=3650),
    )

    told = entry.model_dump(include={"content", "speaker", "session_id", "source_id", "channel"})
    assert list(told.values()) == ["The map is right.", "s1", "m1", "mail", "Mara"]
    assert (entry.subjects, entry.tags, entry.aliases) == (
        ("the map",),
        ("cartography",),
        ("chart",),
    )
    assert (entry.critical, entry.parent, entry.at) == (True, first.id, NOON)
    assert [child.id for child in await listed(ada, parent=first.id)] == [entry.id]
    assert first.speaker == "ada"


async def test_what_was_removed_comes_back_when_it_is_added_and_not_when_it_is_sent_again(
    ada: MemoryClient,
) -> None:
    message = Resource(
        session_id="s1", source_id="m1", channel="chat", speaker="Mara", content="Hello.", at=NOON
    )
    await ada.ingest([message])
    added = await ada.add("Tea, not coffee.")
    named = await ada.add("Rain.", source_id="mail-1")
    for entry in await listed(ada):
        await ada.entries.delete(entry.id)
    empty = await listed(ada)

    new = await ada.ingest([message])
    back = await ada.add("Tea, not coffee.")
    with pytest.raises(InvalidInputError, match="message added/mail-1: was removed"):
        await ada.add("Rain.", source_id="mail-1")

    assert (empty, new) == ([], 0)
    assert back.id not in {added.id, named.id}
    assert await ada.add("Tea, not coffee.") == back
    assert await listed(ada) == [back]
    assert (await ada.messages.count()).received == 1


async def test_an_entry_is_as_important_as_the_children_make_it(ada: MemoryClient) -> None:
    async def weights() -> list[float]:
        return [(await ada.entries.get(entry.id)).importance for entry in (one, two)]

    one, two = await ada.add("Tea."), await ada.add("Two.")
    alone = await weights()

    child = await ada.add("Green tea.", parent=one.id)
    below_one = await weights()
    await ada.entries.change(child.id, parent=two.id)
    below_two = await weights()
    await ada.entries.change(two.id, tags=["number"])
    changed = await weights()
    await ada.entries.delete(child.id)

    more = alone[0] + 0.03
    assert alone[0] == pytest.approx(alone[1])
    assert below_one == [pytest.approx(more), pytest.approx(alone[1])]
    assert below_two == changed == [pytest.approx(alone[0]), pytest.approx(more)]
    assert await weights() == pytest.approx(alone)


async def test_a_change_is_checked_and_nothing_else_is_touched(ada: MemoryClient) -> None:
    entry = await ada.add("Tea.", subjects=["Mara"])
    below = await ada.add("Green tea.", subjects=["Mara"], parent=entry.id)
    before = await ada.entries.get(entry.id)

    with pytest.raises(InvalidInputError, match="content: has no content"):
        await ada.entries.change(entry.id, content="")
    with pytest.raises(InvalidInputError, match="mood: is not known"):
        await ada.entries.change(entry.id, mood="good")
    with pytest.raises(InvalidInputError, match="cannot be above itself"):
        await ada.entries.change(entry.id, parent=entry.id)
    with pytest.raises(InvalidInputError, match="cannot be above itself"):
        await ada.entries.change(entry.id, parent=below.id)
    with pytest.raises(NotFoundError, match="no entry none"):
        await ada.entries.change(entry.id, parent="none")
    with pytest.raises(InvalidInputError, match="no change is given"):
        await ada.entries.change(entry.id)

    assert await ada.entries.get(entry.id) == before


@pytest.mark.usefixtures("worker")
async def test_facts_go_with_the_entry_that_alone_states_them_and_come_back_with_it(
    client: MnesticClient, ada: MemoryClient
) -> None:
    async def learned(memory: MemoryClient, agent_id: str) -> list[str]:
        await (await start_ingest(client, agent_id=agent_id)).result()
        return [fact.object for fact in (await memory.facts.list())[0]]

    words, eve = "Mara lives in Ghent.", client.memory("eve")
    one, *_ = [await ada.add(words, source_id=source) for source in "ab"]
    unlearned = await ada.add("Jonas lives in Utrecht.")
    await ada.entries.delete(unlearned.id)
    stated = await learned(ada, "ada")
    count = await ada.messages.count()
    shared = await ada.entries.delete(one.id, facts=True)
    for _ in range(2):
        entry = await eve.add(words)
        await learned(eve, "eve")
        await eve.entries.delete(entry.id, facts=True)
    gone = await eve.facts.list()
    await eve.add(words)
    back = await learned(eve, "eve")
    history = (await eve.facts.history("Mara", "lives_in")).facts
    await eve.facts.delete(history[-1].id)
    await eve.add(words)  # which is there

    assert stated == back == ["Ghent"]
    assert (count.learned, count.dropped) == (2, 1)
    assert (shared, len((await ada.facts.list())[0])) == ((), 1)
    assert gone == ((), None)
    assert [fact.status for fact in history] == ["deleted", "deleted", "active"]
    assert await learned(eve, "eve") == []


async def test_all_entries_that_a_query_selects_are_archived_together(ada: MemoryClient) -> None:
    kept = await ada.add("The map is wrong.", entry_type="correction")
    minor = [await ada.add(f"Tea {number}.", entry_type="context") for number in range(3)]
    assert {entry.level for entry in (kept, *minor)} == {"medium", "low"}

    archived = await ada.entries.archive_matching(EntryQuery(max_importance="medium"))

    assert archived == 3
    assert await listed(ada) == [kept]
    assert await listed(ada, min_importance="high") == []
    assert (await ada.entries.restore(minor[0].id)).id == minor[0].id


async def test_a_query_without_a_filter_archives_nothing(ada: MemoryClient) -> None:
    entry = await ada.add("The map is wrong.")

    with pytest.raises(InvalidInputError, match="give a filter"):
        await ada.entries.archive_matching(EntryQuery())

    assert await listed(ada) == [entry]


async def test_a_read_of_what_is_not_there_is_in_the_audit_log(client: MnesticClient) -> None:
    ada = client.memory("ada")

    for read in (ada.entries.get, ada.facts.reactivate, ada.entries.restore):
        with pytest.raises(NotFoundError):
            await read("gone")

    rows, _ = await client.audit().list(agent_id="ada")
    assert {(row.action, row.target, row.reason) for row in rows} == {
        ("entry.get", "gone", "refused: NotFoundError"),
        ("fact.get", "gone", "refused: NotFoundError"),
        ("archived_entry.get", "gone", "refused: NotFoundError"),
    }

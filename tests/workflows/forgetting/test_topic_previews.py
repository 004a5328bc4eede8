"""What would go is shown before, and nothing else goes after."""

from datetime import timedelta

import pytest

from mnestic.memory.errors import InvalidInputError, StaleRequestError
from mnestic.memory.forgetting.requests import CLOSE
from mnestic.memory.forgetting.topics import FORGOTTEN
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.conftest import Jobs
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import AT, forget, learn, said

pytestmark = pytest.mark.acceptance  # each previews whole memories


@pytest.mark.usefixtures("worker")
async def test_what_is_about_it_by_meaning_goes_with_its_copies_and_nothing_else(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    ended = "My marriage ended in court."
    await learn(
        client,
        said("1", ended),
        said("2", "I like tea."),
        said("3", "The divorcee next door sings."),
        said("4", "I am married to Tom, he says.", speaker="Lisa"),
    )
    await ada.add("I got divorced last year.")
    past = "The marriage of my parents ended."
    await ada.add(past, at=AT, expires_at=AT + timedelta(days=1))
    await ada.records.set("notes", "last", {"text": f"She said: {ended} Then we had tea."})

    shown = await ada.preview_forget("divorce")
    done = await forget(ada, "divorce")

    assert {(one.text, one.by) for one in shown.items if one.kind == "entry"} == {
        ("I got divorced last year.", "text"),
        (ended, "meaning"),
        (past, "meaning"),  # which has expired, and is forgotten all the same
    }
    assert all(one.score is None or one.score >= CLOSE for one in shown.items)
    assert done.purged["entry"] == 3
    assert scan("marriage") == {}
    record = await ada.records.get("notes", "last")
    assert record.value == {"text": f"{FORGOTTEN} Then we had tea."}
    left, _ = await ada.entries.list(EntryQuery())
    assert {entry.source_id for entry in left} == {"2", "3", "4"}


@pytest.mark.usefixtures("worker")
async def test_nothing_is_forgotten_without_the_token_of_a_preview(
    client: MnesticClient, ada: MemoryClient
) -> None:
    await learn(client, said("1", "My marriage ended in court."))

    with pytest.raises(InvalidInputError, match="confirm: is needed: look at what would go first"):
        await ada.forget("divorce")
    with pytest.raises(StaleRequestError, match="look again"):
        await ada.forget("divorce", confirm="0" * 32)
    tea = await ada.preview_forget("tea")
    with pytest.raises(StaleRequestError, match="look again"):
        await ada.forget("divorce", confirm=tea.token)

    assert len((await ada.entries.list(EntryQuery()))[0]) == 1


@pytest.mark.usefixtures("worker")
async def test_a_preview_holds_until_something_of_the_topic_changes(
    client: MnesticClient, ada: MemoryClient
) -> None:
    await learn(client, said("1", "I live in Paris."))
    shown = await ada.preview_forget("Paris")
    again = await ada.preview_forget("PARIS")
    await learn(client, said("2", "It rains."))
    await ada.records.set("notes", "last", "Buy milk.")
    beside = await ada.preview_forget("Paris")
    await ada.records.set("notes", "first", "Call Paris.")

    with pytest.raises(StaleRequestError, match="what would go has changed; look again"):
        await ada.forget("Paris", confirm=shown.token)
    after = await ada.preview_forget("Paris")
    done = await ada.forget("Paris", confirm=after.token)

    assert shown.token == again.token == beside.token != after.token
    assert done.items == after.items
    assert done.purged["long_term_record"] == 1


async def test_what_comes_after_the_preview_goes_by_its_words_and_not_by_meaning(
    ada: MemoryClient, scan: Scan, jobs: Jobs
) -> None:
    shown_before = await ada.add("My marriage ended in court.")
    shown = await ada.preview_forget("divorce")
    handle = await ada.forgetting.start("divorce", confirm=shown.token)
    await ada.add("They divorced in spring.")
    alike = await ada.add("The marriage of my parents ended.")

    async with jobs.worker():
        await handle.result()

    left, _ = await ada.entries.list(EntryQuery())
    assert [item.id for item in shown.items] == [shown_before.id]
    assert [entry.id for entry in left] == [alike.id]
    assert scan("divorced") == {}

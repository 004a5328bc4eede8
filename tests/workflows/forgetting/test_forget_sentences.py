"""`ForgetTopic` in messages of several sentences: those that speak of the topic go, and only what they say."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.transactions import Begin
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import facts_of, forget, learn, said

pytestmark = pytest.mark.acceptance  # each forgets whole memories and scans every table

TWO = "My sister Ida visits me on 3 July. Project Falcon starts in August."


LEFT = "My sister Ida visits me on 3 July."


@pytest.mark.usefixtures("worker")
async def test_a_fact_goes_only_if_what_is_forgotten_is_all_that_supports_it(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    await learn(client, said("1", f"{TWO} I live in Porto and I like Project Falcon."))
    before = await facts_of(ada)
    assert {"Falcon" in fact for fact in before} == {True, False}, before

    shown = await ada.preview_forget("Project Falcon")
    done = await ada.forget("Project Falcon", confirm=shown.token)

    after = await facts_of(ada)
    assert after == {fact for fact in before if "Falcon" not in fact}
    (entry,), _ = await ada.entries.list(EntryQuery())
    assert entry.content == entry.summary == f"{LEFT} I live in Porto."
    assert "Mara lives_in Porto" in after
    assert scan("falcon") == scan("august") == {}
    counted = {"entry": 1, "resource": 1, "embedding": 1, "fact": len(before) - len(after)}
    assert counted.items() <= shown.purged.items()
    assert {**shown.purged, "audit_log": 0} == {**done.purged, "audit_log": 0}
    assert ("sentence", f"entry {entry.id}", "Project Falcon starts in August.") in {
        (item.kind, item.id, item.text) for item in shown.items
    }
    assert {item.text for item in shown.items if item.kind == "fact"} == {
        fact for fact in before if "Falcon" in fact
    }


async def test_a_message_that_was_not_read_yet_is_learned_from_as_it_is_left(
    client: MnesticClient,
    ada: MemoryClient,
    memory: Memory,
    scan: Scan,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    begin: Begin,
) -> None:
    agent = {"tenant_id": client.settings.tenant_id, "agent_id": "ada"}
    await MemoryClient(client_caller(memory, **agent)).ingest(
        [said("1", TWO)]
    )  # which starts no extraction
    async with begin() as transaction:
        taken = await transaction.ingest_states.take("received", limit=10)

    async with run_worker():
        await forget(ada, "Project Falcon")
        async with begin() as transaction:
            await transaction.ingest_states.store_extracted(taken, extractor="slow")
        after = await ada.messages.count()
        await (await start_ingest(client, agent_id="ada")).result()

    assert (after.received, after.learned) == (1, 0), "what was read of it before is not taken"
    assert any("Ida" in fact for fact in await facts_of(ada))
    assert scan("falcon") == {}


@pytest.mark.usefixtures("worker")
async def test_an_archived_entry_is_cut_or_removed_as_others_are(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    await learn(
        client, said("1", TWO), said("2", "I like Project Falcon."), said("3", "I like tea.")
    )
    entries, _ = await ada.entries.list(EntryQuery())
    for entry in entries:
        await ada.entries.archive(entry.id)

    shown = await ada.preview_forget("Project Falcon")
    done = await ada.forget("Project Falcon", confirm=shown.token)

    assert scan("falcon") == scan("august") == {}
    counted = {"entry": 1, "archived_entry": 1, "resource": 2}
    assert counted.items() <= shown.purged.items()
    assert {**shown.purged, "audit_log": 0} == {**done.purged, "audit_log": 0}
    assert "Project Falcon starts in August." in {item.text for item in shown.items}
    archived, _ = await ada.entries.list_archived()
    left = {LEFT, "I like tea."}
    assert {one.entry.content for one in archived} == left
    for one in archived:
        await ada.entries.restore(one.entry.id)
    await (await start_ingest(client, agent_id="ada")).result()
    assert (await ada.stats()).entries.embedded.popitem()[1] >= len(left)
    found = await ada.retrieve("Who visits me?", kinds=["message"])
    assert found.results[0].entry.content == LEFT

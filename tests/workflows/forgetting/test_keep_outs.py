"""Keep-outs: what was forgotten is not learned again, by whichever way somebody repeats it, until that is lifted."""

import base64

import pytest
from pydantic import SecretStr

from mnestic.memory.errors import ConfigurationError, KeptOutError
from mnestic.memory.forgetting.requests import Suppression
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import contents, facts_of, learn, said

pytestmark = pytest.mark.usefixtures("worker")
TOPIC = "everything about Otilia / +33 6 12 34 56 78"


async def keep_out(memory: MemoryClient, topic: str = TOPIC) -> Suppression:
    shown = await memory.preview_forget(topic)
    await memory.forget(topic, confirm=shown.token, keep_out=True)
    return (await memory.forgetting.keep_outs())[-1]


async def test_messages_lose_what_is_kept_out_as_they_come_in(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    await learn(client, said("1", "Otilia lives in Oslo."))
    await keep_out(ada)

    await learn(
        client,
        said("2", "Otilia lives in Oslo."),
        said("3", "OTILIA lives in Oslo, but she moves. I like tea. Call 0033612345678."),
        said("4", "I live in Ghent."),
        said("5", "Good morning from me.", speaker="Otilia"),
    )

    assert await contents(ada) == {"I like tea.", "I live in Ghent."}
    assert await facts_of(ada) == {"Mara likes tea", "Mara lives_in Ghent"}
    assert scan("otilia") == scan("0033612345678") == scan("oslo") == {}


async def test_entries_and_facts_are_refused_with_the_way_to_lift_it(ada: MemoryClient) -> None:
    kept = await keep_out(ada)
    entry = await ada.add("Tea is hot.")

    for refused in (
        ada.add("Call +33 (0)6 12 34 56 78 at noon."),
        ada.add("She sings.", subjects=["Otilia"]),
        ada.add("She sings.", tags=["otilia"]),
        ada.facts.add("Otilia", "lives_in", "Oslo"),
        ada.facts.add("Kim", "phone", "0612345678"),
        ada.entries.change(entry.id, content="Otilia's tea is hot."),
        ada.records.set("people", "otilia", {"age": 30}),
        ada.records.set("people", "k", {"friends": ["Otilia"]}),
    ):
        with pytest.raises(KeptOutError, match=f"keep-outs lift {kept.id}"):
            await refused

    assert (await ada.add("Call +33 6 12 34 56 79 at noon.")).content
    assert await contents(ada) == {"Tea is hot.", "Call +33 6 12 34 56 79 at noon."}


@pytest.mark.acceptance
async def test_an_import_brings_nothing_of_it_back(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    await learn(client, said("1", "Otilia lives in Oslo."), said("2", "I live in Ghent."))
    await ada.facts.add("Otilia", "likes", "tea")
    await ada.records.set("people", "otilia", {"age": 30})
    lines = [line async for line in ada.export()]
    await keep_out(ada)
    assert scan("otilia") == {}

    bea = client.memory("bea")
    await keep_out(bea)
    for memory in (ada, bea):
        await memory.import_lines(lines)

    assert await contents(ada) == await contents(bea) == {"I live in Ghent."}
    assert scan("otilia") == scan("otilia", agent="bea") == {}
    assert await facts_of(bea) == {"Mara lives_in Ghent"}


async def test_who_has_another_key_or_none_writes_nothing(
    client: MnesticClient, ada: MemoryClient
) -> None:
    kept = await keep_out(ada, "Otilia")
    given = SecretStr(base64.b64encode(b"s" * 32).decode())
    other = client.settings.model_copy(update={"keep_out_key": given})
    none = client.settings.model_copy(update={"data_dir": client.settings.data_dir / "other"})

    for settings, why in ((other, "another key"), (none, "is needed")):
        async with await MemoryConnection.connect(settings) as connection:
            with pytest.raises(ConfigurationError, match=f"MNESTIC_KEEP_OUT_KEY.*{why}.*{kept.id}"):
                await connection.memory("ada").add("Tea is hot.")
            await connection.memory("bea").add("Tea is hot.")
    await (await start_ingest(client, agent_id="ada")).result()

    assert await contents(ada) == set()

"""Documents of collections that speak of a topic: shown, removed with every word, and left out of exports."""

from typing import Any

import pytest

from mnestic.memory.forgetting.export_lines import DocumentLine
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.forgetting.conftest import Scan

CONTRACT = {"Memory": {"vector": {"enabled": True, "collections": [{"collection_id": "guides"}]}}}
DOCUMENTS: tuple[dict[str, Any], ...] = (
    {"id": "towns", "content": "# Towns\n\nSnow fell.\n\n# Lakes\n\nThe lake of Zanzibar froze."},
    {"id": "trips", "content": "We went by boat.", "metadata": {"to": ["Zanzibar"]}},
    {"id": "food", "content": "Bread is baked at six.", "metadata": {"about": "bread"}},
)


@pytest.mark.usefixtures("worker")
async def test_documents_of_a_topic_go_with_every_word(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    await client.contracts().apply("*", CONTRACT)
    memory = await client.contract("ada")
    for document in DOCUMENTS:
        await memory.upsert("guides", document)
    await memory.upsert("guides", {"id": "bread", "content": "Zanzibar bakes."})
    await memory.upsert("guides", {"id": "bread", "content": "Ghent bakes."})
    shown = await ada.preview_forget("Zanzibar")
    lines = [line async for line in ada.export()]

    await ada.forget("Zanzibar", confirm=shown.token)
    left = [line async for line in ada.export()]
    await client.memory("bob").import_lines(left)
    there = await (await client.contract("bob")).search("bread", "guides")

    assert [one.text for one in shown.items] == ["The lake of Zanzibar froze.", "Zanzibar"]
    assert shown.purged["document"] == 2
    assert [one.id for one in lines if isinstance(one, DocumentLine)] == [
        *("bread", "food", "towns", "trips")
    ]
    assert [one.id for one in left if isinstance(one, DocumentLine)] == ["bread", "food"]
    assert scan("zanzibar") == {}
    assert scan("zanzibar", agent="ada/guides") == {}
    assert scan("ghent", agent="ada/guides").keys() >= {"entry", "posting"}
    assert there == ()  # until `IngestMessages` has made the vectors

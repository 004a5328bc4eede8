"""`mnestic memory import`: the whole way from a file of another program into memory."""

import json
from pathlib import Path

import pytest

from mnestic.starter.client.imports.storing import import_export
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.importers.programs.detection import find_export
from mnestic.starter.importers.programs.items import ImportOptions
from tests.starter.case_files import read_cases
from tests.starter.cli.conftest import Ask

ADA = ("--agent", "ada")
SAMPLES = Path(__file__).parents[2] / "importers" / "samples"
CHAT = "25/12/2024, 10:0{0} - Ines: I live in Utrecht {0}\n"


@pytest.mark.usefixtures("worker")
async def test_a_chat_is_imported_once_and_then_what_is_new_in_it(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Rowing.txt"
    notice = "25/12/2024, 10:00 - Ines created this group\n"
    path.write_text(notice + CHAT.format(1) + CHAT.format(2), encoding="utf-8")

    first = await ask("memory", "import", str(path), *ADA, "--timezone", "Europe/Rome", "--json")
    path.write_text(path.read_text(encoding="utf-8") + CHAT.format(3), encoding="utf-8")
    again = await ask("memory", "import", str(path), *ADA)
    listed = (await ask("memory", "list", *ADA, "--json")).document["entries"]

    assert first.document == read_cases(__file__, "imported")
    assert "whatsapp: 1 new, 2 known, 0 skipped; left out: 1 notice; " in again.out
    assert {(one["channel"], one["speaker"]) for one in listed} == {("Rowing", "Ines")}


@pytest.mark.usefixtures("worker")
async def test_a_store_becomes_records_which_stay_as_they_are(ask: Ask, tmp_path: Path) -> None:
    other = {"namespace": ["users", "yara"], "key": "prefs", "value": {"tea": "mint"}}
    changed = tmp_path / "later.json"
    changed.write_text(json.dumps([other]), encoding="utf-8")

    paths = (SAMPLES / "store.jsonl", SAMPLES / "store.jsonl", changed)
    done = [await ask("memory", "import", str(path), *ADA, "--json") for path in paths]
    first, again, later = (json.loads(one.out) for one in done)
    record = await ask("memory", "record", "get", "users/yara", "prefs", *ADA, "--json")

    assert (first["new"], first["known"]) == (2, 0)
    assert (again["new"], again["known"]) == (0, 2)
    assert [one["skipped"]["count"] for one in (first, again, later)] == [1, 1, 1]
    assert [one.code for one in done] == [2, 2, 2]
    assert record.document["value"] == {"tea": "rooibos", "cups": 2}


@pytest.mark.usefixtures("worker")
async def test_items_that_cannot_be_stored_are_listed_and_the_exit_code_says_so(
    ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "conversations.json"
    said = {"uuid": "m", "sender": "human", "text": "I row.", "created_at": "2026-05-01T10:00:00Z"}
    messages = [said, said | {"created_at": "soon"}, said, said | {"text": "I sail."}]
    path.write_text(json.dumps([None, {"uuid": "c", "chat_messages": messages}]), encoding="utf-8")

    done = await ask("memory", "import", str(path), *ADA)

    assert done.code == 2
    assert "claude: 1 new, 1 known, 3 skipped; " in done.out
    assert "refused: item 1: is no object\n" in done.err
    why = "has the id of another message, with other content"
    assert f"refused: item 2, message 4: {why}\n" in done.err
    assert f"error: file {path}: 3 of its items cannot be stored\n" in done.err


async def test_an_interrupted_import_continues(client: MnesticClient, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    lines = [f"25/12/2024, {n // 60}:{n % 60:02d} - Ines: I row {n}\n" for n in range(1200)]
    path.write_text("".join(lines), encoding="utf-8")
    export = find_export(path, ImportOptions(), source="file")
    assert export is not None
    memory = client.memory("ada")

    interrupted = import_export(memory, export)
    stored = (await anext(interrupted)).new
    await interrupted.aclose()  # type: ignore[attr-defined]
    reports = [report async for report in import_export(memory, export)]

    assert stored == 500
    assert (reports[-1].new, reports[-1].known) == (700, 500)
    assert (await memory.messages.count()).received == 1200


@pytest.mark.usefixtures("worker")
async def test_an_export_of_our_own_is_read_back(
    ask: Ask, client: MnesticClient, tmp_path: Path
) -> None:
    path = tmp_path / "ada.jsonl"
    record = ("memory", "record", "set", "prefs", "tea", "mint", *ADA)
    await ask(*record, "--metadata", '{"by": "Yara"}')
    await ask("memory", "export", *ADA, "--output", str(path))

    await ask("memory", "import", str(path), "--agent", "eve")
    refused = await ask(*record, "--metadata", "soon")

    (read,), _ = await client.memory("eve").records.list()
    assert (read.namespace, read.value, read.metadata) == ("prefs", "mint", {"by": "Yara"})
    assert "--metadata: is no JSON object" in refused.err

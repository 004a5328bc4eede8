"""`mnestic memory export`, and `mnestic memory ingest` of what it wrote."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient

Ask = Callable[..., Awaitable[Any]]
ADA, EVE = ("--agent", "ada"), ("--agent", "eve")
HEADER = '{"kind": "export", "version": %d, "tenant_id": "t", "agent_id": "a", "at": "2026-01-05T12:00:00Z"}\n'


@pytest.fixture
async def export(client: MnesticClient, ask: Ask, tmp_path: Path) -> Path:
    """The export of an agent that knows two things."""
    ada = client.memory("ada")
    await ada.add("Tea, not coffee. ü.", subjects=["Mara"], speaker="Mara")
    await ada.records.set("profile", "name", "Mara")
    path = tmp_path / "ada.jsonl"
    done = await ask("memory", "export", *ADA, "--output", str(path))
    assert done.code == 0, done.err
    assert (done.out, done.err) == ("", f"4 lines written to {path}\n")
    return path


def kinds(text: str) -> list[str]:
    return [json.loads(line)["kind"] for line in text.splitlines()]


def assert_is_whole(path: Path, shown: str) -> None:
    """Checks that a file says what was shown, that only its owner reads it, and that nothing is left beside it."""
    assert path.read_text(encoding="utf-8").splitlines()[1:] == shown.splitlines()[1:]
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(".ada")] == []


@pytest.mark.usefixtures("worker")
async def test_an_export_is_read_back_by_ingest(ask: Ask, export: Path) -> None:
    first = await ask("memory", "ingest", str(export), *EVE)
    again = await ask("memory", "ingest", str(export), *EVE, "--json")
    listed = await ask("memory", "list", *EVE, "--json")

    assert first.out == "4 lines; new: 1 message, 1 record.\n"
    assert again.document["lines"] == 4
    assert sum(number for name, number in again.document.items() if name != "lines") == 0
    assert [one["content"] for one in listed.document["entries"]] == ["Tea, not coffee. ü."]


async def test_an_export_goes_to_standard_output_and_to_a_file_of_its_owner(
    ask: Ask, export: Path
) -> None:
    shown = await ask("memory", "export", *ADA)

    assert kinds(shown.out) == ["export", "message", "record", "end"]
    assert_is_whole(export, shown.out)


@pytest.mark.usefixtures("export")
async def test_an_agent_without_memory_is_warned_of(ask: Ask) -> None:
    done = await ask("memory", "export", "--agent", "adda")

    assert kinds(done.out) == ["export", "end"]
    assert "did you mean ada?" in done.err


async def test_a_file_that_cannot_be_written_is_refused(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "no" / "such.jsonl"

    done = await ask("memory", "export", *ADA, "--output", str(path))

    assert f"--output {path}: cannot be written: No such file" in done.error(code=2)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (HEADER % 1 + '{"kind": "record", "namespace": "n"}\n', "line 2: record.key: is missing"),
        (HEADER % 1 + '{"kind": "poem"}\n', "line 2: Input tag 'poem' found using 'kind'"),
        (HEADER % 1 + '{"kind": "end", "li', "line 2: Invalid JSON: EOF while parsing"),
        (HEADER % 1 + "\n", "line 2: Invalid JSON"),
        (HEADER % 1, "export {path}: has no last line, so it was cut off after line 1"),
        (
            HEADER % 4 + '{"kind": "poem"}\n',
            "export {path}: is of version 4; this program reads up to 3",
        ),
    ],
)
async def test_what_is_wrong_with_a_line_is_one_error(
    ask: Ask, tmp_path: Path, text: str, error: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")

    done = await ask("memory", "ingest", str(path), *EVE)

    assert error.format(path=path) in done.error(code=2)


async def test_how_a_conversation_is_read_is_nothing_to_say_of_an_export(
    ask: Ask, export: Path
) -> None:
    done = await ask("memory", "ingest", str(export), *EVE, "--speaker", "Mara")

    assert f"--speaker: {export} is an export, which takes no such option" in done.error(code=2)

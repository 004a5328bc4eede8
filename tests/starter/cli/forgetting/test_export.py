"""`mnestic memory export`, and `mnestic memory ingest` of what it wrote."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.cli.conftest import Ask

ADA, EVE = ("--agent", "ada"), ("--agent", "eve")


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


def assert_is_whole(path: Path, shown: list[str]) -> None:
    """Checks that a file says what was shown, that only its owner reads it, and that nothing is left beside it."""
    assert path.read_text(encoding="utf-8").splitlines()[1:] == shown[1:]
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(".ada")] == []


async def test_an_export_is_of_its_owner_alone_and_is_read_back_by_ingest(
    ask: Ask, export: Path, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    shown = (await ask("memory", "export", *ADA)).out.splitlines()
    async with run_worker():  # which learns from the message, so that the next export differs
        first = await ask("memory", "ingest", str(export), *EVE)
        again = await ask("memory", "ingest", str(export), *EVE, "--json")
    listed = await ask("memory", "list", *EVE, "--json")
    refused = await ask("memory", "ingest", str(export), *EVE, "--speaker", "Mara")

    assert [json.loads(line)["kind"] for line in shown] == ["export", "message", "record", "end"]
    assert_is_whole(export, shown)
    assert first.out == "4 lines; new: 1 message, 1 record.\n"
    assert again.document["lines"] == 4
    assert sum(number for name, number in again.document.items() if name != "lines") == 0
    assert [one["content"] for one in listed.document["entries"]] == ["Tea, not coffee. ü."]
    assert f"--speaker: {export} is an export, which takes no such option" in refused.error(code=2)


def cut(path: Path, *, end: str) -> None:
    """Leaves the first line of an export, and another end."""
    header, *_ = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{header}\n{end}", encoding="utf-8")


async def test_a_line_that_cannot_be_read_is_named(ask: Ask, export: Path) -> None:
    for line, error in (
        ('{"kind": "record", "namespace": "n"}\n', "line 2: record.key: is missing"),
        ('{"kind": "end", "li', "line 2: Invalid JSON: EOF while parsing"),
        ("\n", "line 2: Invalid JSON"),
        ("", "has no last line, so it was cut off after line 1"),
    ):
        cut(export, end=line)
        assert error in (await ask("memory", "ingest", str(export), *EVE)).error(code=2)

"""`mnestic backup`: what the commands print, and how they refuse."""

from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.embedded.state import RuntimeState, write_state
from tests.starter.cli.conftest import Cli


@pytest.fixture
def backup(wired: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Runs a command on backups, in a folder of this test's, for a tenant with an entry."""
    monkeypatch.setenv("MNESTIC_BACKUP_DIRECTORY", str(tmp_path / "backups"))
    assert wired("memory", "add", "The ferry leaves at nine.", "--agent", "ada").code == 0

    def run(*words: str) -> Any:
        return wired("backup", *words)

    return run


def test_a_backup_is_made_listed_verified_and_restored(backup: Cli, wired: Cli) -> None:
    made = backup("create", "--json").document
    printed = backup("create", "--verify", "--keep", "1").out
    (listed,) = backup("list", "--json").document["backups"]
    table = backup("list").out
    verified = backup("verify", listed["id"]).out
    wired("memory", "add", "The ferry leaves at ten.", "--agent", "ada")

    restored = backup("restore", listed["id"], "--replace")

    entries = wired("memory", "list", "--agent", "ada", "--json").document["entries"]
    assert made["tables"]["entry"] == 1
    assert made["id"] != listed["id"]
    assert made["verified_at"] is None
    assert printed.startswith(
        f"{listed['id']}: tenant {listed['tenant_id']}, {listed['rows']} rows of "
    )
    assert printed.endswith("KiB, verified.\n1 older backup removed.\n")
    assert verified in printed
    assert [line.split()[0] for line in table.splitlines()] == ["id", listed["id"]]
    assert restored.out == (
        f"Restored tenant {listed['tenant_id']} from {listed['id']}: {listed['rows']} rows; indexes built: 0.\n"
    )
    assert "API keys are in no backup" in restored.err
    assert [entry["content"] for entry in entries] == ["The ferry leaves at nine."]


def test_of_the_embedded_runtime_the_folder_is_beside_its_data(
    wired: Cli, servers: RuntimeState, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write_state(data, servers)
    for name in ("MNESTIC_DATABASE_URL", "MNESTIC_DATABASE_ADMIN_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MNESTIC_DATA_DIR", str(data))

    made = wired("backup", "create")
    (listed,) = wired("backup", "list", "--json").document["backups"]

    assert (made.code, made.out.startswith(listed["id"])) == (0, True)
    assert (tmp_path / "data-backups" / listed["id"] / "manifest.json").exists()
    assert f"{tmp_path / 'data-backups'} is on the same disk as the data" in made.err


def test_without_a_folder_the_command_says_what_to_set(
    backup: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MNESTIC_BACKUP_DIRECTORY")

    error = backup("list").error(code=2)
    made = backup("create", "--directory", str(tmp_path / "elsewhere"), "--json").document

    assert "MNESTIC_BACKUP_DIRECTORY: is not set" in error
    assert (tmp_path / "elsewhere" / made["id"] / "manifest.json").exists()

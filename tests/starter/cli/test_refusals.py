"""What commands refuse: in one line, or with how they are used, and nothing is changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.starter.case_files import read_cases
from tests.starter.cli.conftest import Cli

GROUPS: list[dict[str, Any]] = read_cases(__file__, "refusals")
NODE = "id: say, kind: emit, channel: c, content: "
SAID = '{"role": "Ines", "content": "hello", "timestamp": "2025-03-01T09:00:00Z"}\n'
CHAT = "25/12/2024, 10:01 - Ines: I live in Utrecht\n"
FILES = {
    "list.json": "[1]",
    "bad.json": '{"x":\n}',
    "latin": b"\xe4\xe4",
    "loop.yaml": f"name: p\nnodes: [{{{NODE}hello, next: say}}]",
    "order.yaml": f"name: p\nnodes: [{{{NODE}'${{input.order}}', next: end}}]",
    "notes.txt": "nothing of the sort",
    "chat.txt": CHAT,
    "broken.txt": (CHAT * 600).encode() + b"\xff\n",
    "empty.json": '[{"ts": "1.1", "text": ""}]',
    "people.json": '[{"id": 7}]',
    "other.csv": "a,b\n",
    "cut.jsonl": SAID + SAID[:40],
}


@pytest.fixture
def _files(plan: Path) -> None:
    """The files that refusals name, beside the plan."""
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        plan.with_name(name).write_bytes(data)
    with ZipFile(plan.with_name("export.zip"), "w") as archive:
        archive.writestr("conversations.json", "[]")


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: " ".join(group["command"])[:20])
def test_what_cannot_be_is_one_clear_error_and_changes_nothing(
    wired: Cli, rows: Callable[[], dict[str, int]], tmp_path: Path, group: dict[str, Any]
) -> None:
    is_usage = group.get("usage", False)
    unclear = {}
    for words, why in group["refused"]:
        done = wired(*group["command"], *words, *group.get("always", ()))
        if is_usage:
            assert (done.code, done.out, "Traceback" in done.err) == (2, "", False), words
            assert "Usage: " in done.err, words
        error = " ".join(done.err.split()) if is_usage else done.error(code=2)
        if why not in error:
            unclear[" ".join(words)[:80]] = error[:200]

    assert unclear == {}
    assert wired("job", "list", "--json").document["jobs"] == []
    assert {table for table, number in rows().items() if number} <= {"audit_log"}
    assert not (tmp_path / "data").exists()

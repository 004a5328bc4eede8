"""How much memory a process may take, by the files in which Linux tells it."""

from pathlib import Path

import psutil
import pytest

from mnestic.memory.retrieval.caches import CACHE_BYTES
from mnestic.starter.machine import cache_bytes, memory_bytes
from tests.starter.case_files import read_cases

MIB = 2**20
NONE = 0x7FFFFFFFFFFFF000  # what the first version tells where there is no limit


def limits(folder: Path, said: str, files: dict[str, object]) -> int:
    (folder / "cgroup").write_text(said, encoding="utf-8")
    for name, limit in files.items():
        file = folder / "groups" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{limit}\n", encoding="utf-8")
    return memory_bytes(process_groups=folder / "cgroup", groups=folder / "groups")


def test_without_control_groups_it_is_the_machines(tmp_path: Path) -> None:
    machine = psutil.virtual_memory().total

    assert memory_bytes(process_groups=tmp_path / "none", groups=tmp_path) == machine
    assert 0 < memory_bytes() <= machine
    assert max(CACHE_BYTES, memory_bytes() // 32) >= cache_bytes() >= CACHE_BYTES


@pytest.mark.parametrize(
    ("said", "files"),
    read_cases(__file__, "machine_limits"),
    ids=["container", "pod", "the least", "version 1", "version 1, container"],
)
def test_a_container_may_have_less(tmp_path: Path, said: str, files: dict[str, object]) -> None:
    assert limits(tmp_path, said, files) == 64 * MIB


@pytest.mark.parametrize(
    ("said", "files"),
    [
        ("0::/a", {"memory.max": "max", "a/memory.max": "max"}),
        ("2:memory:/", {"memory/memory.limit_in_bytes": NONE}),
        ("0::/a\n1:name=systemd:/a:b", {}),
        ("0::\n\nmemory\n2:memory\n0::a\0b\n0::/../..", {"memory.max": "²"}),
    ],
    ids=["max", "version 1", "no files", "nonsense"],
)
def test_without_a_limit_it_is_the_machines(
    tmp_path: Path, said: str, files: dict[str, object]
) -> None:
    assert limits(tmp_path, said, files) == psutil.virtual_memory().total

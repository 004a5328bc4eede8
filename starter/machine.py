"""How much memory this process may take: the machine's, or what its container is let have of it.

Both the embedded Postgres and the caches of a process are measured by it.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import psutil

from mnestic.memory.retrieval.caches import CACHE_BYTES

_SHARE = 32  # of all memory, for the caches of a process
_MOST_SHARE = 4  # of a small one
_MOST_CACHE_BYTES = 2**30
_PROCESS_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")
_LINE = re.compile(r"^\d+:([^:\n]*):(.*)$", re.MULTILINE)


def memory_bytes(*, process_groups: Path = _PROCESS_GROUPS, groups: Path = _GROUPS) -> int:
    """All memory of the machine in bytes, or the least limit of a control group that the process is in.

    Args:
        process_groups: Where Linux tells which groups those are.
        groups: Where it tells their limits.

    Source: cgroups(7), of both versions.
    """
    return min((psutil.virtual_memory().total, *_limits(process_groups, groups)))


def cache_bytes() -> int:
    """The default size of a process's caches, in bytes."""
    memory = memory_bytes()
    return min(max(CACHE_BYTES, memory // _SHARE), _MOST_CACHE_BYTES, memory // _MOST_SHARE)


def _limits(process_groups: Path, groups: Path) -> Iterator[int]:
    """The limits that can be read: within a container the paths may be those outside of it, which are not there."""
    for controllers, path in _LINE.findall(_read(process_groups)):
        if not controllers:
            root, name = groups, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = groups / "memory", "memory.limit_in_bytes"
        else:
            continue
        within = PurePosixPath(path.lstrip("/"))
        for group in (within, *within.parents):
            limit = _read(root / group / name).strip()
            if limit.isdecimal():  # else there is none: "max"
                yield int(limit)


def _read(file: Path) -> str:
    """The content of a file; empty if it does not exist, as on another system. Names of groups may have any bytes."""
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except (OSError, ValueError):
        return ""

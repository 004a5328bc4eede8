"""The share of the processor that a session gets, where Linux shares it between sessions."""

from pathlib import Path


def niceness_of_session(pid: int) -> int | None:
    """The niceness of a process's session as a whole; None where this system has none."""
    group = Path(f"/proc/{pid}/autogroup")
    return int(group.read_text(encoding="ascii").split()[-1]) if group.exists() else None

"""The priority of processes: a session's process in Postgres gets that of ours, where both run on one Linux.

A process with a low priority leaves most of its work to Postgres, whose processes have the normal one.
"""

import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

from psycopg import BaseConnection

_PEER = struct.Struct("3i")  # process, user, group
_PROCESSES = Path("/proc")


def lower_priority(pid: int, niceness: int) -> None:
    """Gives a process a niceness, if it has a lower one.

    Where Linux shares the processor between sessions first (autogroups), a niceness counts within one session alone. So if
    the process leads a session, that gets it too.

    Raises:
        PermissionError: it is another user's.
    """
    if os.getpriority(os.PRIO_PROCESS, pid) < niceness:
        os.setpriority(os.PRIO_PROCESS, pid, niceness)
        group = _PROCESSES / str(pid) / "autogroup"
        if os.getsid(pid) == pid and group.exists():
            group.write_text(str(niceness), encoding="ascii")


def share_priority(connection: BaseConnection[Any]) -> None:
    """Gives the server's process of a connection our niceness, if that is above the normal one.

    Only what the socket proves to be on this machine is touched; a server of another user keeps its priority.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    pid = connection.info.backend_pid
    if niceness > 0 and (server := _local_server(connection)) and _parent_of(pid) == server:
        with suppress(PermissionError):
            lower_priority(pid, niceness)


def _local_server(connection: BaseConnection[Any]) -> int | None:
    """The process that listens at the other end of a Unix socket; None for other sockets, and where the system does not say it."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    with socket.socket(fileno=os.dup(connection.fileno())) as ours:
        if ours.family != socket.AF_UNIX:
            return None
        pid, _, _ = _PEER.unpack(ours.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return int(pid)


def _parent_of(pid: int) -> int | None:
    """The parent of a process; None if there is no such process here."""
    try:
        status = (_PROCESSES / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return None
    return int(status.rpartition(")")[2].split()[1])  # after the name come the state and the parent

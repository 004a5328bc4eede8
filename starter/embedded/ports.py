"""Chooses the ports of the embedded Temporal, and says who has one that was asked for.

It stands alone because it is a decision with three sources: the user, the last time, and what is free.
"""

import socket

import psutil

from mnestic.memory.errors import InUseError

LOOPBACK = "127.0.0.1"
LAST_PORT = 65535


def choose_port(
    wanted: int | None, *, option: str, last: int | None, first: int, but_not: int | None = None
) -> int:
    """The wanted port, else the last one used, else `first` or the next free one.

    Raises:
        InUseError: the wanted port is taken, or is wanted for `but_not`; names who has it.
    """
    mend = f"choose another port ({option})"
    if wanted is not None:
        if wanted == but_not:
            raise InUseError(what=f"port {wanted}", by="this runtime's other server", mend=mend)
        if not is_free(wanted):
            holder = find_holder(wanted)
            raise InUseError(what=f"port {wanted}", by=holder, mend=f"stop it, or {mend}")
        return wanted
    if last is not None and last != but_not and is_free(last):
        return last
    ports = range(first, LAST_PORT + 1)
    return next(port for port in ports if port != but_not and is_free(port))


def is_free(port: int) -> bool:
    """Whether a server may listen at the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def find_holder(port: int) -> str:
    """Who listens at a port, in words; systems differ in whom they tell."""
    try:
        pids = [c.pid for c in psutil.net_connections("tcp") if _listens(c.status, c.laddr, port)]
        process = psutil.Process(next(pid for pid in pids if pid is not None))
        return f"{process.name()} (pid {process.pid})"
    except (psutil.Error, StopIteration):
        return "another process"


def listens(pid: int, *ports: int) -> bool:
    """Whether a process listens at all these ports itself."""
    try:
        connections = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:  # it has ended, which its watcher reports
        return False
    return all(any(_listens(c.status, c.laddr, port) for c in connections) for port in ports)


def _listens(status: str, address: object, port: int) -> bool:
    return status == psutil.CONN_LISTEN and getattr(address, "port", None) == port

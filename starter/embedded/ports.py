"""Chooses the ports of the embedded servers, and names the process that has a requested one.

It is a decision with three sources: the user, the last time, and what is free.
"""

import secrets
import socket

import psutil

from mnestic.memory.errors import InUseError

LOOPBACK = "127.0.0.1"
LAST_PORT = 65535
PORT_TRIES = 5  # to start a server: another may take a free port before it does
# What no web page reaches, whatever a name resolves to: ports that browsers block, and that need no
# privilege. Source: the Fetch standard, "port blocking"; only those that all browsers block for years.
BLOCKED_BY_BROWSERS = (
    *(1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000, 6566),
    *(6665, 6666, 6667, 6668, 6669, 6697, 10080),
)


def choose_port(
    wanted: int | None, *, option: str, last: int | None, first: int, but_not: int | None = None
) -> int:
    """The wanted port, else the last one used, else `first` or the next free one.

    Raises:
        InUseError: the wanted port is taken, or is wanted for `but_not`; names who has it.
    """
    remedy = f"choose another port ({option})"
    if wanted is not None:
        if wanted == but_not:
            raise InUseError(what=f"port {wanted}", by="this runtime's other server", remedy=remedy)
        if not is_free(wanted):
            holder = find_holder(wanted)
            raise InUseError(what=f"port {wanted}", by=holder, remedy=f"stop it, or {remedy}")
        return wanted
    if last is not None and last != but_not and is_free(last):
        return last
    ports = range(first, LAST_PORT + 1)
    return next(port for port in ports if port != but_not and is_free(port))


def choose_socket_folder() -> tuple[str, int]:
    """A loopback address and a free port there that no web page reaches.

    Where the system has all of 127.0.0.0/8, as Linux does, the address is this call's own, so that
    many runtimes find one.

    Raises:
        InUseError: all those ports are taken.
    """
    own = ".".join(("127", *(str(1 + secrets.randbelow(254)) for _ in range(3))))
    for host in (own, LOOPBACK):
        port = find_hidden_port(host)
        if port is not None:
            return host, port
    what = "each port that web browsers leave alone"
    raise InUseError(what=what, by="other servers", remedy="stop one of the runtimes")


def find_hidden_port(host: str = LOOPBACK) -> int | None:
    """A free port of an address that no web page reaches, None when all are taken."""
    ports = [port for port in BLOCKED_BY_BROWSERS if is_free(port, host)]
    return secrets.choice(ports) if ports else None


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server may listen at the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def find_holder(port: int) -> str:
    """A description of the process that listens at a port, as far as the system shows it."""
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

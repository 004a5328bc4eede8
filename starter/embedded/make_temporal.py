"""The two ways to make Temporal's dev server: the SDK's own download, and a build with Go.

Each is a child process with a limit, whose failure is not the end but a reason to go on.
"""

import hashlib
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import platformdirs

from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup, ProcessSpec

CLI_VERSION = "1.9.1"
BUILD_LIMIT_S = 1800.0
POLL_S = 0.5


class NotMade(NamedTuple):
    """One way did not work, and why; the search continues with the next."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where to look, and what to build.

    `path` is searched for `temporal` and `go` (None: the environment's PATH). A download is given
    up when nothing has arrived for `download_stall_s` seconds.
    """

    cache_dir: Path = field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("mnestic", appauthor=False))
    )
    path: str | None = None
    module_dir: Path = Path(__file__).parent / "temporal"
    package: str = "github.com/temporalio/cli/cmd/temporal"
    download_stall_s: float = 20.0
    reported_packages: int = 200  # of a build, between two lines of its progress

    @property
    def log(self) -> Path:
        """The output of downloads and builds."""
        return self.cached.with_name("provisioning.log")

    @property
    def cached(self) -> Path:
        """The program's place in the cache, named by its version and by the pins of its build."""
        pins = (self.module_dir / name for name in ("go.mod", "go.sum"))
        digest = hashlib.sha256(b"".join(pin.read_bytes() for pin in pins)).hexdigest()
        return self.cache_dir / "temporal" / f"{CLI_VERSION}-{digest[:12]}" / "temporal"


async def download(draft: Path, sources: Sources, processes: ProcessGroup) -> Path | NotMade:
    """Downloads into the directory `draft`; gives up when no data arrives for too long.

    Raises:
        ProcessCrashedError: the download could not be started.
    """
    target = draft / "download"
    target.mkdir()
    module = "mnestic.starter.embedded.sdk_download"
    spec = ProcessSpec(
        name="the download of Temporal",
        command=(sys.executable, "-P", "-m", module, target),
        log=sources.log,
    )
    async with _running(spec, processes) as part:
        size, since = -1, time.monotonic()
        while await part.wait(POLL_S) is None:
            if (now := _size(target)) != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > sources.download_stall_s:
                return NotMade(f"nothing came for {sources.download_stall_s:.0f} s")
    complete = [path for path in target.iterdir() if path.suffix != ".downloading"]
    if not complete:
        return NotMade(_last_line(spec.log))
    return complete[0]


async def build(
    draft: Path,
    sources: Sources,
    processes: ProcessGroup,
    *,
    report: Callable[[str], None],
) -> Path | NotMade:
    """Builds in the directory `draft`, from the module's pins alone, and reports how many packages are compiled.

    Raises:
        ProcessCrashedError: the build could not be started.
    """
    module, program = draft / "module", draft / "temporal"
    shutil.copytree(sources.module_dir, module)
    version = f"-X github.com/temporalio/cli/internal/temporalcli.Version={CLI_VERSION}"
    flags = ("-trimpath", "-ldflags", f"-s -w {version}", "-o", program)
    spec = ProcessSpec(
        name="the build of Temporal",
        command=(
            str(shutil.which("go", path=sources.path)),
            "build",
            "-v",
            *flags,
            sources.package,
        ),
        log=sources.log,
        stop_signal=signal.SIGINT,  # go ends its compilers, too
        cwd=module,
        env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},  # no C compiler is needed
    )
    begun, reported, before = time.monotonic(), 0, _packages(spec.log)
    async with _running(spec, processes) as part:
        while (exit_code := await part.wait(POLL_S)) is None:
            if time.monotonic() - begun > BUILD_LIMIT_S:
                break
            compiled = _packages(spec.log) - before
            if compiled >= reported + sources.reported_packages:
                reported = compiled
                report(f"{compiled} packages compiled")
    if exit_code is None:
        return NotMade(f"it was not done after {BUILD_LIMIT_S:.0f} s; its log is {spec.log}")
    if exit_code != 0:
        why = _last_line(spec.log)
        return NotMade(f"exit code {exit_code}: {why}; its log is {spec.log}")
    return program


@asynccontextmanager
async def _running(spec: ProcessSpec, processes: ProcessGroup) -> AsyncIterator[ManagedProcess]:
    """The started part, which does not outlive the block."""
    part = await processes.start(spec)
    try:
        yield part
    finally:
        await part.stop()


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _packages(log: Path) -> int:
    """How many packages a log of builds names."""
    lines = log.read_bytes().splitlines() if log.exists() else ()
    return sum(not line.startswith(b"go: ") for line in lines)


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")

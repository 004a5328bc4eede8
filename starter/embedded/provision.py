"""Finds a Temporal dev server, or makes one: on PATH, in our cache, by download, by a build.

It is the only thing that may take minutes, and it happens once on a machine: one process at a time does it, into a user
cache keyed by version, and the others wait for that one.
"""

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from mnestic.memory.errors import ProcessCrashedError, ProvisioningError
from mnestic.starter.embedded.make_temporal import (
    CLI_VERSION,
    NotMade,
    Sources,
    build,
    download,
)
from mnestic.starter.embedded.process_group import ProcessGroup

OLDEST_VERSION = (1, 9, 0)  # the first that can skip time for one workflow
VERSION_LIMIT_S = 20.0
LOCK_POLL_S = 0.2
REMEDY = (
    "Install the Temporal CLI (https://docs.temporal.io/cli) or Go 1.21 or newer (https://go.dev/doc/install) and "
    "start again, or set TEMPORAL_ADDRESS to a server of your own"
)


async def find_temporal(
    report: Callable[[str], None], processes: ProcessGroup, *, sources: Sources | None = None
) -> Path:
    """The program of Temporal's dev server; one line is reported a step.

    Raises:
        ProvisioningError: no way worked; names each.
    """
    search = _Search(report, processes, sources or Sources())
    found = await search.on_path() or search.in_cache()
    if found is None:
        async with search.alone():
            found = (
                search.in_cache() or await search.made_by_download() or await search.made_by_go()
            )
    if found is None:
        raise ProvisioningError(tried=tuple(search.tried), remedy=REMEDY)
    return found


class _Search:
    """One search, and what it has tried so far."""

    def __init__(
        self, report: Callable[[str], None], processes: ProcessGroup, sources: Sources
    ) -> None:
        self.tried: list[str] = []
        self._report = report
        self._processes = processes
        self._sources = sources

    async def on_path(self) -> Path | None:
        found = shutil.which("temporal", path=self._sources.path)
        if found is None:
            self.tried.append("temporal on PATH (there is none)")
            return None
        version = await _version_of(Path(found))
        if version is None or version < OLDEST_VERSION:
            version_text = (
                "of unknown version" if version is None else f"version {_dotted(version)}"
            )
            self.tried.append(
                f"{found} ({version_text}, {_dotted(OLDEST_VERSION)} or newer is needed)"
            )
            self._report(
                f"{found} is {version_text}; {_dotted(OLDEST_VERSION)} or newer is needed, searching on"
            )
            return None
        self._report(f"Temporal {_dotted(version)} found: {found}")
        return Path(found)

    def in_cache(self) -> Path | None:
        cached = self._sources.cached
        if not os.access(cached, os.X_OK):
            return None
        self._report(f"Temporal {CLI_VERSION} found: {cached}")
        return cached

    async def made_by_download(self) -> Path | None:
        self._report(f"Downloading Temporal {CLI_VERSION} (once on this machine)")
        return await self._made("the SDK's download", download)

    async def made_by_go(self) -> Path | None:
        if shutil.which("go", path=self._sources.path) is None:
            self.tried.append("a build with Go (there is no go on PATH)")
            return None
        self._report(
            f"Building Temporal {CLI_VERSION} with Go (about 5 minutes, once on this machine)"
        )
        return await self._made("a build with Go", partial(build, report=self._report))

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """While no other process provisions into the same place."""
        cached = self._sources.cached
        try:
            cached.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(cached.parent / "lock", thread_local=False)
            waited = False
            while not _try_acquire(lock):
                if not waited:
                    self._report("Another process is provisioning Temporal; waiting for it")
                waited = True
                await asyncio.sleep(LOCK_POLL_S)  # a file lock wakes no one
        except OSError as error:
            self.tried.append(f"the cache {cached.parent} ({error.strerror})")
            raise ProvisioningError(tried=tuple(self.tried), remedy=REMEDY) from error
        try:
            yield
        finally:
            lock.release()

    async def _made(
        self, how: str, make: Callable[[Path, Sources, ProcessGroup], Awaitable[Path | NotMade]]
    ) -> Path | None:
        cached = self._sources.cached
        for leftover in cached.parent.glob("draft-*"):  # of a process that was killed here
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix="draft-", dir=cached.parent) as draft:
            try:
                made = await make(Path(draft), self._sources, self._processes)
            except ProcessCrashedError as error:
                made = NotMade(str(error))
            if isinstance(made, Path) and await _version_of(made) is None:
                made = NotMade("what came out does not run")
            if isinstance(made, NotMade):
                self.tried.append(f"{how} ({made.why})")
                self._report(f"That did not work: {made.why}")
                return None
            made.replace(cached)
        return cached


def _try_acquire(lock: FileLock) -> bool:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True


async def _version_of(program: Path) -> tuple[int, ...] | None:
    """The version that `temporal --version` prints; None if it prints none."""
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:  # not a program for this machine
        return None
    try:
        async with asyncio.timeout(VERSION_LIMIT_S):
            output, _ = await process.communicate()
    except TimeoutError:
        return None
    finally:
        with suppress(ProcessLookupError):  # it has ended, as it should
            process.kill()
        await process.wait()
    match = re.search(rb"(\d+)\.(\d+)\.(\d+)", output)
    return tuple(int(number) for number in match.groups()) if match else None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in version)

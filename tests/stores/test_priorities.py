"""Postgres works for a process of low priority with low priority."""

import asyncio
import os
import sys

import psutil
import pytest

from tests.priorities import niceness_of_session

# A process of its own, since no process may raise its priority again.
_PROGRAM = """
import asyncio, os, sys
from mnestic.stores.postgres.memory import PostgresMemory

async def main():
    os.nice(int(sys.argv[1]))
    memory = PostgresMemory(sys.argv[2], pool_size=1)
    async with memory.pool.connect() as connection:
        print(connection.info.backend_pid, flush=True)
        await asyncio.to_thread(sys.stdin.read)
    await memory.close()

asyncio.run(main())
"""


@pytest.mark.acceptance
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux names the process behind a socket")
@pytest.mark.parametrize("more", [0, 3])
async def test_a_sessions_process_has_the_priority_of_ours(more: int, application_url: str) -> None:
    url = application_url
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _PROGRAM, str(more), url),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    backend = psutil.Process(int(await process.stdout.readline()))
    server = backend.parent()
    assert server is not None

    niceness, of_session = backend.nice(), niceness_of_session(backend.pid)
    await process.communicate(b"")  # which closes its input

    ours = os.getpriority(os.PRIO_PROCESS, 0) + more
    assert niceness == max(server.nice(), ours)
    assert of_session in (None, niceness if niceness > server.nice() else 0)

"""`python writing_process.py add|contradict NAME GO`: writes many times, once the file GO is there."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import load_settings
from mnestic.starter.wiring import find_endpoints, open_memory

TIMES = {"add": 25, "contradict": 10}


async def add(memory: MemoryClient, _name: str) -> None:
    await memory.add("Ana collects stamps.", subjects=["Ana"])


async def contradict(memory: MemoryClient, name: str) -> None:
    await memory.facts.add("Ana", "lives_in", name)


WRITES: dict[str, Callable[[MemoryClient, str], Awaitable[None]]] = {
    "add": add,
    "contradict": contradict,
}


def wait_for(go: Path) -> None:
    while not go.exists():
        time.sleep(0.005)


async def main(what: str, name: str, go: Path) -> None:
    settings = load_settings()
    memory = open_memory(find_endpoints(settings))
    client = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"))
    print("ready", flush=True)  # noqa: T201 - the test waits for it
    await asyncio.to_thread(wait_for, go)
    for number in range(TIMES[what]):
        await WRITES[what](client, f"{name} {number}")
    await memory.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))

"""`python sharing_process.py NAME STEPS`: does so many operations of shared memory by chance, and prints what was acknowledged."""

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

from mnestic.memory.errors import (
    AccessDeniedError,
    LockedError,
    LockLostError,
    NotFoundError,
    StaleVersionError,
    UnavailableError,
)
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import load_settings
from mnestic.starter.wiring import find_endpoints, open_memory

SPACE, SECRET = "seo:audit", "seo:secret"
KEYS = ("a", "b", "c", "d")
NO_VERSION = 2**31 - 1


class Agent:
    """One agent, which does its steps by chance."""

    def __init__(self, memory: ContractMemory, name: str) -> None:
        self._memory, self._chance = memory, random.Random(name)
        self._seen: dict[str, int] = {}

    async def step(self, number: int) -> None:
        steps: tuple[tuple[int, Callable[[str, int], Awaitable[None]]], ...] = (
            (3, self._set),
            (3, self._get),
            (2, self._write_locked),
            (1, self._write_without),
            (1, self._publish),
            (1, self._pry),
        )
        weights = [weight for weight, _ in steps]
        ((_, step),) = self._chance.choices(steps, weights)
        await step(self._chance.choice(KEYS), number)

    async def _set(self, key: str, number: int) -> None:
        await self._memory.set_shared(SPACE, f"free-{key}", number)

    async def _get(self, key: str, _: int) -> None:
        with suppress(NotFoundError):
            version = (await self._memory.get_shared(SPACE, key)).version
            assert version >= self._seen.get(key, 0), "a version goes back"
            self._seen[key] = version

    async def _write_locked(self, key: str, _: int) -> None:
        """Adds its token to those that have written; at times its lease runs out before."""
        with suppress(LockedError, LockLostError):
            async with self._memory.lock(SPACE, key) as held:
                try:
                    tokens = (await self._memory.get_shared(SPACE, key)).value
                except NotFoundError:
                    tokens = []
                if self._chance.random() < 0.1:
                    await asyncio.sleep(self._chance.random() * 0.6)
                await held.set([*tokens, held.lock.token])
                print(f"wrote {key} {held.lock.token}", flush=True)  # noqa: T201 - the test reads it

    async def _write_without(self, key: str, _: int) -> None:
        """A write that follows no version that there is: it is refused, by the lock or by the version."""
        try:
            await self._memory.set_shared(SPACE, key, [], expected_version=NO_VERSION)
        except (LockedError, StaleVersionError):
            return
        raise AssertionError("it was written")

    async def _publish(self, _: str, number: int) -> None:
        print("event", await self._memory.publish("steps", {"n": number}), flush=True)  # noqa: T201

    async def _pry(self, key: str, _: int) -> None:
        try:
            await self._memory.get_shared(SECRET, key)
        except AccessDeniedError:
            return
        raise AssertionError("it was read")


async def main(name: str, steps: int) -> None:
    settings = load_settings()
    memory = open_memory(find_endpoints(settings))
    client = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id=name))
    agent = Agent(await client.contract(), name)
    print("ready", flush=True)  # noqa: T201
    for number in range(steps):
        with suppress(UnavailableError):  # a stop within a transaction ends it
            await agent.step(number)
        print("step", flush=True)  # noqa: T201
    await memory.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))

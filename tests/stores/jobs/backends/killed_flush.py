"""A process that is killed while it flushes an agent's records: before it sends them, or before it notes that it has.

Arguments: the addresses of memory and of the backend, the tenant, and where it dies.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from mnestic.memory.jobs.long_term.backends import BackendRecord, RemoteBackend
from mnestic.memory.jobs.ports import RecordBackend
from mnestic.starter.contract.record_backends import OpenBackends
from mnestic.stores.postgres.memory import PostgresMemory


class _Dying:
    def __init__(self, backend: RecordBackend, *, is_sent: bool) -> None:
        self._backend, self._is_sent = backend, is_sent

    async def write(self, records: Sequence[BackendRecord]) -> None:
        if self._is_sent:
            await self._backend.write(records)
        os.kill(os.getpid(), signal.SIGKILL)


class _DyingBackends(OpenBackends):
    async def open(self, backend: RemoteBackend) -> RecordBackend:
        is_sent = sys.argv[4] == "after"
        return _Dying(await super().open(backend), is_sent=is_sent)  # type: ignore[return-value]


async def main() -> None:
    url, address, tenant, _ = sys.argv[1:]
    backends = _DyingBackends({"REMOTE": address, "REDIS": address})
    memory = PostgresMemory(url, pool_size=1, backends=backends)
    await memory.flush_records(tenant_id=tenant, agent_id="ada")


if __name__ == "__main__":
    asyncio.run(main())

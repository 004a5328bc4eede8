"""Opens the backends that contracts name, with the secrets of this process's environment."""

from collections.abc import Mapping

from mnestic.memory.contract.variables import filled
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.jobs.long_term.backends import RemoteBackend
from mnestic.memory.jobs.ports import RecordBackend
from mnestic.stores.postgres.jobs.remote_records import RemotePostgresRecords

_PREFIX = "mnestic_"


class OpenBackends:
    """Implements `mnestic.memory.jobs.ports.RecordBackends`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._opened: dict[tuple[str, str, str | None], RecordBackend] = {}

    async def open(self, backend: RemoteBackend) -> RecordBackend:
        """See the port."""
        address = filled({"connection_string": backend.connection_string}, self._environment)[
            "connection_string"
        ]
        key = (backend.backend_id, address, backend.table_prefix)
        if key not in self._opened:
            self._opened[key] = _open(backend, address)
        return self._opened[key]

    async def close(self) -> None:
        """See the port."""
        opened, self._opened = self._opened, {}
        for backend in opened.values():
            await backend.close()


def _open(backend: RemoteBackend, address: str) -> RecordBackend:
    if backend.type != "redis":
        return RemotePostgresRecords(
            address,
            backend_id=backend.backend_id,
            prefix=_PREFIX if backend.table_prefix is None else backend.table_prefix,
        )
    try:
        from mnestic.stores.redis.records import RedisRecords  # noqa: PLC0415 - the package is an extra
    except ImportError:
        why = "needs the package redis; install mnestic[redis]"
        raise ConfigurationError(setting=f"backend {backend.backend_id}", why=why) from None
    return RedisRecords(address, backend_id=backend.backend_id, prefix=backend.table_prefix or "")

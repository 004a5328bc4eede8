"""API keys in Postgres."""

from typing import Any

from mnestic.memory.access.api_keys import ApiKey
from mnestic.memory.access.ports import StoredKey
from mnestic.memory.errors import AlreadyExistsError, NotFoundError
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ADD, _FIND = read_query("api_keys.add"), read_query("api_keys.find")
_LIST, _REVOKE = read_query("api_keys.list"), read_query("api_keys.revoke")


class PostgresApiKeyStore:
    """Implements `mnestic.memory.access.ports.ApiKeyStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, key: ApiKey, *, sha256: str) -> None:
        """See the port."""
        scope = {"agents": as_json(key.scope.agents), "actions": as_json(key.scope.actions)}
        columns = key.model_dump(include={"id", "created_at", "expires_at", "revoked_at"})
        if not await self._unit.write(_ADD, sha256=sha256, **columns, **scope):
            raise AlreadyExistsError(what="API key", name=key.id)
        self._unit.wrote("api_key.add", key.id)

    async def find(self, key_id: str) -> StoredKey | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND, id=key_id)
        return None if row is None else StoredKey(_key(row), row.sha256)

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ApiKey, ...], str | None]:
        """See the port."""
        before, before_id = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST, before=before, before_id=before_id, limit=check_limit(limit) + 1
        )
        self._unit.read("api_key.list", "*")
        found = tuple(map(_key, rows[:limit]))
        if len(rows) <= limit:
            return found, None
        return found, encode_cursor(found[-1].created_at.isoformat(), found[-1].id)

    async def revoke(self, key_id: str) -> ApiKey:
        """See the port."""
        row = await self._unit.fetch_one(_REVOKE, id=key_id)
        if row is None:
            raise NotFoundError(what="API key", name=key_id)
        self._unit.wrote("api_key.revoke", key_id)
        return _key(row)


def _key(row: Any) -> ApiKey:
    columns = row._asdict()
    scope = {"agents": tuple(columns["agents"]), "actions": tuple(columns["actions"])}
    return read_stored(ApiKey, {**columns, "scope": scope}, what=f"API key {row.id}")

"""API keys in Postgres."""

from typing import Any

from sqlalchemy import bindparam, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.access.api_keys import ApiKey
from mnestic.memory.access.ports import StoredKey
from mnestic.memory.errors import AlreadyExistsError, NotFoundError
from mnestic.stores.postgres.access.tables import ApiKeyRow
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

KEY = table(ApiKeyRow)
_OF_TENANT = KEY.c.tenant_id == bindparam("in_tenant")
_ADD = insert(KEY).on_conflict_do_nothing()
_FIND = select(*KEY.c).where(_OF_TENANT, KEY.c.id == bindparam("of_id"))
_LIST = (
    select(*KEY.c)
    .where(_OF_TENANT)
    .order_by(KEY.c.created_at.desc(), KEY.c.id.desc())
    .limit(bindparam("at_most"))
)
_REVOKE = (
    update(KEY)
    .where(_OF_TENANT, KEY.c.id == bindparam("of_id"))
    .values(revoked_at=func.coalesce(KEY.c.revoked_at, func.now()))
    .returning(*KEY.c)
)


class PostgresApiKeyStore:
    """Implements `mnestic.memory.access.ports.ApiKeyStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, key: ApiKey, *, sha256: str) -> None:
        """See the port."""
        values = {
            "tenant_id": self._unit.tenant_id,
            **key.model_dump(include={"id", "created_at", "expires_at", "revoked_at"}),
            "sha256": sha256,
            "agents": [*key.scope.agents],
            "actions": [*key.scope.actions],
        }
        if not await self._unit.run(_ADD, values):
            raise AlreadyExistsError(what="API key", name=key.id)
        self._unit.wrote("api_key.add", key.id)

    async def find(self, key_id: str) -> StoredKey | None:
        """See the port."""
        row = await self._unit.row(_FIND, self._of(key_id))
        return None if row is None else StoredKey(_key(row), row.sha256)

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ApiKey, ...], str | None]:
        """See the port."""
        statement = _LIST
        if cursor is not None:
            after = decode_time_cursor(cursor)
            statement = statement.where(tuple_(KEY.c.created_at, KEY.c.id) < after)
        values = {"in_tenant": self._unit.tenant_id, "at_most": check_limit(limit) + 1}
        rows = await self._unit.rows(statement, values)
        self._unit.read("api_key.list", "*")
        found = tuple(map(_key, rows[:limit]))
        if len(rows) <= limit:
            return found, None
        return found, encode_cursor(found[-1].created_at.isoformat(), found[-1].id)

    async def revoke(self, key_id: str) -> ApiKey:
        """See the port."""
        row = await self._unit.row(_REVOKE, self._of(key_id))
        if row is None:
            raise NotFoundError(what="API key", name=key_id)
        self._unit.wrote("api_key.revoke", key_id)
        return _key(row)

    def _of(self, key_id: str) -> dict[str, str]:
        return {"in_tenant": self._unit.tenant_id, "of_id": key_id}


def _key(row: Any) -> ApiKey:
    columns = row._asdict()
    scope = {"agents": tuple(columns["agents"]), "actions": tuple(columns["actions"])}
    return read_stored(ApiKey, {**columns, "scope": scope}, what=f"API key {row.id}")

"""Records in another Postgres, such as Supabase: a table of theirs alone."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from os import dup
from socket import SHUT_RDWR, socket
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.jobs.long_term.backends import BackendRecord, RecordPlace
from mnestic.stores.backend_answers import answer_of, name_of

Result = TypeVar("Result")
_CREATE = sql.SQL("""
CREATE TABLE IF NOT EXISTS {table} (
    tenant_id text NOT NULL, agent_id text NOT NULL, schema_id text NOT NULL, key text NOT NULL,
    value jsonb NOT NULL, metadata jsonb, version bigint NOT NULL, updated_at timestamptz NOT NULL, expires_at timestamptz,
    PRIMARY KEY (tenant_id, agent_id, schema_id, key)
)
""")
_IS_IT = sql.SQL(
    "t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.schema_id = %(schema_id)s AND t.key = %(key)s"
)
_PUT = sql.SQL("""
WITH put AS (
    INSERT INTO {table} AS t (tenant_id, agent_id, schema_id, key, value, metadata, version, updated_at, expires_at)
    VALUES (%(tenant_id)s, %(agent_id)s, %(schema_id)s, %(key)s, %(value)s, %(metadata)s, %(version)s, %(updated_at)s, %(expires_at)s)
    ON CONFLICT (tenant_id, agent_id, schema_id, key) DO UPDATE
       SET value = excluded.value, metadata = excluded.metadata, version = excluded.version,
           updated_at = excluded.updated_at, expires_at = excluded.expires_at
     WHERE excluded.version >= t.version
    RETURNING version
)
SELECT COALESCE((SELECT version FROM put), (SELECT version FROM {table} AS t WHERE {is_it}), %(version)s) AS version
""")
_REMOVE = sql.SQL("""
WITH removed AS (DELETE FROM {table} AS t WHERE {is_it} AND t.version <= %(version)s)
SELECT greatest((SELECT version FROM {table} AS t WHERE {is_it}), %(version)s) AS version
""")
_FIND = sql.SQL("""
SELECT value, metadata, version, updated_at, expires_at FROM {table} AS t
 WHERE {is_it} AND (t.expires_at IS NULL OR t.expires_at > now())
""")


class RemotePostgresRecords:
    """Implements `mnestic.memory.jobs.ports.RecordBackend` over one connection, which is opened anew when it is lost."""

    def __init__(self, address: str, *, backend_id: str, prefix: str) -> None:
        """Prepares it; the first use connects.

        Raises:
            ConfigurationError: the address is malformed.
        """
        self._address, self._backend_id = address, backend_id
        try:
            conninfo_to_dict(address)
        except psycopg.ProgrammingError:
            why = "its connection_string is malformed; it looks like postgresql://user:${PASSWORD}@host:5432/database"
            raise ConfigurationError(setting=f"backend {backend_id}", why=why) from None
        names = {"table": sql.Identifier(f"{prefix}records"), "is_it": _IS_IT}
        self._create, self._find = _CREATE.format(**names), _FIND.format(**names)
        self._put, self._remove = _PUT.format(**names), _REMOVE.format(**names)
        self._connection: AsyncConnection[dict[str, Any]] | None = None
        self._lock = asyncio.Lock()

    async def prepare(self) -> None:
        """See the port."""
        await self._run(lambda connection: connection.execute(self._create))

    async def write(self, records: Sequence[BackendRecord]) -> tuple[int, ...]:
        """See the port."""

        async def write(connection: AsyncConnection[dict[str, Any]]) -> tuple[int, ...]:
            async with connection.pipeline():
                cursors = [
                    await connection.execute(
                        self._remove if record.value is None else self._put, _values(record)
                    )
                    for record in records
                ]
            rows = [await cursor.fetchone() for cursor in cursors]
            return tuple(int(row["version"]) for row in rows if row is not None)

        return await self._run(write)

    async def find(self, place: RecordPlace) -> BackendRecord | None:
        """See the port."""
        name = place.model_dump(include=set(RecordPlace.model_fields))

        async def find(connection: AsyncConnection[dict[str, Any]]) -> dict[str, Any] | None:
            return await (await connection.execute(self._find, name)).fetchone()

        row = await self._run(find)
        return None if row is None else BackendRecord.model_validate(name | row)

    async def close(self) -> None:
        """See the port."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _run(
        self, work: Callable[[AsyncConnection[dict[str, Any]]], Awaitable[Result]]
    ) -> Result:
        """Does something with the connection; once more, if the server has closed it since it was used last."""
        async with answer_of(self._backend_id, psycopg.Error, describe=_says) as end:
            async with asyncio.timeout_at(end):
                await self._lock.acquire()
            try:
                if self._connection is not None:
                    try:
                        return await self._attempt(work, end)
                    except psycopg.OperationalError:
                        pass
                return await self._attempt(work, end)
            finally:
                self._lock.release()

    async def _attempt(
        self, work: Callable[[AsyncConnection[dict[str, Any]]], Awaitable[Result]], end: float
    ) -> Result:
        """Does it until a time of the loop.

        Psycopg answers a cancellation by asking the server, which may hang as well: instead the connection is shut then.
        """
        shutting = None
        try:
            if self._connection is None:
                async with asyncio.timeout_at(end):
                    self._connection = await AsyncConnection.connect(
                        self._address,
                        autocommit=True,
                        prepare_threshold=None,  # a pooler may be between
                        row_factory=dict_row,
                    )
            shutting = asyncio.get_running_loop().call_at(end, _shut, self._connection)
            return await work(self._connection)
        except BaseException:
            await self.close()
            raise
        finally:
            if shutting is not None:
                shutting.cancel()


def _shut(connection: AsyncConnection[Any]) -> None:
    with socket(fileno=dup(connection.fileno())) as ours:
        ours.shutdown(SHUT_RDWR)


def _says(error: Exception) -> str:
    """What the server says; the text of the driver's own errors may hold the address."""
    says = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return says or name_of(error)


def _values(record: BackendRecord) -> dict[str, Any]:
    values = dict(record)
    if record.metadata is not None:
        values["metadata"] = Jsonb(record.metadata)
    return values | {"value": Jsonb(record.value)}

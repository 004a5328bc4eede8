"""Long-term records in Postgres: one row a key, with a version that only grows."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Row,
    Select,
    Text,
    bindparam,
    case,
    delete,
    func,
    literal_column,
    null,
    or_,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.canonical import check_json, check_text
from mnestic.memory.errors import InvalidInputError, NotFoundError, StaleVersionError
from mnestic.memory.jobs.records import LongTermRecord, ReadRecord, RecordRef
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.tables import JobReadRow, RecordRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork, among_arrays, is_owned

RECORD = table(RecordRow)
READ = table(JobReadRow)
_LONGEST_TTL = timedelta(days=36_500)
_LONGEST_NAME = 256  # characters, so that an index entry stays far below Postgres' limit


def _not_expired() -> Any:
    return or_(RECORD.c.expires_at.is_(None), RECORD.c.expires_at > func.now())


# All rows of some names, dead ones too; `live` tells them apart.
_ALIVE = (RECORD.c.value.is_not(None) & _not_expired()).label("live")
_FOUND = select(*RECORD.c, _ALIVE).where(
    is_owned(RECORD),
    among_arrays(
        [bindparam(name, type_=ARRAY(Text)) for name in ("namespaces", "keys")],
        RECORD.c.namespace,
        RECORD.c.key,
    ),
)

_READS = (
    select(READ.c.namespace, READ.c.key, READ.c.version, READ.c.value, READ.c.pinned)
    .where(is_owned(READ), READ.c.job_id == bindparam("of_job"))
    .order_by(READ.c.namespace, READ.c.key)
)
_REMOVE_READS = delete(READ).where(is_owned(READ), READ.c.job_id == bindparam("of_job"))
_TOP: ColumnElement[Any] = literal_column("'{}'")  # the path to a JSON value itself
_LOCK_READS = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


class PostgresRecordStore:
    """Implements `mnestic.memory.ports.RecordStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def get(self, namespace: str, key: str) -> LongTermRecord:
        """See the port."""
        record = await self.find(namespace, key)
        if record is None:
            raise NotFoundError(what="record", name=f"{namespace}/{key}")
        return record

    async def find(self, namespace: str, key: str) -> LongTermRecord | None:
        """See the port."""
        row = await self._unit.row(self._live().where(self._is(namespace, key)))
        self._unit.read("record.get", f"{namespace}/{key}")
        return _record(row) if row else None

    async def set(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
    ) -> LongTermRecord:
        """See the port."""
        check_write(namespace, key, value)
        _check_ttl(ttl, what=f"{namespace}/{key}")
        row = await self._lock(namespace, key)
        live = row is not None and row.live
        current = row.version if row is not None and (live or expected_version != 0) else 0
        if expected_version is not None and expected_version != current:
            raise self._stale(row, expected=expected_version)
        statement = (
            update(RECORD)
            .where(self._is(namespace, key))
            .values(
                value=value,
                version=RECORD.c.version + 1,
                created_at=RECORD.c.created_at if live else func.now(),
                updated_at=func.now(),
                expires_at=func.now() + ttl if ttl is not None else None,
            )
            .returning(*RECORD.c)
        )
        written = (await self._unit.rows(statement))[0]
        self._unit.wrote("record.set", f"{namespace}/{key}")
        return _record(written)

    async def delete(
        self, namespace: str, key: str, *, expected_version: int | None = None
    ) -> RecordRef:
        """See the port."""
        row = await self._unit.row(self._any().where(self._is(namespace, key)).with_for_update())
        if row is None or not row.live:
            raise NotFoundError(what="record", name=f"{namespace}/{key}")
        if expected_version not in (None, row.version):
            raise self._stale(row, expected=expected_version or 0)
        await self._unit.run(
            update(RECORD)
            .where(self._is(namespace, key))
            .values(value=None, version=row.version + 1, updated_at=func.now(), expires_at=None)
        )
        self._unit.wrote("record.delete", f"{namespace}/{key}")
        return RecordRef(namespace=namespace, key=key, version=row.version + 1)

    async def list_by_namespace(
        self,
        namespace: str | None,
        *,
        limit: int = 100,
        cursor: str | None = None,
        until: str | None = None,
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """See the port."""
        statement = self._live().order_by(RECORD.c.namespace, RECORD.c.key)
        if namespace is not None:
            statement = statement.where(RECORD.c.namespace == namespace)
        if until is not None:
            statement = statement.where(RECORD.c.key <= until)
        if cursor is not None:
            after = decode_cursor(cursor, parts=2)
            statement = statement.where(tuple_(RECORD.c.namespace, RECORD.c.key) > after)
        rows = await self._unit.rows(statement.limit(check_limit(limit) + 1))
        self._unit.read("record.list", namespace or "*")
        more = len(rows) > limit
        records = tuple(_record(row) for row in rows[:limit])
        return records, encode_cursor(records[-1].namespace, records[-1].key) if more else None

    async def select(
        self, names: Sequence[tuple[str, str]]
    ) -> tuple[dict[tuple[str, str], LongTermRecord], dict[tuple[str, str], int]]:
        """See the port."""
        for namespace, key in names:
            self._unit.read("record.get", f"{namespace}/{key}")
        return await self._found(names)

    async def select_again(
        self, reads: Sequence[ReadRecord]
    ) -> tuple[
        tuple[ReadRecord, ...],
        dict[tuple[str, str], LongTermRecord],
        dict[tuple[str, str], int],
    ]:
        """See the port."""
        seen = {(read.namespace, read.key): read for read in reads}
        live, versions = await self._found([name for name in seen if not seen[name].is_namespace])
        if seen:
            self._unit.read("reads.compare", f"{len(seen)} records")
        for whole in (read for read in reads if read.is_namespace):
            page, _ = await self.list_by_namespace(
                whole.namespace, limit=whole.version, until=whole.value
            )
            for record in page:
                name = (record.namespace, record.key)
                if name not in seen:
                    seen[name] = ReadRecord(namespace=name[0], key=name[1], version=0)
                    live[name], versions[name] = record, record.version
        return tuple(seen.values()), live, versions

    async def add_reads(self, job_id: str, reads: Sequence[ReadRecord]) -> None:
        """See the port."""
        if not reads:
            return
        rows = [{**self._unit.owner, "job_id": job_id, **read.model_dump()} for read in reads]
        statement = insert(READ)
        await self._unit.run(
            statement.on_conflict_do_update(
                index_elements=["tenant_id", "agent_id", "job_id", "namespace", "key"],
                set_={
                    "version": _seen_version(statement.excluded),
                    "value": _seen_value(statement.excluded),
                    "pinned": statement.excluded.pinned,
                },
            ),
            rows,
        )
        self._unit.wrote("reads.add", job_id)

    async def list_reads(
        self, job_id: str, *, pinned: bool = False, lock: bool = False
    ) -> tuple[ReadRecord, ...]:
        """See the port."""
        if lock:
            name = f"reads/{self._unit.tenant_id}/{job_id}"
            await self._unit.rows(_LOCK_READS, {"name": name})
        statement = _READS.where(READ.c.pinned) if pinned else _READS
        rows = await self._unit.rows(statement, {**self._unit.here, "of_job": job_id})
        self._unit.read("reads.list", job_id)
        return tuple(ReadRecord.model_validate(row, from_attributes=True) for row in rows)

    async def remove_reads(self, job_id: str) -> None:
        """See the port."""
        if await self._unit.run(_REMOVE_READS, {**self._unit.here, "of_job": job_id}):
            self._unit.wrote("reads.remove", job_id)

    async def _found(
        self, names: Sequence[tuple[str, str]]
    ) -> tuple[dict[tuple[str, str], LongTermRecord], dict[tuple[str, str], int]]:
        """The live records of these names, and the versions of all their rows."""
        if not names:
            return {}, {}
        namespaces, keys = (list(part) for part in zip(*names, strict=True))
        rows = await self._unit.rows(
            _FOUND, {**self._unit.here, "namespaces": namespaces, "keys": keys}
        )
        live = {(row.namespace, row.key): _record(row) for row in rows if row.live}
        return live, {(row.namespace, row.key): row.version for row in rows}

    async def _lock(self, namespace: str, key: str) -> Row[Any]:
        """Locks the row, which is made first, without a value, if there is none."""
        values = {**self._unit.owner, "namespace": namespace, "key": key, "version": 0}
        instants = {"created_at": func.now(), "updated_at": func.now()}
        await self._unit.run(insert(RECORD).values(**values, **instants).on_conflict_do_nothing())
        rows = await self._unit.rows(self._any().where(self._is(namespace, key)).with_for_update())
        return rows[0]

    def _any(self) -> Select[Any]:
        """All rows, dead ones too."""
        return select(*RECORD.c, _ALIVE).where(self._unit.owned(RECORD))

    def _live(self) -> Select[Any]:
        return select(*RECORD.c).where(
            self._unit.owned(RECORD), RECORD.c.value.is_not(None), _not_expired()
        )

    def _is(self, namespace: str, key: str) -> Any:
        return self._unit.owned(RECORD) & (RECORD.c.namespace == namespace) & (RECORD.c.key == key)

    def _stale(self, row: Row[Any], *, expected: int) -> StaleVersionError:
        return StaleVersionError(
            what=f"record {row.namespace}/{row.key}",
            expected=expected,
            stored_version=row.version,
            stored=_record(row) if row.live else None,
        )


def _seen_version(excluded: Any) -> Any:
    """What is seen last counts; of a namespace, which has no key, the most that was read."""
    most = func.greatest(READ.c.version, excluded.version)
    return case((READ.c.key == "", most), else_=excluded.version)


def _seen_value(excluded: Any) -> Any:
    """The same of values: what a namespace was read to at most; null is to its end."""
    ends = [value.op("#>>")(_TOP) for value in (READ.c.value, excluded.value)]
    furthest = func.to_jsonb(func.greatest(*ends))
    is_whole = READ.c.value.is_(None) | excluded.value.is_(None)
    of_namespace = case((is_whole, null()), else_=furthest)
    return case((READ.c.key == "", of_namespace), else_=excluded.value)


def _record(row: Row[Any]) -> LongTermRecord:
    return LongTermRecord.model_validate(row, from_attributes=True)


def check_write(namespace: str, key: str, value: Any) -> None:
    """Refuses a record that cannot be stored.

    Raises:
        InvalidInputError: names what is wrong, and what is allowed.
    """
    for what, name in (("namespace", namespace), ("key", key)):
        check_text(name, what=what)
        if not 1 <= len(name) <= _LONGEST_NAME:
            raise InvalidInputError(
                what=what, why=f"is {len(name)} characters long; 1 to {_LONGEST_NAME} are allowed"
            )
    if value is None:
        raise InvalidInputError(
            what=f"{namespace}/{key}", why="has no value; delete the record instead"
        )
    check_json(value, what=f"{namespace}/{key}")


def _check_ttl(ttl: timedelta | None, *, what: str) -> None:
    if ttl is not None and not timedelta(0) < ttl <= _LONGEST_TTL:
        raise InvalidInputError(
            what=what, why=f"has a time to live of {ttl}; it is above 0 and at most {_LONGEST_TTL}"
        )

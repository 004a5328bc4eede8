"""Long-term records in Postgres: one row a key, with a version that only grows."""

import json
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from mnestic.memory.canonical import check_json, check_text
from mnestic.memory.errors import InvalidInputError, NotFoundError, StaleVersionError
from mnestic.memory.jobs.long_term.conflicts import (
    VERSIONS_LIVE,
    conflicts_of,
    version_key,
    versions_of,
)
from mnestic.memory.jobs.long_term.filters import QueryFilter
from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord, RecordRef
from mnestic.memory.jobs.long_term.schemas import SchemaRules, check_value
from mnestic.memory.sharing.namespaces import check_is_own
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.jobs.record_filters import page_query
from mnestic.stores.postgres.jobs.record_sync import remote_backend
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_FIND, _INSERT_EMPTY = read_query("records.find"), read_query("records.insert_empty")
_SET, _DELETE = read_query("records.set"), read_query("records.delete")
_END_VERSIONS = read_query("records.end_versions")
_LIST, _SELECT = read_query("records.list_by_namespace"), read_query("records.select")
_ADD_READ, _LOCK_READS = read_query("records.add_read"), read_query("records.lock_reads")
_LIST_READS, _REMOVE_READS = read_query("records.list_reads"), read_query("records.remove_reads")
_FIND_RULES, _EXPIRE = read_query("records.find_rules"), read_query("records.expire")
_SEND_AGAIN = read_query("records.send_again")
_STORED = "stored"  # the state of a record that its backend has
_LONGEST_TTL = timedelta(days=36_500)
_LONGEST_NAME = 256  # characters, so that an index entry stays far below Postgres' limit


class PostgresRecordStore:
    """Implements `mnestic.memory.jobs.ports.RecordStore`."""

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
        check_is_own(namespace)
        self._unit.read("record.get", f"{namespace}/{key}")
        row = await self._find(namespace, key)
        if await self._is_refreshed(namespace, key, row):
            row = await self._find(namespace, key)
        return _record(row) if row is not None and row.live else None

    async def set(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> LongTermRecord:
        """See the port."""
        self._unit.attempt("record.set", f"{namespace}/{key}")
        check_write(namespace, key, value)
        check_json(metadata, what=f"{namespace}/{key} metadata")
        _check_ttl(ttl, what=f"{namespace}/{key}")
        named = {**self._unit.owner, "namespace": namespace, "key": key}
        # The row is made first, without a value, if there is none, so that it can be locked.
        rules, _, (row,) = await self._unit.rows_of(
            _FIND_RULES.bind(named), _INSERT_EMPTY.bind(named), _FIND.bind({**named, "lock": True})
        )
        backend = remote_backend(rules[0]) if rules else None
        in_force = [*map(_rules, rules)]
        for one in in_force:
            check_value(one, value)
            ttl = min(one.ttl, ttl) if one.ttl and ttl else one.ttl or ttl
        current = row.version if row.live or expected_version != 0 else 0
        if expected_version is not None and expected_version != current:
            raise self._stale(row, expected=expected_version)
        # Nobody waits for it: the locked row says what the record is then.
        stored, more = as_json(value), as_json(metadata)
        values = {"value": stored, "is_live": row.live, "ttl": ttl, "metadata": more}
        values["is_remote"] = backend is not None
        self._unit.send_ahead(_SET.bind(named | values))
        self._unit.wrote("record.set", f"{namespace}/{key}")
        record = LongTermRecord(
            namespace=namespace,
            key=key,
            value=json.loads(str(stored)),
            version=row.version + 1,
            created_at=row.created_at if row.live else row.read_at,
            updated_at=row.read_at,
            expires_at=None if ttl is None else row.read_at + ttl,
            metadata=None if more is None else json.loads(more),
        )
        if backend is not None and backend.strategy != "write_back":
            self._unit.flushed_schemas.add(namespace)
        if any(one.keeps_versions for one in in_force):
            await self._keep_version(record, ttl=ttl)
        return record

    async def _keep_version(self, record: LongTermRecord, *, ttl: timedelta | None) -> None:
        """Keeps a version, with which a later write can be merged, no longer than the record lives."""
        await self.set(
            versions_of(record.namespace),
            version_key(record.key, record.version),
            {"key": record.key, "value": record.value, "metadata": record.metadata},
            ttl=VERSIONS_LIVE if ttl is None else min(ttl, VERSIONS_LIVE),
        )

    async def delete(
        self, namespace: str, key: str, *, expected_version: int | None = None
    ) -> RecordRef:
        """See the port."""
        self._unit.attempt("record.delete", f"{namespace}/{key}")
        check_is_own(namespace)
        row = await self._find(namespace, key, lock=True)
        if row is None or not row.live:
            raise NotFoundError(what="record", name=f"{namespace}/{key}")
        if expected_version not in (None, row.version):
            raise self._stale(row, expected=expected_version or 0)
        await self._unit.write(_DELETE, namespace=namespace, key=key)
        of_record = {"namespace": versions_of(namespace), "keys": version_key(key, "")}
        self._unit.send_ahead(_END_VERSIONS.bind(self._unit.owner | of_record))
        if row.backend_state is not None:
            self._unit.flushed_schemas.add(namespace)
        self._unit.wrote("record.delete", f"{namespace}/{key}")
        return RecordRef(namespace=namespace, key=key, version=row.version + 1)

    async def list_by_namespace(
        self,
        namespace: str | None,
        *,
        limit: int = 100,
        cursor: str | None = None,
        until: str | None = None,
        whole: bool = False,
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """See the port."""
        check_is_own(namespace or "")
        after = decode_cursor(cursor, parts=2) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST,
            of_namespace=namespace,
            plain=None if whole or namespace is not None else True,
            until=until,
            after_namespace=after[0],
            after=after[1],
            limit=check_limit(limit) + 1,
        )
        self._unit.read("record.list", namespace or "*")
        more = len(rows) > limit
        records = tuple(_record(row) for row in rows[:limit])
        return records, encode_cursor(records[-1].namespace, records[-1].key) if more else None

    async def find_rules(self, namespace: str) -> SchemaRules | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND_RULES, namespace=namespace)
        return None if row is None else _rules(row)

    async def query(
        self, namespace: str, found: QueryFilter
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """See the port."""
        check_is_own(namespace)
        query, values = page_query(self._unit.tenant_id, namespace, found)
        self._unit.read("record.query", namespace)
        rows = await self._unit.fetch(query, **values)
        records = tuple(_record(row) for row in rows[: found.limit])
        if len(rows) <= found.limit:
            return records, None
        places = (json.dumps(one, ensure_ascii=False) for one in rows[found.limit - 1].places)
        return records, encode_cursor(*places, records[-1].key)

    async def expire(self, selector: str, schema_id: str, *, ttl: timedelta) -> int:
        """See the port."""
        namespaces = [schema_id, versions_of(schema_id), conflicts_of(schema_id)]
        ended = await self._unit.write(_EXPIRE, selector=selector, namespaces=namespaces, ttl=ttl)
        if ended:
            self._unit.wrote("record.expire", f"{schema_id} of {selector}: {ended} records")
        return ended

    async def send_again(self, schemas: Collection[str], *, of_all_agents: bool) -> int:
        """See the port."""
        of_agent = None if of_all_agents else self._unit.agent_id
        sent = await self._unit.write(_SEND_AGAIN, schemas=[*schemas], of_agent=of_agent)
        if sent:
            self._unit.wrote("record.send_again", ", ".join(sorted(schemas)))
        return sent

    async def select(
        self, names: Sequence[tuple[str, str]]
    ) -> tuple[dict[tuple[str, str], LongTermRecord], dict[tuple[str, str], int]]:
        """See the port."""
        for namespace, key in names:
            check_is_own(namespace)
            self._unit.read("record.get", f"{namespace}/{key}")
        rows = {(row.namespace, row.key): row for row in await self._rows(names)}
        changed = [await self._is_refreshed(*name, rows.get(name)) for name in dict.fromkeys(names)]
        return _sorted(await self._rows(names) if any(changed) else [*rows.values()])

    async def select_again(
        self, reads: Sequence[ReadRecord]
    ) -> tuple[
        tuple[ReadRecord, ...],
        dict[tuple[str, str], LongTermRecord],
        dict[tuple[str, str], int],
    ]:
        """See the port."""
        seen = {(read.namespace, read.key): read for read in reads}
        names = [name for name in seen if not seen[name].is_namespace]
        live, versions = _sorted(await self._rows(names))
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
        of_job = {**self._unit.owner, "job_id": job_id}
        rows = [of_job | read.model_dump() | {"value": as_json(read.value)} for read in reads]
        # A statement for each, since one may be among them twice; all in one round trip.
        await self._unit.rows_of(*map(_ADD_READ.bind, rows))
        self._unit.wrote("reads.add", job_id)

    async def list_reads(
        self, job_id: str, *, pinned: bool = False, lock: bool = False
    ) -> tuple[ReadRecord, ...]:
        """See the port."""
        if lock:
            name = f"reads/{self._unit.tenant_id}/{job_id}"
            await self._unit.fetch(_LOCK_READS, name=name)
        rows = await self._unit.fetch(_LIST_READS, job_id=job_id, only_pinned=pinned or None)
        self._unit.read("reads.list", job_id)
        return tuple(ReadRecord.model_validate(row, from_attributes=True) for row in rows)

    async def remove_reads(self, job_id: str) -> None:
        """See the port."""
        if await self._unit.write(_REMOVE_READS, job_id=job_id):
            self._unit.wrote("reads.remove", job_id)

    async def _rows(self, names: Sequence[tuple[str, str]]) -> list[Any]:
        """All rows of these names, dead ones too."""
        if not names:
            return []
        namespaces, keys = (list(part) for part in zip(*names, strict=True))
        return await self._unit.fetch(_SELECT, namespaces=namespaces, keys=keys)

    async def _find(self, namespace: str, key: str, *, lock: bool = False) -> Any:
        return await self._unit.fetch_one(_FIND, namespace=namespace, key=key, lock=lock or None)

    async def _is_refreshed(self, namespace: str, key: str, row: Any) -> bool:
        """Whether a record was taken from its backend; one that the backend lacks, or that has none, is not."""
        refresh = self._unit.refresh
        if refresh is None or (row is not None and row.backend_state != _STORED):
            return False
        return await refresh(
            self._unit, namespace, key, version=None if row is None else row.version
        )

    def _stale(self, row: Any, *, expected: int) -> StaleVersionError:
        return StaleVersionError(
            what=f"record {row.namespace}/{row.key}",
            expected=expected,
            stored_version=row.version,
            stored=_record(row) if row.live else None,
        )


def _rules(row: Any) -> SchemaRules:
    return SchemaRules.model_validate(
        {
            **row.rules,
            "selector": row.selector,
            "version": row.version,
            "keeps_versions": row.keeps_versions,
        }
    )


def _sorted(
    rows: Sequence[Any],
) -> tuple[dict[tuple[str, str], LongTermRecord], dict[tuple[str, str], int]]:
    """The live records by name, and the versions of all rows."""
    live = {(row.namespace, row.key): _record(row) for row in rows if row.live}
    return live, {(row.namespace, row.key): row.version for row in rows}


def _record(row: Any) -> LongTermRecord:
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
    check_is_own(namespace)
    check_json(value, what=f"{namespace}/{key}")


def _check_ttl(ttl: timedelta | None, *, what: str) -> None:
    if ttl is not None and not timedelta(0) < ttl <= _LONGEST_TTL:
        raise InvalidInputError(
            what=what, why=f"has a time to live of {ttl}; it is above 0 and at most {_LONGEST_TTL}"
        )

"""Namespaces of shared memory in Postgres: their records, grants and locks."""

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Literal

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import (
    InvalidInputError,
    LockedError,
    LockLostError,
    NotFoundError,
    StaleVersionError,
)
from mnestic.memory.jobs.long_term.schemas import SchemaRules, check_value
from mnestic.memory.names import SHARED
from mnestic.memory.sharing.locks import Lock
from mnestic.memory.sharing.namespaces import (
    AccessLevel,
    NamespaceGrant,
    SharedRecord,
    check_access,
    level_of,
)
from mnestic.stores.postgres.connections import Rows
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.queries import NamedQuery, as_json, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LIST_GRANTS, _GRANT = read_query("shared_memory.list_grants"), read_query("shared_memory.grant")
_REVOKE = read_query("shared_memory.revoke")
_REMOVE_GRANTS = read_query("shared_memory.remove_grants")
_LOCK_KEY = read_query("shared_memory.lock_key")
_LOCK_NAMESPACE = read_query("shared_memory.lock_namespace")
_FIND, _INSERT_EMPTY = read_query("shared_memory.find"), read_query("shared_memory.insert_empty")
_SET, _REMOVE = read_query("shared_memory.set"), read_query("shared_memory.remove")
_LIST_RECORDS = read_query("shared_memory.list_records")
_FIND_LEASE = read_query("shared_memory.find_lease")
_ACQUIRE, _RELEASE = read_query("shared_memory.acquire"), read_query("shared_memory.release")
_FIND_RULES, _CLOCK = read_query("records.find_rules"), read_query("unit_of_work.clock")


class PostgresSharedMemoryStore:
    """Implements `mnestic.memory.sharing.ports.SharedMemoryStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def get(self, namespace: str, key: str) -> SharedRecord:
        """See the port."""
        (rows,) = await self._allowed(namespace, "read", _FIND, key=key)
        self._unit.read("shared.get", f"{namespace}/{key}")
        if not rows or not rows[0].live:
            raise NotFoundError(what="shared record", name=f"{namespace}/{key}")
        return _record(namespace, rows[0])

    async def set(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        metadata: dict[str, Any] | None = None,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> SharedRecord:
        """See the port."""
        what = f"{namespace}/{key}"
        self._unit.attempt("shared.set", what)
        if value is None:
            raise InvalidInputError(what=what, why="has no value; delete the record instead")
        check_json(value, what=what)
        check_json(metadata, what=f"{what} metadata")
        rules, _, (row,) = await self._for_write(
            namespace, key, token, _FIND_RULES, _INSERT_EMPTY, _FIND
        )
        for one in rules:
            in_force = SchemaRules(**one.rules, selector=one.selector, version=one.version)
            check_value(in_force, value)
            ttl = min(in_force.ttl, ttl) if in_force.ttl and ttl else in_force.ttl or ttl
        _check_version(namespace, row, expected_version)
        stored, more = as_json(value), as_json(metadata)
        values = {"value": stored, "metadata": more, "ttl": ttl, "is_live": row.live}
        self._unit.send_ahead(_SET.bind(self._named(namespace, key=key) | values))
        self._unit.wrote("shared.set", _target(namespace, key, token))
        return SharedRecord(
            namespace=namespace,
            key=key,
            value=json.loads(str(stored)),
            version=row.version + 1,
            owner=self._unit.agent_id,
            metadata=None if more is None else json.loads(more),
            created_at=row.created_at if row.live else row.read_at,
            updated_at=row.read_at,
            expires_at=None if ttl is None else row.read_at + ttl,
        )

    async def delete(
        self,
        namespace: str,
        key: str,
        *,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> None:
        """See the port."""
        self._unit.attempt("shared.delete", f"{namespace}/{key}")
        (rows,) = await self._for_write(namespace, key, token, _FIND)
        if not rows or not rows[0].live:
            raise NotFoundError(what="shared record", name=f"{namespace}/{key}")
        _check_version(namespace, rows[0], expected_version)
        self._unit.send_ahead(_REMOVE.bind(self._named(namespace, key=key)))
        self._unit.wrote("shared.delete", _target(namespace, key, token))

    async def list_records(
        self, namespace: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[SharedRecord, ...], str | None]:
        """See the port."""
        after = None if cursor is None else decode_cursor(cursor, parts=1)[0]
        more = check_limit(limit) + 1
        (rows,) = await self._allowed(namespace, "read", _LIST_RECORDS, after=after, limit=more)
        self._unit.read("shared.list", namespace)
        records = tuple(_record(namespace, row) for row in rows[:limit])
        return records, encode_cursor(records[-1].key) if len(rows) > limit else None

    async def lock(self, namespace: str, key: str, *, lasts: timedelta) -> Lock:
        """See the port."""
        self._unit.attempt("shared.lock", f"{namespace}/{key}")
        _, taken, leases, rows = await self._allowed(
            namespace,
            "write",
            *(_LOCK_KEY, _ACQUIRE, _FIND_LEASE, _FIND),
            key=key,
            lasts=lasts,
        )
        if not taken:
            raise _locked(namespace, leases[0])
        self._unit.wrote("shared.lock", _target(namespace, key, taken[0].token))
        return Lock(
            namespace=namespace,
            key=key,
            strategy="pessimistic",
            version=_version_of(rows),
            **taken[0]._asdict(),
        )

    async def read_version(
        self, namespace: str, key: str, *, strategy: Literal["optimistic", "none"]
    ) -> Lock:
        """See the port."""
        rows, (clock,) = await self._allowed(namespace, "write", _FIND, _CLOCK, key=key)
        self._unit.read("shared.lock", f"{namespace}/{key}")
        return Lock(
            namespace=namespace,
            key=key,
            strategy=strategy,
            version=_version_of(rows) if strategy == "optimistic" else None,
            acquired_at=clock.moment,
        )

    async def unlock(self, namespace: str, key: str, token: int | None) -> int:
        """See the port."""
        self._unit.attempt("shared.unlock", _target(namespace, key, token))
        (released,) = await self._allowed(namespace, "write", _RELEASE, key=key, token=token)
        self._unit.wrote("shared.unlock", _target(namespace, key, token))
        return released.touched

    async def grant(self, namespace: str, selector: str, level: AccessLevel) -> NamespaceGrant:
        """See the port."""
        self._unit.attempt("shared.grant", f"{namespace}/{selector}")
        granted = NamespaceGrant(
            namespace=namespace,
            selector=selector,
            level=level,
            granted_by=f"agent/{self._unit.agent_id}",
        )
        await self._allowed(namespace, "admin", _GRANT, **granted.model_dump(exclude={"namespace"}))
        self._unit.wrote("shared.grant", f"{namespace}/{selector}")
        return granted

    async def revoke(self, namespace: str, selector: str) -> int:
        """See the port."""
        self._unit.attempt("shared.revoke", f"{namespace}/{selector}")
        (revoked,) = await self._allowed(namespace, "admin", _REVOKE, selector=selector)
        self._unit.wrote("shared.revoke", f"{namespace}/{selector}")
        return revoked.touched

    async def list_grants(self, namespace: str | None) -> tuple[NamespaceGrant, ...]:
        """See the port."""
        agent_id = self._unit.agent_id
        rows = await self._unit.fetch(_LIST_GRANTS, namespace=namespace)
        grants = tuple(map(_grant, rows))
        if namespace is not None:
            check_access(grants, namespace, agent_id=agent_id, needs="read")
        self._unit.read("shared.list_grants", namespace or "*")
        readable = {one.namespace for one in grants if level_of([one], agent_id) is not None}
        return tuple(one for one in grants if one.namespace in readable)

    async def drop(self, namespace: str) -> int:
        """See the port."""
        self._unit.attempt("shared.drop", namespace)
        _, leases, removed, _ = await self._allowed(
            namespace,
            "admin",
            *(_LOCK_NAMESPACE, _FIND_LEASE, _REMOVE, _REVOKE),
            key=None,
            selector=None,
        )
        if leases and leases[0].is_held:
            raise _locked(namespace, leases[0])
        self._unit.wrote("shared.drop", namespace)
        return removed.touched

    async def replace_grants(
        self, contract: str, grants: Iterable[tuple[str, str, AccessLevel]]
    ) -> None:
        """See the port."""
        granted_by = {**self._unit.owner, "granted_by": f"contract/{contract}"}
        made = [
            _GRANT.bind({**granted_by, "namespace": name, "selector": selector, "level": level})
            for name, selector, level in grants
        ]
        await self._unit.rows_of(_REMOVE_GRANTS.bind(granted_by), *made)
        self._unit.wrote("shared.grant", contract)

    async def _for_write(
        self, namespace: str, key: str, token: int | None, *queries: NamedQuery
    ) -> list[Rows]:
        """The rows of queries for a write, once no other writes the key, and its lock allows it."""
        _, leases, *found = await self._allowed(
            namespace, "write", _LOCK_KEY, _FIND_LEASE, *queries, key=key
        )
        lease = leases[0] if leases and leases[0].is_held else None
        if token is None:
            if lease is not None:
                raise _locked(namespace, lease)
        elif lease is None or (lease.token, lease.agent_id) != (token, self._unit.agent_id):
            raise LockLostError(what=f"{namespace}/{key}", token=token)
        return found

    async def _allowed(
        self, namespace: str, needs: AccessLevel, *queries: NamedQuery, **values: Any
    ) -> list[Rows]:
        """The rows of queries about a namespace, in one round trip; what the agent may not do, is undone with its transaction."""
        named = self._named(namespace, **values)
        grants, *found = await self._unit.rows_of(
            *(query.bind(named) for query in (_LIST_GRANTS, *queries))
        )
        check_access(map(_grant, grants), namespace, agent_id=self._unit.agent_id, needs=needs)
        return found

    def _named(self, namespace: str, **values: Any) -> dict[str, Any]:
        lock = f"shared/{self._unit.tenant_id}/{namespace}"
        return {
            **self._unit.owner,
            "namespace": namespace,
            "stored_in": f"{SHARED}{namespace}",
            "namespace_lock": lock,
            "key_lock": f"{lock}/{values.get('key')}",
            **values,
        }


def _check_version(namespace: str, row: Any, expected: int | None) -> None:
    """Refuses a write that follows another version than that of a row.

    Raises:
        StaleVersionError: holds what is stored.
    """
    current = row.version if row.live or expected != 0 else 0
    if expected not in (None, current):
        raise StaleVersionError(
            what=f"shared record {namespace}/{row.key}",
            expected=expected or 0,
            stored_version=row.version,
            stored=_record(namespace, row) if row.live else None,
        )


def _target(namespace: str, key: str, token: int | None) -> str:
    """What the audit log names: the key, and the token of its lock."""
    return f"{namespace}/{key}" if token is None else f"{namespace}/{key} under {token}"


def _version_of(rows: Rows) -> int:
    return rows[0].version if rows and rows[0].live else 0


def _locked(namespace: str, lease: Any) -> LockedError:
    what = f"{namespace}/{lease.key}"
    return LockedError(what=what, holder=f"agent {lease.agent_id}", until=lease.expires_at)


def _grant(row: Any) -> NamespaceGrant:
    return NamespaceGrant.model_validate(row, from_attributes=True)


def _record(namespace: str, row: Any) -> SharedRecord:
    return SharedRecord(**row._asdict() | {"namespace": namespace, "owner": row.agent_id})

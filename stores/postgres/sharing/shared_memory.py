"""Namespaces of shared memory in Postgres: their records, grants and locks."""

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

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
from mnestic.memory.sharing.locks import Lock, LockStrategy
from mnestic.memory.sharing.namespaces import (
    AccessLevel,
    NamespaceGrant,
    SharedRecord,
    check_access,
    level_of,
)
from mnestic.memory.sharing.shared_operations import (
    DeleteSharedArguments,
    DropNamespaceArguments,
    GetSharedArguments,
    GrantArguments,
    GrantList,
    ListGrantsArguments,
    ListSharedArguments,
    LockArguments,
    NamespaceArguments,
    Removed,
    RevokeArguments,
    SetSharedArguments,
    SharedRecordPage,
    UnlockArguments,
)
from mnestic.stores.postgres.connections import Rows
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.queries import NamedQuery, as_json, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LIST_GRANTS, _GRANT = read_query("shared_memory.list_grants"), read_query("shared_memory.grant")
_REVOKE = read_query("shared_memory.revoke")
_REMOVE_GRANTS = read_query("shared_memory.remove_grants")
_LOCK_KEY, _LIMIT_IDLE = (
    read_query("shared_memory.lock_key"),
    read_query("shared_memory.limit_idle"),
)
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

    async def get(self, arguments: GetSharedArguments) -> SharedRecord:
        """See the port."""
        (rows,) = await self._allowed(arguments, "read", _FIND)
        self._unit.read("shared.get", _target(arguments))
        if not rows or not rows[0].live:
            raise NotFoundError(what="shared record", name=_target(arguments))
        return _record(rows[0], arguments.namespace)

    async def set(self, arguments: SetSharedArguments) -> SharedRecord:
        """See the port."""
        what, value = _target(arguments), arguments.value
        self._unit.attempt("shared.set", what)
        if value is None:
            raise InvalidInputError(what=what, why="has no value; delete the record instead")
        check_json(value, what=what)
        check_json(arguments.metadata, what=f"{what} metadata")
        rules, _, (row,) = await self._for_write(arguments, _FIND_RULES, _INSERT_EMPTY, _FIND)
        seconds = arguments.ttl_seconds
        ttl = None if seconds is None else timedelta(seconds=seconds)
        for one in rules:
            in_force = SchemaRules(**one.rules, selector=one.selector, version=one.version)
            check_value(in_force, value)
            ttl = min(in_force.ttl, ttl) if in_force.ttl and ttl else in_force.ttl or ttl
        _check_version(row, arguments)
        stored = {"value": as_json(value), "metadata": as_json(arguments.metadata)}
        query = _SET.bind(self._named(arguments) | stored | {"ttl": ttl, "is_live": row.live})
        self._unit.send_ahead(query)
        self._unit.wrote("shared.set", _target(arguments, arguments.token))
        written = {name: one and json.loads(one) for name, one in stored.items()}
        written |= {"version": row.version + 1, "owner": self._unit.agent_id}
        written |= {"created_at": row.created_at if row.live else row.read_at}
        written |= {"updated_at": row.read_at, "expires_at": ttl and row.read_at + ttl}
        return SharedRecord(namespace=arguments.namespace, key=arguments.key, **written)

    async def delete(self, arguments: DeleteSharedArguments) -> Removed:
        """See the port."""
        self._unit.attempt("shared.delete", _target(arguments))
        (rows,) = await self._for_write(arguments, _FIND)
        if not rows or not rows[0].live:
            raise NotFoundError(what="shared record", name=_target(arguments))
        _check_version(rows[0], arguments)
        self._unit.send_ahead(_REMOVE.bind(self._named(arguments)))
        self._unit.wrote("shared.delete", _target(arguments, arguments.token))
        return Removed(count=1)

    async def list_records(self, arguments: ListSharedArguments) -> SharedRecordPage:
        """See the port."""
        cursor, limit = arguments.cursor, check_limit(arguments.limit)
        after = None if cursor is None else decode_cursor(cursor, parts=1)[0]
        (rows,) = await self._allowed(
            arguments, "read", _LIST_RECORDS, after=after, limit=limit + 1
        )
        self._unit.read("shared.list", arguments.namespace)
        records = tuple(_record(row, arguments.namespace) for row in rows[:limit])
        following = encode_cursor(records[-1].key) if len(rows) > limit else None
        return SharedRecordPage(records=records, next_cursor=following)

    async def lock(self, arguments: LockArguments) -> Lock:
        """See the port."""
        self._unit.attempt("shared.lock", _target(arguments))
        queries = (_LOCK_KEY, _ACQUIRE, _FIND_LEASE, _FIND)
        _, taken, leases, rows = await self._allowed(arguments, "write", *queries)
        if not taken:
            raise _locked(arguments, leases[0])
        await self._unit.fetch(_LIMIT_IDLE)
        self._unit.wrote("shared.lock", _target(arguments, taken[0].token))
        return _lock(arguments, rows, strategy="pessimistic", **taken[0]._asdict())

    async def read_version(self, arguments: LockArguments, *, strategy: LockStrategy) -> Lock:
        """See the port."""
        rows, (clock,) = await self._allowed(arguments, "write", _FIND, _CLOCK)
        self._unit.read("shared.lock", _target(arguments))
        return _lock(arguments, rows, strategy=strategy, acquired_at=clock.moment)

    async def unlock(self, arguments: UnlockArguments) -> Removed:
        """See the port."""
        self._unit.attempt("shared.unlock", _target(arguments, arguments.token))
        named = self._named(arguments)
        grants, released = await self._unit.rows_of(_LIST_GRANTS.bind(named), _RELEASE.bind(named))
        if not released.touched:  # who holds a lock ends it, whatever its grants are by now
            agent_id, namespace = self._unit.agent_id, arguments.namespace
            check_access(map(_grant, grants), namespace, agent_id=agent_id, needs="write")
        self._unit.wrote("shared.unlock", _target(arguments, arguments.token))
        return Removed(count=released.touched)

    async def grant(self, arguments: GrantArguments) -> NamespaceGrant:
        """See the port."""
        self._unit.attempt("shared.grant", f"{arguments.namespace}/{arguments.selector}")
        granted_by = f"agent/{self._unit.agent_id}"
        await self._allowed(arguments, "admin", _GRANT, granted_by=granted_by)
        self._unit.wrote("shared.grant", f"{arguments.namespace}/{arguments.selector}")
        return NamespaceGrant(**arguments.model_dump(), granted_by=granted_by)

    async def revoke(self, arguments: RevokeArguments) -> Removed:
        """See the port."""
        self._unit.attempt("shared.revoke", f"{arguments.namespace}/{arguments.selector}")
        (revoked,) = await self._allowed(arguments, "admin", _REVOKE)
        self._unit.wrote("shared.revoke", f"{arguments.namespace}/{arguments.selector}")
        return Removed(count=revoked.touched)

    async def list_grants(self, arguments: ListGrantsArguments) -> GrantList:
        """See the port."""
        namespace, agent_id = arguments.namespace, self._unit.agent_id
        grants = tuple(map(_grant, await self._unit.fetch(_LIST_GRANTS, namespace=namespace)))
        if namespace is not None:
            check_access(grants, namespace, agent_id=agent_id, needs="read")
        self._unit.read("shared.list_grants", namespace or "*")
        readable = {one.namespace for one in grants if level_of([one], agent_id) is not None}
        return GrantList(grants=tuple(one for one in grants if one.namespace in readable))

    async def drop(self, arguments: DropNamespaceArguments) -> Removed:
        """See the port."""
        self._unit.attempt("shared.drop", arguments.namespace)
        queries = (_LOCK_NAMESPACE, _FIND_LEASE, _REMOVE, _REVOKE)
        everything = {"key": None, "selector": None}
        _, leases, removed, _ = await self._allowed(arguments, "admin", *queries, **everything)
        if leases and leases[0].is_held:
            raise _locked(arguments, leases[0])
        self._unit.wrote("shared.drop", arguments.namespace)
        return Removed(count=removed.touched)

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
        self, arguments: SetSharedArguments | DeleteSharedArguments, *queries: NamedQuery
    ) -> list[Rows]:
        """The rows of queries for a write, once no other writes the key, and its lock allows it."""
        token = arguments.token
        _, leases, *found = await self._allowed(
            arguments, "write", _LOCK_KEY, _FIND_LEASE, *queries
        )
        lease = leases[0] if leases and leases[0].is_held else None
        if token is None:
            if lease is not None:
                raise _locked(arguments, lease)
        elif lease is None or (lease.token, lease.agent_id) != (token, self._unit.agent_id):
            raise LockLostError(what=_target(arguments), token=token)
        await self._unit.fetch(_LIMIT_IDLE)
        return found

    async def _allowed(
        self,
        arguments: NamespaceArguments,
        needs: AccessLevel,
        *queries: NamedQuery,
        **values: Any,
    ) -> list[Rows]:
        """The rows of queries about a namespace, in one round trip; what the agent may not do, is undone with its transaction."""
        named, agent_id = self._named(arguments) | values, self._unit.agent_id
        together = (query.bind(named) for query in (_LIST_GRANTS, *queries))
        grants, *found = await self._unit.rows_of(*together)
        check_access(map(_grant, grants), arguments.namespace, agent_id=agent_id, needs=needs)
        return found

    def _named(self, arguments: NamespaceArguments) -> dict[str, Any]:
        given = arguments.model_dump()
        lock = f"shared/{self._unit.tenant_id}/{arguments.namespace}"
        locks = {"namespace_lock": lock, "key_lock": f"{lock}/{given.get('key')}"}
        return self._unit.owner | given | locks | {"stored_in": f"{SHARED}{arguments.namespace}"}


def _check_version(row: Any, arguments: SetSharedArguments | DeleteSharedArguments) -> None:
    """Refuses a write that follows another version than that of a row.

    Raises:
        StaleVersionError: holds what is stored.
    """
    expected = arguments.expected_version
    current = row.version if row.live or expected != 0 else 0
    if expected is not None and expected != current:
        raise StaleVersionError(
            what=f"shared record {_target(arguments)}",
            expected=expected,
            stored_version=row.version,
            stored=_record(row, arguments.namespace) if row.live else None,
        )


def _target(arguments: GetSharedArguments, token: int | None = None) -> str:
    """What the audit log names: the key, and the token of its lock."""
    key = f"{arguments.namespace}/{arguments.key}"
    return key if token is None else f"{key} under {token}"


def _lock(arguments: LockArguments, rows: Rows, **fields: Any) -> Lock:
    """A lock of a key, with the version of its record."""
    follows = {"version": rows[0].version if rows and rows[0].live else 0}
    named = {"namespace": arguments.namespace, "key": arguments.key}
    return Lock(**named, **fields, **({} if fields["strategy"] == "none" else follows))


def _locked(arguments: NamespaceArguments, lease: Any) -> LockedError:
    what = f"{arguments.namespace}/{lease.key}"
    return LockedError(what=what, holder=f"agent {lease.agent_id}", until=lease.expires_at)


def _grant(row: Any) -> NamespaceGrant:
    return NamespaceGrant.model_validate(row, from_attributes=True)


def _record(row: Any, namespace: str) -> SharedRecord:
    return SharedRecord(**row._asdict() | {"namespace": namespace, "owner": row.agent_id})

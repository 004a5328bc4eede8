"""Records of schemas with a backend of their own: sends what it lacks, and takes what it has.

The row in Mnestic's database is what is read, and the log of what is to be sent.
"""

import asyncio
import logging
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from time import monotonic
from typing import Any

from mnestic.memory.errors import BackendUnavailableError, ConfigurationError
from mnestic.memory.jobs.long_term.backends import (
    FLUSH_DELAY,
    STALENESS,
    BackendRecord,
    RecordPlace,
    RemoteBackend,
)
from mnestic.memory.jobs.ports import RecordBackend, RecordBackends
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.memory.sharing.ports import EventBackend
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.unit_of_work import Owner, UnitOfWork

_LOCK, _LIST_PENDING = read_query("record_sync.lock"), read_query("record_sync.list_pending")
_SETTLE, _REMOVE_FORGOTTEN = (
    read_query("record_sync.settle"),
    read_query("record_sync.remove_forgotten"),
)
_TAKE, _DROP = read_query("record_sync.take"), read_query("record_sync.drop")
_FIND_RULES = read_query("records.find_rules")
_BATCH, _BATCH_BYTES = 100, 1_000_000  # of one call, which a backend has to answer in time
_LATEST = 2**31 - 1  # no version is later, so that what is forgotten goes, whatever is stored
_MOST_CHECKED = 10_000

_log = logging.getLogger("mnestic.backends")
Transactions = Callable[[Owner], AbstractAsyncContextManager[UnitOfWork]]


class RecordSync:
    """Keeps backends and the rows of records together, for one process."""

    def __init__(
        self,
        backends: RecordBackends,
        transactions: Transactions,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Prepares it.

        Args:
            backends: Which open with their first use.
            transactions: Begins transactions of an agent, with connections of its own: a backend that hangs holds up
                nobody else.
            clock: Seconds, for how old a read is.
        """
        self._backends, self._transactions, self._clock = backends, transactions, clock
        self._checked: dict[tuple[str, ...], float] = {}
        self._away: dict[RemoteBackend, tuple[float, BackendUnavailableError]] = {}
        self._flushing: defaultdict[Owner, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def flush(
        self, owner: Owner, *, schemas: Collection[str] | None = None, at_once: bool = False
    ) -> int:
        """Sends records of an agent, of all its schemas or of some, that their backends lack; returns how many.

        A backend that does not answer keeps no other from being written.

        Args:
            owner: Tenant and agent.
            schemas: The schemas; by default all.
            at_once: Whether those that may be sent later are left out.

        Raises:
            BackendUnavailableError: a backend does not answer, or its address cannot be read here.
        """
        failed: dict[str, BackendUnavailableError | None] = {}
        flushed, began = 0, self._clock()
        async with self._flushing[owner]:
            while True:
                async with self._transactions(owner) as unit:
                    pending = await _pending(unit, schemas, without=failed)
                    for backend, rows in pending.items():
                        if backend is not None and at_once and backend.strategy == "write_back":
                            failed |= dict.fromkeys((row.schema_id for row in rows), None)
                            continue
                        try:
                            stored = await self._send(backend, rows, since=began)
                        except BackendUnavailableError as error:
                            failed |= dict.fromkeys((row.schema_id for row in rows), error)
                        else:
                            await _settle(unit, rows, stored)
                            flushed += len(rows)
                if not pending:
                    break
        if first := next(filter(None, failed.values()), None):
            raise BackendUnavailableError(
                backend_id=first.backend_id, why=first.why, is_stored=True
            )
        return flushed

    async def refresh(
        self, unit: UnitOfWork, schema_id: str, key: str, *, version: int | None
    ) -> bool:
        """Takes a record from its backend, if its schema is read through and the last look is too old; whether it changed.

        Args:
            unit: The transaction in which the record is read; what it may not write is written beside it.
            schema_id: The schema.
            key: The record.
            version: Its version in Mnestic's database, if it is there.

        Raises:
            BackendUnavailableError: the backend does not answer.
        """
        name = (unit.tenant_id, unit.agent_id, schema_id, key)
        if self._clock() - self._checked.get(name, -math.inf) < STALENESS.total_seconds():
            return False
        rules = await unit.fetch_one(_FIND_RULES, namespace=schema_id)
        backend = remote_backend(rules)
        is_changed = False
        if backend is not None and backend.strategy == "read_through":
            place = RecordPlace(**unit.owner, schema_id=schema_id, key=key)
            found = await (await self._open(backend)).find(place)
            if unit.may_write:
                is_changed = await _take(unit, place, found, version=version)
            else:
                async with self._transactions((unit.tenant_id, unit.agent_id)) as writing:
                    is_changed = await _take(writing, place, found, version=version)
        if len(self._checked) >= _MOST_CHECKED:
            self._checked.clear()
        self._checked[name] = self._clock()
        return is_changed

    async def announce(
        self, tenant_id: str, backend: RemoteBackend, events: Sequence[ChannelEvent]
    ) -> None:
        """Has a backend publish events to those that listen there, if it answers; Mnestic's database has them all."""
        failed_at, _ = self._away.get(backend, (-math.inf, None))
        if self._clock() - failed_at < FLUSH_DELAY.total_seconds():
            return
        try:
            opened = await self._open(backend)
            if isinstance(opened, EventBackend):
                await opened.publish(tenant_id, events)
        except BackendUnavailableError as error:
            self._away[backend] = self._clock(), error
            _log.warning("events are not announced", extra={"why": str(error)})

    async def close(self) -> None:
        """Closes the backends."""
        await self._backends.close()

    async def _send(
        self, backend: RemoteBackend | None, rows: Sequence[Any], *, since: float
    ) -> tuple[int, ...]:
        """Sends rows to their backend; returns the version that it has of each, 0 without a backend.

        One that somebody waited for in vain since the caller began to wait is not waited for again.
        """
        if backend is None:
            return (0,) * len(rows)
        failed_at, error = self._away.get(backend, (-math.inf, None))
        if error is not None and failed_at >= since:
            raise error
        try:
            return await (await self._open(backend)).write([_record(row) for row in rows])
        except BackendUnavailableError as failure:
            self._away[backend] = self._clock(), failure
            raise

    async def _open(self, backend: RemoteBackend) -> RecordBackend:
        try:
            return await self._backends.open(backend)
        except ConfigurationError as error:  # once it is set where this runs, the same succeeds
            raise BackendUnavailableError(backend_id=backend.backend_id, why=str(error)) from error


def remote_backend(rules: Any) -> RemoteBackend | None:
    """The backend in a row of rules, if it has one."""
    has_backend = rules is not None and rules.backend is not None
    return RemoteBackend.model_validate(rules.backend) if has_backend else None


async def _pending(
    unit: UnitOfWork, schemas: Collection[str] | None, *, without: Mapping[str, Any]
) -> dict[RemoteBackend | None, list[Any]]:
    """The next records to send, by backend; locked against other flushes of the agent."""
    wanted = {
        "schemas": None if schemas is None else [*schemas],
        "without": [*without] or None,
        "limit": _BATCH,
        "bytes": _BATCH_BYTES,
    }
    lock = _LOCK.bind({"name": f"flush/{unit.tenant_id}/{unit.agent_id}"})
    _, rows = await unit.rows_of(lock, _LIST_PENDING.bind(unit.owner | wanted))
    pending: dict[RemoteBackend | None, list[Any]] = {}
    for row in rows:
        pending.setdefault(remote_backend(row), []).append(row)
    return pending


def _record(row: Any) -> BackendRecord:
    record = BackendRecord.model_validate(row, from_attributes=True)
    is_forgotten = row.backend_state == "forgotten"
    return record.model_copy(update={"version": _LATEST}) if is_forgotten else record


async def _settle(unit: UnitOfWork, rows: Sequence[Any], stored: Sequence[int]) -> None:
    names = {
        "schemas": [row.schema_id for row in rows],
        "keys": [row.key for row in rows],
    }
    versions = {"versions": [row.version for row in rows], "stored": [*stored]}
    await unit.write(_SETTLE, **names, **versions)
    if any(row.backend_state == "forgotten" for row in rows):
        await unit.write(_REMOVE_FORGOTTEN, **names)


async def _take(
    unit: UnitOfWork, place: RecordPlace, found: BackendRecord | None, *, version: int | None
) -> bool:
    if found is None:
        query, values = _DROP, {"version": version or 0}
    else:
        texts = {name: as_json(getattr(found, name)) for name in ("value", "metadata")}
        query, values = _TAKE, dict(found) | texts
    is_changed = bool(await unit.write(query, **{**dict(place), **values}))
    if is_changed:
        unit.wrote("record.take", f"{place.schema_id}/{place.key}")
    return is_changed

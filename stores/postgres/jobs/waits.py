"""Job waits in Postgres."""

from datetime import datetime
from typing import Any

from psycopg import IntegrityError

from mnestic.memory.errors import (
    AlreadyExistsError,
    JobEndedError,
    NotFoundError,
    StaleVersionError,
)
from mnestic.memory.jobs.waits import (
    JobWait,
    MetWait,
    ResumeReceipt,
    WaitCondition,
    WaitState,
)
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.prompt_facts import FactCondition
from mnestic.memory.scope import Scope
from mnestic.memory.sharing.events import NOTHING, ChannelEvent
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_OPEN, _GET, _CLOSE = read_query("waits.open"), read_query("waits.get"), read_query("waits.close")
_EXTEND, _CANCEL_OPEN = read_query("waits.extend"), read_query("waits.cancel_open")
_FIND_RECEIPT = read_query("waits.find_receipt")
_FIND_EVENT = read_query("waits.find_event")
_CLAIM_MET, _WAKE = read_query("waits.claim_met"), read_query("channels.wake")
_OF_FACT = ("subject", "predicate", "object")
_LIST_BY_JOB, _LIST_LATEST = read_query("waits.list_by_job"), read_query("waits.list_latest")


class PostgresWaitStore:
    """Implements `mnestic.memory.jobs.ports.WaitStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def open(self, wait: JobWait, *, temporal_namespace: str | None = None) -> None:
        """See the port."""
        columns = wait.model_dump(
            exclude={"context", "outcomes", "scope", "closed_at", "receipt", "condition"}
        )
        columns |= {
            "session_id": wait.scope.session_id,
            "context": as_json(wait.context.model_dump(mode="json")),
            "outcomes": as_json(wait.outcomes),
            "form": as_json(wait.form),
            **_columns_of(wait.condition),
        }
        opened = await self._unit.fetch_one(_OPEN, temporal_namespace=temporal_namespace, **columns)
        if opened is None:
            raise AlreadyExistsError(what="wait", name=wait.wait_id)
        if opened.too_late:
            raise JobEndedError(job_id=wait.job_id)
        self._unit.wrote("wait.open", wait.wait_id)
        if isinstance(wait.condition, FactCondition):  # it may be met already
            await self._unit.fetch(_WAKE)

    async def get(self, wait_id: str) -> JobWait:
        """See the port."""
        self._unit.read("wait.get", wait_id)
        return await self._stored(wait_id)

    async def close(
        self, wait_id: str, state: WaitState, *, receipt: ResumeReceipt | None
    ) -> JobWait:
        """See the port."""
        try:
            closed = await self._unit.fetch_one(
                _CLOSE,
                wait_id=wait_id,
                state=state,
                request_id=receipt.request_id if receipt else None,
                receipt=as_json(receipt.model_dump(mode="json")) if receipt else None,
            )
        except IntegrityError as error:  # job_wait_by_request
            name = receipt.request_id if receipt else ""
            raise AlreadyExistsError(what="resume request", name=name) from error
        if closed is not None:
            self._unit.wrote(f"wait.{state}", wait_id)
            return self._wait(closed)
        stored = await self._stored(wait_id)
        if stored.state != state:
            raise StaleVersionError(
                what=f"wait {wait_id} ({stored.state})", expected=1, stored_version=2, stored=stored
            )
        return stored

    async def extend(self, wait_id: str, deadline: datetime) -> JobWait:
        """See the port."""
        extended = await self._unit.write(_EXTEND, wait_id=wait_id, deadline=deadline)
        stored = await self._stored(wait_id)
        if not extended:
            raise StaleVersionError(
                what=f"wait {wait_id} ({stored.state})", expected=1, stored_version=2, stored=stored
            )
        self._unit.wrote("wait.extend", wait_id)
        return stored

    async def cancel_open(self, job_id: str) -> int:
        """See the port."""
        ended = await self._unit.write(_CANCEL_OPEN, job_id=job_id)
        if ended:
            self._unit.wrote("wait.cancelled", job_id)
        return ended

    async def find_receipt(self, job_id: str, request_id: str) -> ResumeReceipt | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND_RECEIPT, job_id=job_id, request_id=request_id)
        self._unit.read("wait.receipt", f"{job_id}/{request_id}")
        return ResumeReceipt.model_validate(row.receipt) if row else None

    async def find_event(self, wait_id: str) -> ChannelEvent | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND_EVENT, wait_id=wait_id)
        self._unit.read("wait.event", wait_id)
        return None if row is None else read_stored(ChannelEvent, row._asdict(), what="event")

    async def claim_met(self, temporal_namespace: str) -> tuple[MetWait, ...]:
        """See the port."""
        rows = await self._unit.fetch(_CLAIM_MET, temporal_namespace=temporal_namespace)
        for row in rows:
            self._unit.wrote(f"wait.{row.outcome}", row.wait_id)
        return tuple(MetWait(*row) for row in rows)

    async def list_by_job(
        self, job_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[JobWait, ...], str | None]:
        """See the port."""
        after, after_id = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST_BY_JOB,
            job_id=job_id,
            after=after,
            after_id=after_id,
            limit=check_limit(limit) + 1,
        )
        self._unit.read("wait.list", job_id)
        waits = tuple(self._wait(row) for row in rows[:limit])
        if len(rows) <= limit:
            return waits, None
        return waits, encode_cursor(waits[-1].opened_at.isoformat(), waits[-1].wait_id)

    async def list_latest(self, job_id: str, *, limit: int = 100) -> tuple[JobWait, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST_LATEST, job_id=job_id, limit=check_limit(limit))
        self._unit.read("wait.list", job_id)
        return tuple(self._wait(row) for row in reversed(rows))

    async def _stored(self, wait_id: str) -> JobWait:
        row = await self._unit.fetch_one(_GET, wait_id=wait_id)
        if row is None:
            raise NotFoundError(what="wait", name=wait_id)
        return self._wait(row)

    def _wait(self, row: Any) -> JobWait:
        scope = Scope(**self._unit.owner, session_id=row.session_id)
        columns = {**row._asdict(), "scope": scope}
        if row.event_channel is not None:
            where = NOTHING if row.event_where is None else row.event_where
            columns["condition"] = {"channel": row.event_channel, "where": where}
        elif row.fact is not None:
            columns["condition"] = {name: row.fact[name] for name in _OF_FACT if name in row.fact}
        return read_stored(JobWait, columns, what=f"wait {row.wait_id}")


def _columns_of(condition: WaitCondition | None) -> dict[str, Any]:
    columns: dict[str, Any] = {"event_channel": None, "event_where": None, "fact": None}
    if isinstance(condition, FactCondition):
        keys = {"subject_key": name_key(condition.subject)}
        if condition.object is not None:
            keys["object_key"] = name_key(condition.object)
        columns["fact"] = as_json(condition.model_dump(exclude_none=True) | keys)
    elif condition is not None:
        columns |= {"event_channel": condition.channel, "event_where": as_json(condition.where)}
    return columns

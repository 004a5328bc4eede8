"""Job waits in Postgres."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    Row,
    bindparam,
    exists,
    func,
    literal_column,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from mnestic.memory.errors import (
    AlreadyExistsError,
    JobEndedError,
    NotFoundError,
    StaleVersionError,
)
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt, WaitState
from mnestic.memory.names import END_JOB
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.ledger import OPERATION
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import WaitRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork, is_owned

WAIT = table(WaitRow)

# Built once: building a statement takes as long as running a small one.
_IS = is_owned(WAIT) & (WAIT.c.wait_id == bindparam("of_wait"))
_GET = select(*WAIT.c).where(_IS)
_IS_OVER = exists().where(
    is_owned(OPERATION),
    OPERATION.c.job_id == bindparam("of_job"),
    OPERATION.c.name == literal_column(f"'{END_JOB}'"),  # as the index of ends says it
)
_OPEN = insert(WAIT).on_conflict_do_nothing().returning(_IS_OVER.label("too_late"))
_CLOSE = (
    update(WAIT)
    .where(_IS, WAIT.c.state == "waiting")
    .values(
        state=bindparam("new_state"),
        closed_at=func.now(),
        request_id=bindparam("by_request"),
        receipt=bindparam("new_receipt"),
    )
    .returning(*WAIT.c)
)
_CANCEL_OPEN = (
    update(WAIT)
    .where(is_owned(WAIT), WAIT.c.job_id == bindparam("of_job"), WAIT.c.state == "waiting")
    .values(state="cancelled", closed_at=func.now())
)
_RECEIPT = select(WAIT.c.receipt).where(
    is_owned(WAIT),
    WAIT.c.job_id == bindparam("of_job"),
    WAIT.c.request_id == bindparam("of_request"),
)


class PostgresWaitStore:
    """Implements `mnestic.memory.ports.WaitStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def open(self, wait: JobWait) -> None:
        """See the port."""
        values = wait.model_dump(mode="json", include={"context", "outcomes"})
        values |= wait.model_dump(exclude={"context", "outcomes", "scope", "closed_at", "receipt"})
        values |= {**self._unit.owner, "session_id": wait.scope.session_id}
        named = {**self._unit.here, "of_job": wait.job_id}
        opened = await self._unit.row(_OPEN, values | named)
        if opened is None:
            raise AlreadyExistsError(what="wait", name=wait.wait_id)
        if opened.too_late:
            raise JobEndedError(job_id=wait.job_id)
        self._unit.wrote("wait.open", wait.wait_id)

    async def get(self, wait_id: str) -> JobWait:
        """See the port."""
        self._unit.read("wait.get", wait_id)
        return await self._stored(wait_id)

    async def close(
        self, wait_id: str, state: WaitState, *, receipt: ResumeReceipt | None
    ) -> JobWait:
        """See the port."""
        values = {
            "new_state": state,
            "by_request": receipt.request_id if receipt else None,
            "new_receipt": receipt.model_dump(mode="json") if receipt else None,
        }
        try:
            closed = await self._unit.row(_CLOSE, self._named(wait_id) | values)
        except IntegrityError as error:  # job_wait_by_request
            name = receipt.request_id if receipt else ""
            raise AlreadyExistsError(what="resume request", name=name) from error
        if closed is not None:
            self._unit.wrote(f"wait.{state}", wait_id)
            return _wait(closed)
        stored = await self._stored(wait_id)
        if stored.state != state:
            raise StaleVersionError(
                what=f"wait {wait_id} ({stored.state})", expected=1, stored_version=2, stored=stored
            )
        return stored

    async def extend(self, wait_id: str, deadline: datetime) -> JobWait:
        """See the port."""
        statement = update(WAIT).where(_IS, WAIT.c.state == "waiting")
        extended = await self._unit.run(statement.values(deadline=deadline), self._named(wait_id))
        stored = await self._stored(wait_id)
        if not extended:
            raise StaleVersionError(
                what=f"wait {wait_id} ({stored.state})", expected=1, stored_version=2, stored=stored
            )
        self._unit.wrote("wait.extend", wait_id)
        return stored

    async def cancel_open(self, job_id: str) -> int:
        """See the port."""
        ended = await self._unit.run(_CANCEL_OPEN, {**self._unit.here, "of_job": job_id})
        if ended:
            self._unit.wrote("wait.cancelled", job_id)
        return ended

    async def find_receipt(self, job_id: str, request_id: str) -> ResumeReceipt | None:
        """See the port."""
        row = await self._unit.row(
            _RECEIPT, {**self._unit.here, "of_job": job_id, "of_request": request_id}
        )
        self._unit.read("wait.receipt", f"{job_id}/{request_id}")
        return ResumeReceipt.model_validate(row.receipt) if row else None

    async def list_by_job(
        self, job_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[JobWait, ...], str | None]:
        """See the port."""
        statement = select(*WAIT.c).where(self._unit.owned(WAIT), WAIT.c.job_id == job_id)
        if cursor is not None:
            after = decode_time_cursor(cursor)
            statement = statement.where(tuple_(WAIT.c.opened_at, WAIT.c.wait_id) > after)
        statement = statement.order_by(WAIT.c.opened_at, WAIT.c.wait_id)
        rows = await self._unit.rows(statement.limit(check_limit(limit) + 1))
        self._unit.read("wait.list", job_id)
        waits = tuple(_wait(row) for row in rows[:limit])
        if len(rows) <= limit:
            return waits, None
        return waits, encode_cursor(waits[-1].opened_at.isoformat(), waits[-1].wait_id)

    async def list_latest(self, job_id: str, *, limit: int = 100) -> tuple[JobWait, ...]:
        """See the port."""
        statement = select(*WAIT.c).where(self._unit.owned(WAIT), WAIT.c.job_id == job_id)
        statement = statement.order_by(WAIT.c.opened_at.desc(), WAIT.c.wait_id.desc())
        rows = await self._unit.rows(statement.limit(check_limit(limit)))
        self._unit.read("wait.list", job_id)
        return tuple(_wait(row) for row in reversed(rows))

    async def _stored(self, wait_id: str) -> JobWait:
        row = await self._unit.row(_GET, self._named(wait_id))
        if row is None:
            raise NotFoundError(what="wait", name=wait_id)
        return _wait(row)

    def _named(self, wait_id: str) -> dict[str, str]:
        return {**self._unit.here, "of_wait": wait_id}


def _wait(row: Row[Any]) -> JobWait:
    scope = Scope(tenant_id=row.tenant_id, agent_id=row.agent_id, session_id=row.session_id)
    columns = {**row._mapping, "scope": scope}  # noqa: SLF001 - SQLAlchemy's public name
    return read_stored(JobWait, columns, what=f"wait {row.wait_id}")

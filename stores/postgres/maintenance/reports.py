"""Reports of maintenance runs in Postgres."""

from sqlalchemy import bindparam, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.memory.maintenance.reports import MaintenanceReport, MemorySizes
from mnestic.memory.maintenance.samples import Sample
from mnestic.memory.scope import EVERY_AGENT
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.maintenance.tables import MaintenanceRunRow
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

RUN = table(MaintenanceRunRow)
_ADD = insert(RUN).on_conflict_do_nothing()
_FIND = select(*RUN.c).where(
    RUN.c.tenant_id == bindparam("in_tenant"), RUN.c.id == bindparam("of_id")
)
_LIST = (
    select(*RUN.c)
    .where(RUN.c.tenant_id == bindparam("in_tenant"))
    .order_by(RUN.c.started_at.desc(), RUN.c.id.desc())
    .limit(bindparam("at_most"))
)
_MEASURE = read_query("measure_memory")
_SAMPLES = read_query("list_samples")


class PostgresMaintenanceReportStore:
    """Implements `mnestic.memory.maintenance.ports.MaintenanceReportStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, report: MaintenanceReport) -> MaintenanceReport:
        """See the port."""
        values = report.model_dump() | {
            "problems": [*report.problems],
            "usage": report.usage.model_dump(mode="json"),
        }
        if await self._unit.run(_ADD, {"tenant_id": self._unit.tenant_id, **values}):
            self._unit.wrote("maintenance_run.add", report.id)
            return report
        row = await self._unit.row(_FIND, {"in_tenant": self._unit.tenant_id, "of_id": report.id})
        return MaintenanceReport.model_validate(row, from_attributes=True)

    async def list_reports(
        self, kind: MaintenanceKind | None, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[MaintenanceReport, ...], str | None]:
        """See the port."""
        statement = _LIST if kind is None else _LIST.where(RUN.c.kind == kind)
        if cursor is not None:
            statement = statement.where(
                tuple_(RUN.c.started_at, RUN.c.id) < decode_time_cursor(cursor)
            )
        values = {"in_tenant": self._unit.tenant_id, "at_most": check_limit(limit) + 1}
        rows = await self._unit.rows(statement, values)
        self._unit.read("maintenance_run.list", kind or "*")
        found = tuple(
            MaintenanceReport.model_validate(row, from_attributes=True) for row in rows[:limit]
        )
        if len(rows) <= limit:
            return found, None
        return found, encode_cursor(found[-1].started_at.isoformat(), found[-1].id)

    async def measure(self) -> MemorySizes:
        """See the port."""
        query = _MEASURE.bind({"tenant_id": self._unit.tenant_id, "every_agent": EVERY_AGENT})
        ((row,),) = await self._unit.rows_of(query)
        return MemorySizes.model_validate(row._asdict())

    async def list_samples(self) -> tuple[Sample, ...]:
        """See the port."""
        query = _SAMPLES.bind({"tenant_id": self._unit.tenant_id, "every_agent": EVERY_AGENT})
        (rows,) = await self._unit.rows_of(query)
        return tuple(Sample.model_validate(row._asdict()) for row in rows)

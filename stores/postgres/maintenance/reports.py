"""Reports of maintenance runs in Postgres."""

from typing import Any

from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.memory.maintenance.reports import MaintenanceReport, MemorySizes
from mnestic.memory.maintenance.samples import Sample
from mnestic.memory.scope import EVERY_AGENT
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ADD, _FIND = read_query("reports.add"), read_query("reports.find")
_LIST = read_query("reports.list")
_MEASURE = read_query("measure_memory")
_SAMPLES = read_query("list_samples")


class PostgresMaintenanceReportStore:
    """Implements `mnestic.memory.maintenance.ports.MaintenanceReportStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, report: MaintenanceReport) -> MaintenanceReport:
        """See the port."""
        columns = report.model_dump() | {"usage": report.usage.model_dump(mode="json")}
        documents = ("counts", "usage", "problems", "sizes")
        columns |= {name: as_json(columns[name]) for name in documents}
        if await self._unit.write(_ADD, **columns):
            self._unit.wrote("maintenance_run.add", report.id)
            return report
        return _report(await self._unit.fetch_one(_FIND, id=report.id))

    async def list_reports(
        self, kind: MaintenanceKind | None, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[MaintenanceReport, ...], str | None]:
        """See the port."""
        before, before_id = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST, of_kind=kind, before=before, before_id=before_id, limit=check_limit(limit) + 1
        )
        self._unit.read("maintenance_run.list", kind or "*")
        found = tuple(map(_report, rows[:limit]))
        if len(rows) <= limit:
            return found, None
        return found, encode_cursor(found[-1].started_at.isoformat(), found[-1].id)

    async def measure(self) -> MemorySizes:
        """See the port."""
        (row,) = await self._unit.fetch(_MEASURE, every_agent=EVERY_AGENT)
        return MemorySizes.model_validate(row._asdict())

    async def list_samples(self) -> tuple[Sample, ...]:
        """See the port."""
        rows = await self._unit.fetch(_SAMPLES, every_agent=EVERY_AGENT)
        return tuple(Sample.model_validate(row._asdict()) for row in rows)


def _report(row: Any) -> MaintenanceReport:
    return MaintenanceReport.model_validate(row, from_attributes=True)

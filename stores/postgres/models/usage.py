"""Calls of language models in Postgres."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.models.costs import ModelCosts
from mnestic.memory.models.usage import ModelCall, Purpose, UsageTotal
from mnestic.stores.postgres.tables import UsageRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

USAGE = table(UsageRow)
_TOTAL = select(
    func.count().label("calls"),
    func.count().filter(USAGE.c.cost_usd.is_(None)).label("unpriced"),
    func.coalesce(func.sum(USAGE.c.input_tokens), 0).label("input_tokens"),
    func.coalesce(func.sum(USAGE.c.output_tokens), 0).label("output_tokens"),
    func.coalesce(func.sum(USAGE.c.cost_usd), 0).label("cost_usd"),
)
_BY_MODEL = (
    _TOTAL.add_columns(
        USAGE.c.purpose,
        USAGE.c.model,
        func.coalesce(func.sum(USAGE.c.injected_tokens), 0).label("injected_tokens"),
    )
    .group_by(USAGE.c.purpose, USAGE.c.model)
    .order_by(USAGE.c.purpose, USAGE.c.model)
)


class PostgresUsageStore:
    """Implements `mnestic.memory.ports.UsageStore`.

    For the audit log a call is a read: memory stays as it was, and so does its revision.
    """

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, call: ModelCall) -> None:
        """See the port."""
        values = call.model_dump()
        await self._unit.run(
            insert(USAGE).values(**self._unit.owner, created_at=func.now(), **values)
        )
        self._unit.read("usage.add", call.model)

    async def sum_by_job(self, job_id: str) -> UsageTotal:
        """See the port."""
        total = await self._sum(self._unit.owned(USAGE), USAGE.c.job_id == job_id)
        self._unit.read("usage.sum", f"job {job_id}")
        return total

    async def sum_by_run(self, run: str) -> UsageTotal:
        """See the port."""
        total = await self._sum(
            USAGE.c.tenant_id == self._unit.tenant_id,
            USAGE.c.operation_key == run,
            USAGE.c.purpose == literal_column("'maintain'"),
        )
        self._unit.read("usage.sum", run)
        return total

    async def sum_since(self, moment: datetime, purposes: Sequence[Purpose]) -> UsageTotal:
        """See the port."""
        total = await self._sum(
            USAGE.c.tenant_id == self._unit.tenant_id,
            USAGE.c.created_at >= moment,
            USAGE.c.purpose.in_(purposes),
        )
        self._unit.read("usage.sum", f"{', '.join(purposes)} since {moment.isoformat()}")
        return total

    async def sum_by_model(
        self, since: datetime, until: datetime, *, agent_id: str | None = None
    ) -> tuple[ModelCosts, ...]:
        """See the port."""
        summed = _BY_MODEL.where(
            USAGE.c.tenant_id == self._unit.tenant_id,
            USAGE.c.created_at >= since,
            USAGE.c.created_at < until,
        )
        if agent_id is not None:
            summed = summed.where(USAGE.c.agent_id == agent_id)
        rows = await self._unit.rows(summed)
        self._unit.read("usage.sum", agent_id or "*")
        return tuple(ModelCosts.model_validate(row, from_attributes=True) for row in rows)

    async def _sum(self, *conditions: Any) -> UsageTotal:
        row = await self._unit.row(_TOTAL.where(*conditions))
        return UsageTotal.model_validate(row, from_attributes=True)

"""Calls of language models in Postgres."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.models.costs import ModelCosts
from mnestic.memory.models.usage import ModelCall, Purpose, UsageTotal
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ADD, _SUM = read_query("usage.add"), read_query("usage.sum")
_SUM_BY_MODEL = read_query("usage.sum_by_model")


class PostgresUsageStore:
    """Implements `mnestic.memory.models.ports.UsageStore`.

    For the audit log a call is a read: memory stays as it was, and so does its revision.
    """

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, call: ModelCall) -> None:
        """See the port."""
        await self._unit.write(_ADD, **self._unit.account, **call.model_dump())
        self._unit.read("usage.add", call.model)

    async def sum_by_job(self, job_id: str) -> UsageTotal:
        """See the port."""
        total = await self._sum(of_job=job_id)
        self._unit.read("usage.sum", f"job {job_id}")
        return total

    async def sum_by_run(self, run: str) -> UsageTotal:
        """See the port."""
        total = await self._sum(of_run=run)
        self._unit.read("usage.sum", run)
        return total

    async def sum_since(self, moment: datetime, purposes: Sequence[Purpose]) -> UsageTotal:
        """See the port."""
        total = await self._sum(since=moment, purposes=[*purposes])
        self._unit.read("usage.sum", f"{', '.join(purposes)} since {moment.isoformat()}")
        return total

    async def sum_by_model(
        self, since: datetime, until: datetime, *, agent_id: str | None = None
    ) -> tuple[ModelCosts, ...]:
        """See the port."""
        rows = await self._unit.fetch(_SUM_BY_MODEL, since=since, until=until, of_agent=agent_id)
        self._unit.read("usage.sum", agent_id or "*")
        return tuple(ModelCosts.model_validate(row._asdict()) for row in rows)

    async def _sum(self, **conditions: Any) -> UsageTotal:
        (row,) = await self._unit.fetch(
            _SUM, **dict.fromkeys(("of_job", "of_run", "since", "purposes")) | conditions
        )
        return UsageTotal.model_validate(row._asdict())

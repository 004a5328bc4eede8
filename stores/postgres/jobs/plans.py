"""Plans in Postgres, by their hash."""

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.jobs.plans import Plan
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import PlanRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

PLAN = table(PlanRow)


class PostgresPlanStore:
    """Implements `mnestic.memory.ports.PlanStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def put(self, plan: Plan) -> None:
        """See the port."""
        statement = insert(PLAN).values(
            tenant_id=self._unit.tenant_id,
            decision_id=plan.decision_id,
            document=plan.model_dump(mode="json"),
            created_at=func.now(),
        )
        if await self._unit.run(statement.on_conflict_do_nothing()):
            self._unit.wrote("plan.put", plan.decision_id)

    async def find(self, decision_id: str) -> Plan | None:
        """See the port."""
        row = await self._unit.row(
            select(PLAN.c.document).where(
                PLAN.c.tenant_id == self._unit.tenant_id, PLAN.c.decision_id == decision_id
            )
        )
        self._unit.read("plan.get", decision_id)
        return None if row is None else read_stored(Plan, row.document, what=f"plan {decision_id}")

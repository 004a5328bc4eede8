"""Plans in Postgres, by their hash."""

from mnestic.memory.jobs.plans import Plan
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_PUT, _FIND = read_query("plans.put"), read_query("plans.find")


class PostgresPlanStore:
    """Implements `mnestic.memory.jobs.ports.PlanStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def put(self, plan: Plan) -> None:
        """See the port."""
        document = as_json(plan.model_dump(mode="json"))
        if await self._unit.write(_PUT, decision_id=plan.decision_id, document=document):
            self._unit.wrote("plan.put", plan.decision_id)

    async def find(self, decision_id: str) -> Plan | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND, decision_id=decision_id)
        self._unit.read("plan.get", decision_id)
        return None if row is None else read_stored(Plan, row.document, what=f"plan {decision_id}")

"""VACUUM as a step of monthly maintenance: what the report says of it, and that it obeys the tenant's policy."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.maintenance.steps import MaintenanceStep, StepResult
from mnestic.activities.maintenance.vacuum import VacuumActivities
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.maintenance.policies import VacuumPolicy
from mnestic.memory.maintenance.ports import RebuiltIndex, Vacuumed
from mnestic.memory.ports import Memory
from mnestic.starter.maintenance_wiring import maintenance_activities
from mnestic.starter.settings import Settings

NOON = datetime(2030, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def vacuum(memory: Memory, settings: Settings) -> Callable[..., Any]:
    """Runs the step; what the database does is given."""

    async def run(work: Any, *, dry_run: bool = False) -> StepResult:
        params = MaintenanceStep(
            tenant_id=settings.tenant_id, kind="monthly", scheduled_at=NOON, dry_run=dry_run
        )
        result: StepResult = await ActivityEnvironment().run(
            VacuumActivities(memory, vacuum=work).vacuum, params
        )
        return result

    return run


async def test_the_report_counts_and_names_what_was_rebuilt(
    vacuum: Callable[..., Any], memory: Memory, settings: Settings
) -> None:
    given: list[tuple[VacuumPolicy, bool]] = []
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="*", actor="test", write=True
    ) as transaction:
        changed = {"monthly": {"vacuum": {"rebuild_from_mib": 7}}}
        await transaction.settings.put("maintenance", changed)

    async def work(policy: VacuumPolicy, dry_run: bool) -> Vacuumed:
        given.append((policy, dry_run))
        index = RebuiltIndex("entry_by_time", before=900, after=300)
        return Vacuumed(tables=("entry", "fact"), rebuilt=(index,), problems=("fact: busy",))

    result = await vacuum(work, dry_run=True)

    assert given == [(VacuumPolicy(rebuild_from_mib=7), True)]
    assert result.counts == {
        "tables_vacuumed": 2,
        "indexes_rebuilt": 1,
        "bytes freed of entry_by_time": 600,
    }
    assert result.problems == ("fact: busy",)


async def test_a_worker_that_may_not_vacuum_names_it_as_a_problem(
    vacuum: Callable[..., Any],
) -> None:
    async def work(_: VacuumPolicy, __: bool) -> Vacuumed:
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why="owns no table")

    result = await vacuum(work)

    assert result.counts == {}
    (problem,) = result.problems
    assert problem.startswith("vacuum: ")
    assert "owns no table" in problem


async def test_a_worker_runs_it_on_the_database(
    memory: Memory, settings: Settings, admin_url: str
) -> None:
    (work,) = (
        one
        for one in maintenance_activities(memory, admin_url=admin_url)
        if one.__name__ == "vacuum"
    )
    params = MaintenanceStep(
        tenant_id=settings.tenant_id, kind="monthly", scheduled_at=NOON, dry_run=True
    )

    result = await ActivityEnvironment().run(work, params)

    assert result.problems == ()
    assert set(result.counts) <= {"tables_vacuumed", "indexes_rebuilt"} | {
        name for name in result.counts if name.startswith("bytes freed of ")
    }

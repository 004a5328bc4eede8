"""VACUUM as a step of monthly maintenance: what the report says of it, and that it obeys the tenant's policy."""

from collections.abc import Callable
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
from tests.activities.maintenance.conftest import NOON


@pytest.fixture
def vacuum(memory: Memory, settings: Settings) -> Callable[..., Any]:
    """Runs the step in a dry run; what the database does is given, unless it is to do it."""

    async def run(work: Any = None, *, admin_url: str = "") -> StepResult:
        step = VacuumActivities(memory, vacuum=work).vacuum
        if work is None:
            activities = maintenance_activities(memory, admin_url=admin_url)
            (step,) = (one for one in activities if one.__name__ == "vacuum")
        params = MaintenanceStep(
            tenant_id=settings.tenant_id, kind="monthly", scheduled_at=NOON, dry_run=True
        )
        return await ActivityEnvironment().run(step, params)

    return run


async def test_the_report_counts_and_names_what_was_rebuilt(
    vacuum: Callable[..., Any], set_policy: Callable[..., Any]
) -> None:
    given: list[tuple[VacuumPolicy, bool]] = []
    await set_policy(monthly={"vacuum": {"rebuild_from_mib": 7}})

    async def work(policy: VacuumPolicy, dry_run: bool) -> Vacuumed:
        given.append((policy, dry_run))
        index = RebuiltIndex("entry_by_time", before=900, after=300)
        return Vacuumed(tables=("entry", "fact"), rebuilt=(index,), problems=("fact: busy",))

    result = await vacuum(work)

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


async def test_a_worker_runs_it_on_the_database(vacuum: Callable[..., Any], admin_url: str) -> None:
    result = await vacuum(admin_url=admin_url)

    names = {name for name in result.counts if not name.startswith("bytes freed of ")}
    assert result.problems == ()
    assert names <= {"tables_vacuumed", "indexes_rebuilt"}

"""What tests of maintenance need: a run of its activities, and the rows that it leaves."""

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.maintenance.batches import BATCH_SIZES, BatchSizes
from mnestic.activities.maintenance.period_summary_steps import PeriodSummaryActivities
from mnestic.activities.maintenance.run_model import RunModel
from mnestic.activities.maintenance.steps import MaintenanceActivities, MaintenanceStep, StepResult
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.maintenance.policies import MaintenancePolicy
from mnestic.memory.ports import Memory, Summariser
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Begin, Execute
from tests.activities.maintenance.period_samples import NIGHT, Build, Names

NOON = datetime(2030, 3, 2, 12, tzinfo=UTC)
_TABLES = (
    *("entry", "entry_term", "posting", "embedding"),
    *("fact", "graph_edge", "claim", "category", "archived_entry"),
)


@pytest.fixture
def run(memory: Memory, settings: Settings) -> Callable[..., Any]:
    """Runs the activity for all agents of the tenant, at a moment."""

    async def index(*_: object) -> tuple[int, int]:
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why="owns no table")

    async def step(
        at: datetime = NOON,
        *,
        sizes: BatchSizes = BATCH_SIZES,
        last: StepResult | None = None,
        **fields: Any,
    ) -> StepResult:
        activities = MaintenanceActivities(
            memory, index_vectors=index, count_tokens=count_tokens, sizes=sizes
        )
        step_of = {"tenant_id": settings.tenant_id, "kind": "nightly", "scheduled_at": at, **fields}
        params = MaintenanceStep.model_validate(step_of)
        environment = ActivityEnvironment()
        details = [] if last is None else [last.model_dump()]
        environment.info = dataclasses.replace(environment.info, heartbeat_details=details)
        result: StepResult = await environment.run(activities.maintain, params)
        return result

    return step


@pytest.fixture
def stored(execute: Execute) -> Callable[[], dict[str, list[Any]]]:
    """All rows of the tenant's knowledge, table by table."""
    rows = "SELECT r::text FROM mnestic.{} AS r WHERE tenant_id = %s ORDER BY 1"
    return lambda: {name: [row for (row,) in execute(rows.format(name))] for name in _TABLES}


@pytest.fixture
def count_accesses(begin: Begin) -> Callable[..., Any]:
    """Counts that entries of ada, or the entries of facts, were retrieved so often."""

    async def count(*ids: str, times: int = 1) -> None:
        async with begin() as transaction:
            assert not await transaction.accesses.count(dict.fromkeys(ids, times))

    return count


@pytest.fixture
def learn_at_message_time(execute: Execute) -> Callable[[], None]:
    """Has all that the tenant has stored be learned when it was said, as if this were a year ago."""

    def change() -> None:
        execute("UPDATE mnestic.entry SET created_at = at WHERE tenant_id = %s")
        execute("UPDATE mnestic.claim SET recorded_at = said_at WHERE tenant_id = %s")

    return change


@pytest.fixture
def set_policy(begin: Begin) -> Callable[..., Any]:
    """Sets values of the nightly policy of the tenant, or whole parts of the policy."""

    async def put(**values: Any) -> None:
        names = [name for name in values if name in MaintenancePolicy.model_fields]
        parts = {name: values.pop(name) for name in names}
        async with begin("*") as transaction:
            await transaction.settings.put("maintenance", {"nightly": values, **parts})

    return put


@pytest.fixture
def build(memory: Memory, settings: Settings, set_policy: Callable[..., Any]) -> Build:
    """Builds the summaries of all agents with more messages than some, at a time."""

    async def run(
        at: datetime = NIGHT,
        *,
        above: int = 0,
        summariser: Summariser | None = None,
        calls: int = 9,
        **fields: Any,
    ) -> StepResult:
        activities = PeriodSummaryActivities(
            memory,
            RunModel(memory, summariser),
            quoting=LocalSummariser(),
            count_tokens=count_tokens,
        )
        await set_policy(summarise_above_messages=above, budget={"model_calls": calls})
        params = MaintenanceStep(
            tenant_id=settings.tenant_id, kind="nightly", scheduled_at=at, **fields
        )
        result: StepResult = await ActivityEnvironment().run(activities.summarise, params)
        return result

    return run


@pytest.fixture
def summaries(begin: Begin) -> Names:
    """The texts of all summaries of ada, by name."""

    async def read() -> dict[str, str]:
        async with begin(write=False) as transaction:
            found, _ = await transaction.summaries.list_summaries()
        return {one.name: one.text for one in found}

    return read

"""What tests of maintenance need: a run of its activities, and the rows that it leaves."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import sql
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.maintenance.period_summary_steps import PeriodSummaryActivities
from mnestic.activities.maintenance.run_model import RunModel
from mnestic.activities.maintenance.steps import MaintenanceActivities, MaintenanceStep, StepResult
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from tests.activities.maintenance.period_samples import NIGHT, Build, Names

NOON = datetime(2030, 3, 2, 12, tzinfo=UTC)
_TABLES = (
    "entry",
    "entry_term",
    "posting",
    "lexeme",
    "embedding",
    "fact",
    "graph_edge",
    "claim",
    "category",
    "archived_entry",
)

_LEARNED_WHEN_SAID = (
    "UPDATE mnestic.entry SET created_at = at WHERE tenant_id = %s",
    "UPDATE mnestic.claim SET recorded_at = said_at WHERE tenant_id = %s",
)


@pytest.fixture
def run(memory: Memory, settings: Settings) -> Callable[..., Any]:
    """Runs the activity for all agents of the tenant, at a moment."""

    async def index(*_: object) -> tuple[int, int]:
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why="owns no table")

    activities = MaintenanceActivities(memory, index_vectors=index, count_tokens=count_tokens)

    async def step(at: datetime = NOON, *, is_index: bool = False, **fields: Any) -> StepResult:
        step_of = {"tenant_id": settings.tenant_id, "kind": "nightly", "scheduled_at": at, **fields}
        params = MaintenanceStep.model_validate(step_of)
        work = activities.index if is_index else activities.maintain
        result: StepResult = await ActivityEnvironment().run(work, params)
        return result

    return step


@pytest.fixture
def stored(admin_url: str, settings: Settings) -> Callable[[], dict[str, list[Any]]]:
    """All rows of the tenant's knowledge, table by table."""

    def read() -> dict[str, list[Any]]:
        found = {}
        with psycopg.connect(admin_url) as connection:
            for name in _TABLES:
                query = sql.SQL(
                    "SELECT r::text FROM mnestic.{} AS r WHERE tenant_id = %s ORDER BY 1"
                )
                rows = connection.execute(
                    query.format(sql.Identifier(name)), [settings.tenant_id]
                ).fetchall()
                found[name] = [row[0] for row in rows]
        return found

    return read


@pytest.fixture
def count_accesses(memory: Memory, settings: Settings) -> Callable[..., Any]:
    """Counts that entries of ada, or the entries of facts, were retrieved so often."""

    async def count(*ids: str, times: int = 1) -> None:
        async with memory.transaction(
            tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
        ) as transaction:
            assert not await transaction.accesses.count(dict.fromkeys(ids, times))

    return count


@pytest.fixture
def learn_at_message_time(admin_url: str, settings: Settings) -> Callable[[], None]:
    """Has all that the tenant has stored be learned when it was said, as if this were a year ago."""

    def change() -> None:
        with psycopg.connect(admin_url) as owner:
            for statement in _LEARNED_WHEN_SAID:
                owner.execute(statement, [settings.tenant_id])

    return change


@pytest.fixture
def set_policy(memory: Memory, settings: Settings) -> Callable[..., Any]:
    """Sets values of the nightly policy of the tenant, or of another part of the policy."""

    async def put(**values: Any) -> None:
        parts = {name: values.pop(name) for name in ("budget", "weekly") if name in values}
        async with memory.transaction(
            tenant_id=settings.tenant_id, agent_id="*", actor="test", write=True
        ) as transaction:
            await transaction.settings.put("maintenance", {"nightly": values, **parts})

    return put


@pytest.fixture
def build(memory: Memory, settings: Settings, set_policy: Callable[..., Any]) -> Build:
    """Builds the summaries of all agents with more messages than some, at a time."""
    activities = PeriodSummaryActivities(
        memory, RunModel(memory, None), quoting=LocalSummariser(), count_tokens=count_tokens
    )

    async def run(at: datetime = NIGHT, *, above: int = 0, **fields: Any) -> StepResult:
        await set_policy(summarise_above_messages=above)
        params = MaintenanceStep(
            tenant_id=settings.tenant_id, kind="nightly", scheduled_at=at, **fields
        )
        result: StepResult = await ActivityEnvironment().run(activities.summarise, params)
        return result

    return run


@pytest.fixture
def summaries(memory: Memory, settings: Settings) -> Names:
    """The texts of all summaries of ada, by name."""

    async def read() -> dict[str, str]:
        async with memory.transaction(
            tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=False
        ) as transaction:
            found, _ = await transaction.summaries.list_summaries()
        return {one.name: one.text for one in found}

    return read

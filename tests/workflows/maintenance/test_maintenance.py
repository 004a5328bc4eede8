"""`Maintenance` in Temporal: by hand, by its Schedule, and what an operator has changed."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowFailureError

from mnestic.activities.clients.openai_compatible import OpenAISummariser, openai_client
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.maintenance.reports import (
    MaintenanceProgress,
    MaintenanceReport,
    MaintenanceRequest,
)
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.names import MAINTENANCE, maintenance_queue, maintenance_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import (
    create_schedules,
    maintenance_activities,
    make_maintenance_worker,
)
from mnestic.starter.settings import Settings
from tests.transactions import Begin

Until = Callable[..., Awaitable[Any]]


@pytest.fixture
async def maintained(
    client: MnesticClient, memory: Memory, settings: Settings, admin_url: str
) -> AsyncIterator[None]:
    """A worker of maintenance, and the Schedules that it creates."""
    activities = maintenance_activities(memory, admin_url=admin_url)
    async with make_maintenance_worker(client.temporal, settings, activities=activities):
        await create_schedules(memory, client.temporal, settings)
        yield


@pytest.mark.usefixtures("maintained")
async def test_a_run_by_hand_reports_and_its_report_stays(client: MnesticClient) -> None:
    await client.memory("ada").add("The code is 4711.", at=datetime.now(UTC) - timedelta(days=9))

    dry = await (await client.maintenance.start("nightly", dry_run=True)).result()
    report = await (await client.maintenance.start("nightly", agent_id="ada")).result()

    reports, _ = await client.maintenance.list_reports("nightly")
    assert dry.dry_run
    assert (dry.agents, dry.counts, dry.problems) == (1, {}, ())
    assert (report.agents, report.agent_id, report.counts) == (1, "ada", {})
    assert reports == (report, dry)
    assert await client.maintenance.list_last_reports() == ()  # neither was of all agents


async def test_a_report_has_what_the_models_calls_took(
    client: MnesticClient, memory: Memory, settings: Settings, admin_url: str, chat_server: Any
) -> None:
    no_owner = admin_url.replace("postgres@", "mnestic_app@")
    for agent in ("ada", "bob"):
        await client.memory(agent).facts.add("Mara", "lives_in", "Ghent")
    await client.maintenance.set_policy("budget.model_calls", 1)
    chat_server.completes('{"summary": "Ghent is home to Mara."}')
    prices = ModelPrices.model_validate({"small": {"input": 1000, "output": 1000}})
    async with openai_client(api_key="sk-x", base_url=chat_server.base_url) as openai:
        activities = maintenance_activities(
            memory,
            admin_url=no_owner,
            summariser=OpenAISummariser(openai, model="small"),
            prices=prices,
        )
        async with make_maintenance_worker(client.temporal, settings, activities=activities):
            dry = await (await client.maintenance.start("nightly", dry_run=True)).result()
            asked = len(chat_server.requests)
            of_ada = await (
                await client.maintenance.start("nightly", agent_id="ada", dry_run=True)
            ).result()
            report = await (await client.maintenance.start("nightly")).result()

    would = {"categories_rebuilt": 2, "categories_summarised": 2, "model_calls_estimated": 2}
    assert (dry.counts, asked) == (would, 0)
    (problem,) = dry.problems
    assert "indexes: MNESTIC_DATABASE_ADMIN_URL" in problem
    assert of_ada.problems == (problem,)
    assert report.counts == {"categories_rebuilt": 2, "categories_summarised": 1, "agents_left": 1}
    assert (report.usage.calls, report.usage.tokens) == (1, 18)
    assert report.usage.cost_usd == Decimal("0.018")
    assert "1 of 1 model calls; agents left for the next run: 1 (bob)" in report.problems[0]
    assert (await client.maintenance.list_reports())[0] == (report, of_ada, dry)
    assert str(report.usage) == "model calls: 1, 18 tokens, 0.018 USD"


async def test_a_run_says_how_far_it_is_and_shows_what_it_did(
    client: MnesticClient, memory: Memory, settings: Settings, admin_url: str
) -> None:
    for agent_id in ("ada", "bo"):
        await client.memory(agent_id).add("Gone.", expires_at=datetime.now(UTC))
    run = await client.maintenance.start("nightly")
    run_id = run.id.rpartition("/")[2]
    before = await client.maintenance.find_progress(run_id)  # which no worker has taken yet
    activities = maintenance_activities(memory, admin_url=admin_url)
    async with make_maintenance_worker(client.temporal, settings, activities=activities):
        report = await run.result()
        progress = await client.maintenance.find_progress(run_id)
        metadata = await run.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)

    assert before is None
    assert progress is not None
    assert (progress.agents, progress.counts) == (2, report.counts)
    shown = [f"- {name.replace('_', ' ')}: {number}" for name, number in report.counts.items()]
    assert metadata.current_details.splitlines() == ["**Done**: nightly, 2 agents", "", *shown]
    assert "- entries expired: 2" in shown


@pytest.mark.usefixtures("maintained")
async def test_a_batch_that_runs_counts_by_its_heartbeats(
    client: MnesticClient, until: Until, begin: Begin
) -> None:
    await client.memory("ada").add("The code is 4711.")
    await client.memory("bo").facts.add("Mara", "lives_in", "Ghent")

    async with begin("bo") as held:  # maintenance waits for whoever writes the second agent's facts
        await held.categories.lock()
        started = await client.maintenance.start("nightly")

        async def first() -> MaintenanceProgress | None:
            found = await client.maintenance.find_progress(started.id.rpartition("/")[2])
            return found if found and found.agents else None

        progress = await until(first)

    report = await started.result()
    assert progress.agents == 1
    assert report.agents == 2


@pytest.mark.usefixtures("maintained")
async def test_the_month_runs_on_its_first_sunday(client: MnesticClient) -> None:
    (first,) = [one for one in await client.maintenance.list_schedules() if one.kind == "monthly"]
    await client.maintenance.set_policy("monthly.times.week_of_month", 3)
    (third,) = [one for one in await client.maintenance.list_schedules() if one.kind == "monthly"]
    report = await (await client.maintenance.start("monthly", dry_run=True)).result()

    assert first.next_run_at is not None
    assert third.next_run_at is not None
    assert (first.next_run_at.isoweekday(), first.next_run_at.hour) == (7, 1)
    assert first.next_run_at.day in range(1, 8)
    assert third.next_run_at.isoweekday() == 7
    assert third.next_run_at.day in range(15, 22)
    assert (report.kind, report.dry_run, report.problems) == ("monthly", True, ())


@pytest.mark.usefixtures("maintained")
async def test_a_run_for_the_future_fails_and_changes_nothing(
    client: MnesticClient, settings: Settings
) -> None:
    ada, now = client.memory("ada"), datetime.now(UTC)
    entry = await ada.add("The code is 4711.", expires_at=now + timedelta(days=1))

    run = await client.temporal.start_workflow(
        MAINTENANCE,
        MaintenanceRequest(
            tenant_id=settings.tenant_id, kind="nightly", scheduled_at=now + timedelta(days=9)
        ),
        id=maintenance_workflow_id(settings.tenant_id, "nightly"),
        task_queue=maintenance_queue(settings.task_queue),
        result_type=MaintenanceReport,
    )
    with pytest.raises(WorkflowFailureError) as failed:
        await run.result()

    assert "in the future" in str(failed.value.cause)
    assert (await ada.entries.get(entry.id)).id == entry.id
    assert (await client.maintenance.list_reports())[0] == ()


async def test_without_a_folder_there_is_no_schedule_until_a_worker_has_one(
    client: MnesticClient, memory: Memory, settings: Settings, tmp_path: Path
) -> None:
    await create_schedules(memory, client.temporal, settings)
    await client.maintenance.set_policy("backup.times.hour", 5)
    await client.maintenance.set_policy("backup.times.jitter", "PT0S")
    before = [one.kind for one in await client.maintenance.list_schedules()]

    with_folder = settings.model_copy(update={"backup_directory": tmp_path / "backups"})
    await create_schedules(memory, client.temporal, with_folder)

    after = {one.kind: one for one in await client.maintenance.list_schedules()}
    assert "backup" not in before
    assert after["backup"].next_run_at is not None
    assert after["backup"].next_run_at.hour == 5


async def test_a_backup_is_of_a_whole_tenant_and_of_now(client: MnesticClient) -> None:
    day = datetime(2026, 3, 1, tzinfo=UTC)

    with pytest.raises(InvalidInputError, match="a backup is of a whole tenant"):
        await client.maintenance.start("backup", agent_id="ada")
    with pytest.raises(InvalidInputError, match="makes backups of now"):
        await client.maintenance.backfill("backup", since=day, until=day + timedelta(days=2))

"""The Schedules of maintenance follow the policy, whoever changes or restores it and whatever ends half way; else they are the operator's."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from temporalio.api.workflowservice.v1 import ListScheduleMatchingTimesRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleCalendarSpec,
    ScheduleHandle,
    ScheduleOverlapPolicy,
    ScheduleRange,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RetryConfig

from mnestic.memory.errors import TemporalUnavailableError
from mnestic.memory.maintenance.policies import (
    MAINTENANCE_KINDS,
    MaintenanceKind,
    MaintenancePolicy,
)
from mnestic.memory.names import maintenance_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.state import RuntimeState
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance.maintenance_client import MaintenanceClient
from mnestic.starter.maintenance_wiring import create_schedules
from mnestic.starter.settings import Settings
from mnestic.starter.temporal_connection import TemporalConnection


@pytest.fixture(autouse=True)
async def scheduled(client: MnesticClient, memory: Memory, settings: Settings) -> None:
    """The Schedules that a worker creates when it starts."""
    with_backups = settings.model_copy(update={"backup_directory": settings.data_dir})
    await create_schedules(memory, client.temporal, with_backups)


@pytest.fixture
async def cut_off(servers: RuntimeState, memory: Memory, settings: Settings) -> MaintenanceClient:
    """A client that reaches the database, and whose way to Temporal has ended after it connected."""
    writers: list[asyncio.StreamWriter] = []

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = servers.temporal_address.rpartition(":")
        other_reader, other_writer = await asyncio.open_connection(host, int(port))
        writers.extend((writer, other_writer))
        await asyncio.gather(passed(reader, other_writer), passed(other_reader, writer))

    way = await asyncio.start_server(forward, "127.0.0.1")
    address = "{}:{}".format(*way.sockets[0].getsockname())
    temporal = await Client.connect(address, retry_config=RetryConfig(max_retries=1))
    way.close()
    for writer in writers:
        writer.close()
    connection = TemporalConnection(
        temporal=temporal, address=address, task_queue=settings.task_queue
    )
    return MaintenanceClient(connection, memory, tenant_id=settings.tenant_id)


async def test_schedules_are_as_the_policy_declares(
    client: MnesticClient, settings: Settings
) -> None:
    await client.maintenance.set_policy("nightly.times.time_zone", "Europe/Berlin")
    await client.maintenance.set_policy("nightly.times.catch_up", "PT3H")

    policy = await client.maintenance.policy()

    for kind in MAINTENANCE_KINDS:
        schedule, times = await described(client, settings, kind), policy.times(kind)
        assert schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
        assert schedule.policy.pause_on_failure
        assert schedule.policy.catchup_window == times.catch_up_window
        assert schedule.spec.jitter == times.jitter
        assert schedule.spec.time_zone_name in {times.time_zone, ""}  # which is UTC
        assert clock_of(schedule) == (times.hour, times.minute)
    nightly = await described(client, settings, "nightly")
    assert nightly.spec.time_zone_name == "Europe/Berlin"
    assert nightly.policy.catchup_window == timedelta(hours=3)


async def test_a_weekly_or_monthly_run_that_was_missed_is_caught_up_however_late(
    client: MnesticClient, settings: Settings
) -> None:
    await client.maintenance.set_policy("weekly.times.hour", 5)

    windows = {
        kind: (await described(client, settings, kind)).policy.catchup_window
        for kind in MAINTENANCE_KINDS
    }

    assert windows["nightly"] == windows["cleanup"] == windows["backup"] == timedelta(days=1)
    assert windows["weekly"] == windows["monthly"] > timedelta(days=9999)


@pytest.mark.parametrize(
    ("zone", "clock", "days", "runs"),
    [
        ("Europe/Berlin", (2, 30), ("2027-03-27", "2027-03-29"), [(27, 1, 30), (28, 1, 30), (29, 0, 30)]),
        ("Europe/Berlin", (2, 30), ("2027-10-30", "2027-11-01"), [(30, 0, 30), (31, 1, 30), (1, 1, 30)]),
        ("Europe/Berlin", (3, 30), ("2027-03-27", "2027-03-28"), [(27, 2, 30), (28, 1, 30)]),
        ("America/Santiago", (0, 15), ("2027-09-04", "2027-09-06"), [(4, 4, 15), (5, 4, 15), (6, 3, 15)]),
    ],
)  # fmt: skip
async def test_a_run_at_an_hour_that_the_clock_skips_comes_later(
    client: MnesticClient,
    settings: Settings,
    zone: str,
    clock: tuple[int, int],
    days: tuple[str, str],
    runs: list[tuple[int, int, int]],
) -> None:
    await client.maintenance.set_policy("nightly.times.jitter", "PT0S")
    await client.maintenance.set_policy("nightly.times.hour", clock[0])
    await client.maintenance.set_policy("nightly.times.minute", clock[1])
    await client.maintenance.set_policy("nightly.times.time_zone", zone)
    first, last = (datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)) for day in days)
    request = ListScheduleMatchingTimesRequest(
        namespace=client.temporal.namespace,
        schedule_id=handle(client, settings, "nightly").id,
    )
    request.start_time.FromDatetime(first)
    request.end_time.FromDatetime(last + timedelta(hours=23))

    answer = await client.temporal.workflow_service.list_schedule_matching_times(request)

    found = [moment.ToDatetime() for moment in answer.start_time]
    assert [(one.day, one.hour, one.minute) for one in found] == runs


async def test_changes_at_the_same_time_are_all_made(
    client: MnesticClient, settings: Settings
) -> None:
    changes: Mapping[str, Any] = {
        "nightly.times.hour": 7,
        "nightly.times.minute": 41,
        "weekly.times.hour": 8,
        "always_removable": 11,
        "largest_removal_share": 0.3,
    }
    hours = [("monthly.times.hour", hour) for hour in range(4, 12)]  # of which one counts

    await asyncio.gather(
        *(client.maintenance.set_policy(*change) for change in [*changes.items(), *hours])
    )

    policy = await client.maintenance.policy()
    assert (policy.always_removable, policy.largest_removal_share) == (11, 0.3)
    assert policy.monthly.times.hour in range(4, 12)
    assert await clock(client, settings, "monthly") == clock_in(policy, "monthly")
    assert await clock(client, settings, "nightly") == (7, 41) == clock_in(policy, "nightly")
    assert await clock(client, settings, "weekly") == (8, 0) == clock_in(policy, "weekly")


async def test_a_change_that_temporal_did_not_hear_of_is_made_when_a_worker_starts_or_with_the_next_one(
    client: MnesticClient, cut_off: MaintenanceClient, memory: Memory, settings: Settings
) -> None:
    before = await clock(client, settings, "nightly")

    await cut_off.set_policy("always_removable", 11)  # which is no time, and needs no Temporal
    with pytest.raises(TemporalUnavailableError, match=r"hour is stored, .* when a worker starts"):
        await cut_off.set_policy("nightly.times.hour", 17)
    between = await clock(client, settings, "nightly")
    await create_schedules(memory, client.temporal, settings)
    started = await clock(client, settings, "nightly")
    with pytest.raises(TemporalUnavailableError):
        await cut_off.set_policy("nightly.times.hour", 18)
    await client.maintenance.set_policy("always_removable", 12)

    assert before == between == (3, 0)
    assert started == (17, 0)
    assert await clock(client, settings, "nightly") == (18, 0)


async def test_an_operators_edit_stays_until_the_time_is_set(
    client: MnesticClient, memory: Memory, settings: Settings
) -> None:
    await client.maintenance.set_policy("nightly.times.hour", 4)

    await handle(client, settings, "nightly").update(edited)  # as the Temporal UI does
    await create_schedules(memory, client.temporal, settings)
    await client.maintenance.set_policy("weekly.times.hour", 8)
    afterwards = await described(client, settings, "nightly")
    await client.maintenance.set_policy("nightly.times.hour", 4)

    assert clock_of(afterwards) == (23, 15)
    assert afterwards.policy.overlap is ScheduleOverlapPolicy.BUFFER_ONE
    assert await clock(client, settings, "nightly") == (4, 0)


async def test_schedules_follow_the_policy_of_a_restored_backup(
    client: MnesticClient, memory: Memory, settings: Settings, admin_url: str, tmp_path: Path
) -> None:
    backups = BackupClient(admin_url, tmp_path / "backups", tenant_id=settings.tenant_id)
    await client.maintenance.set_policy("nightly.times.hour", 5)
    await client.maintenance.set_policy("monthly.times.hour", 6)
    backup = await backups.create()
    await client.maintenance.set_policy("nightly.times.hour", 9)
    await client.maintenance.pause("nightly", note="the disk is being replaced")
    for kind in ("weekly", "monthly"):
        await handle(client, settings, kind).update(edited)

    await backups.restore(backup.manifest.id, replace=True)
    before = await clock(client, settings, "nightly")
    await create_schedules(memory, client.temporal, settings)

    nightly = await described(client, settings, "nightly")
    assert before == (9, 0)
    assert clock_of(nightly) == (5, 0) == clock_in(await client.maintenance.policy(), "nightly")
    assert (nightly.state.paused, nightly.state.note) == (True, "the disk is being replaced")
    assert await clock(client, settings, "weekly") == (23, 15)  # its policy is as it was
    assert await clock(client, settings, "monthly") == (23, 15)


def edited(current: ScheduleUpdateInput) -> ScheduleUpdate:
    """Another time and another overlap."""
    schedule = current.description.schedule
    at = ScheduleCalendarSpec(hour=(ScheduleRange(23),), minute=(ScheduleRange(15),))
    schedule.spec.calendars = [at]
    schedule.policy.overlap = ScheduleOverlapPolicy.BUFFER_ONE
    return ScheduleUpdate(schedule=schedule)


def handle(client: MnesticClient, settings: Settings, kind: MaintenanceKind) -> ScheduleHandle:
    return client.temporal.get_schedule_handle(maintenance_workflow_id(settings.tenant_id, kind))


async def described(client: MnesticClient, settings: Settings, kind: MaintenanceKind) -> Schedule:
    return (await handle(client, settings, kind).describe()).schedule


async def clock(
    client: MnesticClient, settings: Settings, kind: MaintenanceKind
) -> tuple[int, int]:
    """The hour and the minute of the Schedule of a kind."""
    return clock_of(await described(client, settings, kind))


def clock_of(schedule: Schedule) -> tuple[int, int]:
    (calendar,) = schedule.spec.calendars
    return calendar.hour[0].start, calendar.minute[0].start


def clock_in(policy: MaintenancePolicy, kind: MaintenanceKind) -> tuple[int, int]:
    return policy.times(kind).hour, policy.times(kind).minute


async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Passes bytes on until one of the two ends."""
    while not writer.is_closing() and (part := await reader.read(65536)):
        writer.write(part)

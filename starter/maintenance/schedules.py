"""The Schedules of a tenant's maintenance in Temporal: made once, then the operator's until the policy has other times."""

from collections.abc import Awaitable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleBackfill,
    ScheduleCalendarSpec,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.maintenance.policies import (
    MAINTENANCE_KINDS,
    MaintenanceKind,
    MaintenancePolicy,
    ScheduleTimes,
)
from mnestic.memory.maintenance.reports import MaintenanceRequest
from mnestic.memory.names import MAINTENANCE, maintenance_queue, maintenance_workflow_id

_POLICY_TIMES = "policy_times"
"""The memo of a Schedule's action: the times that the policy gave it last, which no edit of its times changes."""

_DAY = timedelta(days=1)
_SKIPPED_WITHIN = timedelta(days=20 * 366)  # for which skipped hours are looked for


class MaintenanceSchedule(DeferredModel):
    """A Schedule of maintenance: when it ran last and runs next, and whether it is paused, with the note of whoever did it."""

    kind: MaintenanceKind
    state: Literal["active", "paused"]
    note: str | None
    last_run_at: AwareDatetime | None
    next_run_at: AwareDatetime | None
    created_at: AwareDatetime


class MaintenanceSchedules:
    """The Schedules of one tenant, one for each kind of maintenance."""

    def __init__(self, temporal: Client, *, tenant_id: str, task_queue: str) -> None:
        """Wraps a connection.

        Args:
            temporal: Where the Schedules are.
            tenant_id: Whose memory is maintained.
            task_queue: That of jobs; maintenance has one beside it.
        """
        self._temporal, self._tenant_id = temporal, tenant_id
        self._queue = maintenance_queue(task_queue)

    async def create(
        self, policy: MaintenancePolicy, *, kinds: Collection[MaintenanceKind] = MAINTENANCE_KINDS
    ) -> None:
        """Makes the Schedules of some kinds that there are not; those that there are stay as they are.

        Raises:
            RPCError: Temporal does not answer.
        """
        for kind in kinds:
            try:
                await self._temporal.create_schedule(
                    self._id(kind), self._schedule(kind, policy.times(kind))
                )
            except ScheduleAlreadyRunningError:
                continue

    async def apply(self, kind: MaintenanceKind, times: ScheduleTimes, *, is_set: bool) -> None:
        """Changes when a kind runs; paused it stays paused, and where there is no Schedule, nothing happens.

        Args:
            kind: The kind.
            times: Those of the policy.
            is_set: Whether somebody has set them. Otherwise the Schedule stays as the operator has it, unless the policy
                had other times when it last gave the Schedule some, as before a restore.

        Raises:
            RPCError: Temporal does not answer.
        """

        async def changed(current: ScheduleUpdateInput) -> ScheduleUpdate | None:
            now = current.description.schedule
            if not is_set and await self._times_given(now) in (None, _as_memo(times)):
                return None
            schedule = self._schedule(kind, times)
            schedule.state = now.state
            return ScheduleUpdate(schedule=schedule)

        with suppress(NotFoundError):  # a worker creates it by the policy
            await _found(self._handle(kind).update(changed), kind)

    async def list(self) -> tuple[MaintenanceSchedule, ...]:
        """The Schedules that there are.

        Raises:
            RPCError: Temporal does not answer.
        """
        found = []
        for kind in MAINTENANCE_KINDS:
            try:
                description = await self._handle(kind).describe()
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                continue
            found.append(_summary(kind, description))
        return tuple(found)

    async def pause(self, kind: MaintenanceKind, *, note: str | None = None) -> None:
        """Pauses a Schedule until somebody resumes it.

        Raises:
            NotFoundError: there is no such Schedule.
            RPCError: Temporal does not answer.
        """
        await _found(self._handle(kind).pause(note=note), kind)

    async def resume(self, kind: MaintenanceKind, *, note: str | None = None) -> None:
        """Has a paused Schedule go on.

        Raises:
            NotFoundError: there is no such Schedule.
            RPCError: Temporal does not answer.
        """
        await _found(self._handle(kind).unpause(note=note), kind)

    async def backfill(self, kind: MaintenanceKind, *, since: datetime, until: datetime) -> None:
        """Has the runs of a period made up for, one after the other.

        Raises:
            InvalidInputError: the period does not end after its beginning.
            NotFoundError: there is no such Schedule.
            RPCError: Temporal does not answer.
        """
        if since >= until:
            raise InvalidInputError(what="backfill", why="ends before it begins; swap the two")
        period = ScheduleBackfill(
            start_at=since, end_at=until, overlap=ScheduleOverlapPolicy.BUFFER_ALL
        )
        await _found(self._handle(kind).backfill(period), kind)

    def _id(self, kind: MaintenanceKind) -> str:
        return maintenance_workflow_id(self._tenant_id, kind)

    def _handle(self, kind: MaintenanceKind) -> ScheduleHandle:
        return self._temporal.get_schedule_handle(self._id(kind))

    async def _times_given(self, schedule: Schedule) -> dict[str, Any] | None:
        """The times that the policy gave a Schedule last; None if somebody has written the Schedule without them."""
        memo = getattr(schedule.action, "memo", None) or {}
        if _POLICY_TIMES not in memo:
            return None
        (times,) = await self._temporal.data_converter.decode([memo[_POLICY_TIMES]], [dict])
        return dict(times)

    def _schedule(self, kind: MaintenanceKind, times: ScheduleTimes) -> Schedule:
        return Schedule(
            action=ScheduleActionStartWorkflow(
                MAINTENANCE,
                MaintenanceRequest(tenant_id=self._tenant_id, kind=kind),
                id=self._id(kind),
                task_queue=self._queue,
                memo={_POLICY_TIMES: _as_memo(times)},
            ),
            spec=ScheduleSpec(
                calendars=[_calendar(times), *_after_skipped_hours(times)],
                jitter=times.jitter,
                time_zone_name=times.time_zone,
            ),
            policy=SchedulePolicy(
                overlap=ScheduleOverlapPolicy.SKIP,
                catchup_window=times.catch_up_window,
                pause_on_failure=True,
            ),
        )


def _as_memo(times: ScheduleTimes) -> dict[str, Any]:
    """The times with what follows from them, so that a Schedule of a version in which less did gets it."""
    window = times.catch_up_window
    explicit = times if window == _DAY else times.model_copy(update={"catch_up": window})
    skipped = {"skipped_hours": True} if _after_skipped_hours(times) else {}
    return explicit.model_dump(mode="json", exclude_defaults=True) | skipped


def _calendar(times: ScheduleTimes) -> ScheduleCalendarSpec:
    any_day = ScheduleCalendarSpec()
    return ScheduleCalendarSpec(
        hour=(ScheduleRange(times.hour),),
        minute=(ScheduleRange(times.minute),),
        day_of_week=_only(times.day_of_week, any_day.day_of_week),
        day_of_month=_days_of_month(times) or any_day.day_of_month,
    )


def _after_skipped_hours(times: ScheduleTimes) -> list[ScheduleCalendarSpec]:
    """The times that stand for those which a clock that is put forward skips: as much later as it is put forward.

    Temporal runs nothing at a time that no clock shows.
    """
    zone, first = ZoneInfo(times.time_zone), datetime.now(UTC).date()
    found = []
    for day in (first + timedelta(days=number) for number in range(_SKIPPED_WITHIN.days)):
        wanted = datetime.combine(day, time(times.hour, times.minute), zone)
        shown = wanted.astimezone(UTC).astimezone(zone)
        if shown.replace(tzinfo=None) != wanted.replace(tzinfo=None) and times.includes(day):
            found.append(
                ScheduleCalendarSpec(
                    year=(ScheduleRange(shown.year),),
                    month=(ScheduleRange(shown.month),),
                    day_of_month=(ScheduleRange(shown.day),),
                    hour=(ScheduleRange(shown.hour),),
                    minute=(ScheduleRange(shown.minute),),
                )
            )
    return found


def _days_of_month(times: ScheduleTimes) -> Sequence[ScheduleRange]:
    if times.week_of_month is not None:  # every day of the week is once among seven days
        return (ScheduleRange(7 * times.week_of_month - 6, 7 * times.week_of_month),)
    return _only(times.day_of_month, ())


def _only(day: int | None, any_day: Sequence[ScheduleRange]) -> Sequence[ScheduleRange]:
    return any_day if day is None else (ScheduleRange(day),)


def _summary(kind: MaintenanceKind, description: ScheduleDescription) -> MaintenanceSchedule:
    state, info = description.schedule.state, description.info
    return MaintenanceSchedule(
        kind=kind,
        state="paused" if state.paused else "active",
        note=state.note or None,
        last_run_at=info.recent_actions[-1].started_at if info.recent_actions else None,
        next_run_at=info.next_action_times[0] if info.next_action_times else None,
        created_at=info.created_at,
    )


async def _found(call: Awaitable[None], kind: MaintenanceKind) -> None:
    try:
        await call
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise NotFoundError(what="schedule", name=kind) from error

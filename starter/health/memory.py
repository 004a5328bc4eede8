"""Checks of a tenant's memory: the indexes, the caches, backups and Schedules."""

from datetime import UTC, datetime, timedelta

from mnestic.memory.maintenance.policies import ScheduleTimes
from mnestic.memory.retrieval.caches import CacheCount
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.health.findings import Finding, check_alone
from mnestic.starter.maintenance.schedules import MaintenanceSchedule

_LATE = timedelta(minutes=15)  # after it is due; its jitter is in `next_run_at`
_MISSED = timedelta(days=1)  # after the time of a run, with its jitter and all that delays it
_REMEDY_INDEX = (
    "mnestic maintenance run monthly mends words; REINDEX the indexes embedding_hnsw_… of vectors"
)
_REMEDY_RUNS = "mnestic maintenance reports"
_PAUSED_BY_FAILURE = "paused due to"  # as Temporal begins its note


async def check_memory(client: MnesticClient) -> tuple[Finding, ...]:
    """Checks the memory of the client's tenant."""
    return (
        *await check_alone("index", _index(client), remedy=_REMEDY_INDEX),
        *await check_alone("cache", _cache(client), remedy=_REMEDY_INDEX),
        *await check_alone("backups", _backups(client), remedy=_REMEDY_RUNS),
        *await check_alone("schedules", _schedules(client), remedy=_REMEDY_RUNS),
        *await check_alone("maintenance", _maintenance(client), remedy=_REMEDY_RUNS),
    )


async def _index(client: MnesticClient) -> tuple[Finding, ...]:
    sample = await client.maintenance.sample_index()
    found = f"{sample.entries} entries looked at"
    if sample.without_words:
        found += f", {sample.without_words} are not found by their words"
    if sample.not_nearest:
        found += f", {sample.not_nearest} are not found by their vector"
    if sample.without_vector:
        found += f", {sample.without_vector} wait for a vector"
    is_whole = not (sample.without_words or sample.not_nearest)
    return (Finding(part="index", ok=is_whole, found=found, remedy=_REMEDY_INDEX),)


async def _cache(client: MnesticClient) -> tuple[Finding, ...]:
    """The tenant's part of the caches of this process; what they hold of others is nobody else's to know."""
    counts = client.cache_counts()
    used = counts.answers.bytes + counts.vectors.bytes
    found = f"answers: {_of(counts.answers)}; vectors: {_of(counts.vectors)}; {used} bytes"
    return (Finding(part="cache", ok=True, found=found),)


def _of(count: CacheCount) -> str:
    return f"{count.hits} of {count.hits + count.misses} lookups found"


async def _backups(client: MnesticClient) -> tuple[Finding, ...]:
    """The age of the last backup, where a Schedule makes them."""
    kinds = {schedule.kind for schedule in await client.maintenance.list_schedules()}
    if "backup" not in kinds:
        found = "none are scheduled: the worker has no MNESTIC_BACKUP_DIRECTORY"
        return (Finding(part="backups", ok=True, found=found),)
    reports = await client.maintenance.list_last_reports()
    finished = next((one.finished_at for one in reports if one.kind == "backup"), None)
    policy = await client.maintenance.policy()
    oldest = datetime.now(UTC) - 2 * policy.backup.times.period
    found = "there is none yet" if finished is None else f"the last is of {_minute(finished)}"
    return (
        Finding(
            part="backups",
            ok=finished is not None and finished >= oldest,
            found=found,
            remedy="mnestic maintenance run backup; mnestic maintenance reports says what went wrong",
        ),
    )


async def _schedules(client: MnesticClient) -> tuple[Finding, ...]:
    schedules = await client.maintenance.list_schedules()
    policy, now = await client.maintenance.policy(), datetime.now(UTC)
    ran = {one.kind: one.finished_at for one in await client.maintenance.list_last_reports()}
    problems = [
        why
        for one in schedules
        if (why := find_problem(one, policy.times(one.kind), ran=ran.get(one.kind), now=now))
    ]
    paused = [one.kind for one in schedules if one.state == "paused"]
    found = f"{len(schedules)} run in time" if schedules else "none; a worker makes them"
    if paused:
        found += f"; paused: {', '.join(paused)}"
    return (
        Finding(
            part="schedules",
            ok=not problems,
            found="; ".join(problems) or found,
            remedy="start a worker: mnestic worker; mnestic schedules resume KIND, once the cause is mended; "
            "mnestic maintenance run KIND makes up for a run",
        ),
    )


async def _maintenance(client: MnesticClient) -> tuple[Finding, ...]:
    """What the last run of each kind left undone of an agent or found damaged, and how many problems it had."""
    reports = await client.maintenance.list_last_reports()
    stopped = [one for one in reports if one.agents_stopped or one.is_damage_found]
    found = [
        f"{one.kind} of {_minute(one.finished_at)}: {len(one.problems)} problems, {one.problems[0]}"
        for one in stopped or reports
        if one.problems
    ]
    return (
        Finding(
            part="maintenance",
            ok=not stopped,
            found="; ".join(found) or "no problems in the last run of each kind",
            remedy="mnestic maintenance reports --json shows all problems; run what they name",
        ),
    )


def find_problem(
    schedule: MaintenanceSchedule, times: ScheduleTimes, *, ran: datetime | None, now: datetime
) -> str | None:
    """What is wrong with a Schedule that runs at these times, and whose kind ran last at a moment, by hand or not."""
    if schedule.state == "paused":
        note = schedule.note or ""
        failed = note.lower().startswith(_PAUSED_BY_FAILURE)
        return f"{schedule.kind} was paused since a run failed" if failed else None
    due = schedule.next_run_at
    if due is not None and now - due > _LATE:
        return f"{schedule.kind} should have run at {_minute(due)}"
    since = max(filter(None, (schedule.created_at, schedule.last_run_at, ran)))
    if now - since > times.period + _MISSED:
        return f"{schedule.kind} missed a run after {_minute(since)}"
    return None


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"

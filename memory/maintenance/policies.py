"""The maintenance policy of a tenant: when each kind of maintenance runs, and what it may do."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Literal, Self, get_args
from zoneinfo import available_timezones

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import BudgetExceededError, StoredValueError
from mnestic.memory.models.usage import Budget, UsageTotal
from mnestic.memory.validation import Share, problem_of

MaintenanceKind = Literal["nightly", "cleanup", "weekly", "monthly", "backup"]
MAINTENANCE_KINDS: tuple[MaintenanceKind, ...] = get_args(MaintenanceKind)
SETTING = "maintenance"
"""The name under which a tenant's policy is stored, among the settings of no agent."""
_HOWEVER_LATE = timedelta(days=36_500)


class ScheduleTimes(DeferredModel):
    """When a kind of maintenance runs: once a day, or on one day of the week or of the month.

    With both `day_of_week` and `week_of_month` it runs once a month, such as on the first Sunday.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    hour: int = Field(3, ge=0, le=23)
    minute: int = Field(0, ge=0, le=59)
    day_of_week: int | None = Field(None, ge=0, le=6, description="0 is Sunday")
    week_of_month: int | None = Field(
        None, ge=1, le=4, description="1 is the first such day of the week in a month"
    )
    day_of_month: int | None = Field(None, ge=1, le=28)
    time_zone: str = "UTC"
    jitter: timedelta = Field(
        timedelta(minutes=10),
        ge=timedelta(0),
        le=timedelta(hours=12),
        description="A run begins up to this much later",
    )
    catch_up: timedelta | None = Field(
        None,
        ge=timedelta(seconds=10),
        le=_HOWEVER_LATE,
        description="A run that was missed is made up for once, within this time; default: within a day if it is daily, else however late",
    )

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in available_timezones():
            raise ValueError(f"{name!r:.60} is no time zone; give one such as Europe/Berlin")
        return name

    def includes(self, day: date) -> bool:
        """Whether it runs on a day."""
        is_day_of_week = self.day_of_week in {None, day.isoweekday() % 7}
        is_week = self.week_of_month in {None, (day.day + 6) // 7}
        return is_day_of_week and is_week and self.day_of_month in {None, day.day}

    @property
    def period(self) -> timedelta:
        """The longest time from one run to the next."""
        if self.day_of_month is not None or self.week_of_month is not None:
            return timedelta(days=35)  # from a first Sunday to the next
        return timedelta(days=1 if self.day_of_week is None else 7)

    @property
    def catch_up_window(self) -> timedelta:
        """The time within which a run that was missed is made up for."""
        is_daily = self.period == timedelta(days=1)
        return self.catch_up or (self.period if is_daily else _HOWEVER_LATE)

    @model_validator(mode="after")
    def _is_one_day(self) -> Self:
        if self.week_of_month is not None and self.day_of_month is not None:
            raise ValueError("week_of_month and day_of_month cannot both be set; set one to null")
        if self.week_of_month is not None and self.day_of_week is None:
            raise ValueError("week_of_month needs day_of_week; set week_of_month to null first")
        return self


class NightlyPolicy(DeferredModel):
    """Of each night: what has expired is removed, duplicates are merged, what was used is promoted, summaries are written again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    times: ScheduleTimes = ScheduleTimes(hour=3)
    merge_similarity: Share = Field(
        0.97,
        description="How near the vectors of entries are that differ in words which add nothing, and are merged; the same words always are",
    )
    promotion: Share = Field(
        0.02, description="What a night in which a fact was used adds to its confidence, at most"
    )
    summarise_above_messages: int = Field(
        100_000,
        ge=0,
        le=1_000_000_000,
        description="Of an agent with more messages, sessions, weeks, months and its life are summarised",
    )
    retention_days: int | None = Field(
        365,
        ge=30,
        le=36_500,
        description="For so long the audit log stays, and of ended jobs the ledger and snapshots; null: for good",
    )


class CleanupPolicy(DeferredModel):
    """Of the daily cleanup: which entries of messages are archived, and which archived ones are deleted.

    An entry is *archived* if it is less important than `min_importance_threshold` and neither learned, accessed nor restored
    within `archive_old_entries_days`. If an agent then still has more than `max_entries`, the least important of the others are
    archived too, of equally important ones those first that were not used for the longest time.

    With `delete_archived`, an archived entry is *deleted* if a cleanup has archived it, it is less important than
    `min_importance_threshold`, was learned more than `max_age_days` ago, and was neither accessed nor archived within 30 days.
    So nothing is deleted that could not be restored for so long.

    Neither happens to what alone states a fact that nothing has superseded, or may give it a new value, to critical entries, to
    what a waiting job refers to, to messages that are still to be learned from, nor to a correction while the entry that it
    corrects is there. An entry is learned when it is stored, or when it was said if that is later.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(
        False, description="Whether runs change anything; if not, they are dry runs"
    )
    times: ScheduleTimes = ScheduleTimes(hour=5)
    min_importance_threshold: float = Field(0.3, ge=0, le=1)
    delete_archived: bool = Field(
        False, description="Whether archived entries are deleted for good in the end"
    )
    max_age_days: int = Field(90, ge=1, le=36_500)
    max_entries: int = Field(10_000, ge=1, le=1_000_000_000, description="Of one agent")
    archive_old_entries_days: int = Field(60, ge=1, le=36_500)


class BackupPolicy(DeferredModel):
    """Of each backup: whether it is verified, and how many remain. Workers need a folder for them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    times: ScheduleTimes = ScheduleTimes(hour=2)
    keep: int = Field(
        7, ge=1, le=10_000, description="So many remain, and the newest that was verified"
    )
    verify: bool = Field(True, description="Whether it is restored into a scratch database")


class WeeklyPolicy(DeferredModel):
    """Of each week: the confidence of facts decays, those fade that nothing supports any more, unused messages are removed.

    Entries of which no fact follows are compressed if they are older than 90 days, and at least three are as near each other
    as `compress_similarity`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    times: ScheduleTimes = ScheduleTimes(hour=4, day_of_week=0)
    half_life_days: float = Field(
        30,
        ge=1,
        le=36_500,
        description="In so many days without use a fact loses half of its confidence",
    )
    compress: bool = Field(True, description="Whether similar entries are compressed into one")
    compress_similarity: float = Field(
        0.85, ge=0.5, le=1, description="How near the vectors of such entries are, as a cosine"
    )


class VacuumPolicy(DeferredModel):
    """Of the monthly VACUUM: which indexes are rebuilt, and how long a statement waits for others.

    It is of the whole database, so the policy of the tenant holds whose maintenance comes first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rebuild_above_bloat: Share = Field(
        0.5, description="An index of whose size a larger share is not needed is rebuilt"
    )
    rebuild_from_mib: int = Field(16, ge=0, le=1_000_000, description="Smaller indexes never are")
    wait_seconds: int = Field(
        60,
        ge=1,
        le=3600,
        description="What waits longer for transactions of others is given up until the next run",
    )


class MonthlyPolicy(DeferredModel):
    """Of each month: all entries get vectors of another model of embeddings, if one is set; tables are vacuumed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    times: ScheduleTimes = ScheduleTimes(
        hour=1, day_of_week=0, week_of_month=1, jitter=timedelta(minutes=30)
    )
    vacuum: VacuumPolicy = VacuumPolicy()
    least_recall: Share = Field(
        0.95,
        description="Share of the old vectors' recall that the new ones need, so that searches switch to them",
    )


class RunBudget(DeferredModel):
    """What the calls of a chat model in one maintenance run may take, for all agents together.

    A call is made for as long as something is left, so the last one may cost more than is left.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_calls: int = Field(200, ge=0, le=1_000_000, description="0: no model is asked")
    cost_usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="In USD; needs a price of the model"
    )

    def check_left(self, used: UsageTotal, *, run: str) -> None:
        """Lets a call through for as long as something is left.

        Raises:
            BudgetExceededError: nothing is left.
            ConfigurationError: the budget is of money, and some calls have no price.
        """
        what = f"run {run}"
        if used.calls >= self.model_calls:
            limit = f"{self.model_calls} model calls"
            raise BudgetExceededError(what=what, used=str(used.calls), limit=limit)
        if self.cost_usd is not None:
            Budget(usd=self.cost_usd).check_left(used, what=what)


class MaintenancePolicy(DeferredModel):
    """The maintenance policy of a tenant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    largest_removal_share: Share = Field(
        0.2,
        description="Share of an agent's active facts, or entries, above which a run removes none and asks for a person",
    )
    largest_removal_share_30_days: Share = Field(
        0.5,
        description="The same of all runs of the last 30 days together, and of what was active then or has come since",
    )
    always_removable: int = Field(
        10,
        ge=0,
        le=100_000,
        description="So many facts and entries of an agent a run may always remove",
    )
    budget: RunBudget = RunBudget()
    nightly: NightlyPolicy = NightlyPolicy()
    cleanup: CleanupPolicy = CleanupPolicy()
    weekly: WeeklyPolicy = WeeklyPolicy()
    monthly: MonthlyPolicy = MonthlyPolicy()
    backup: BackupPolicy = BackupPolicy()

    def times(self, kind: MaintenanceKind) -> ScheduleTimes:
        """When a kind runs."""
        times: ScheduleTimes = getattr(self, kind).times
        return times

    def is_off(self, kind: MaintenanceKind) -> bool:
        """Whether all runs of a kind are dry runs, since nobody has switched it on."""
        return kind == "cleanup" and not self.cleanup.enabled


def policy_of(stored: Mapping[str, Any]) -> MaintenancePolicy:
    """The policy in force, given the tenant's settings as they are stored; of another version's the known values.

    Raises:
        StoredValueError: one is stored that cannot be.
    """
    try:
        return MaintenancePolicy.model_validate(stored.get(SETTING, {}), extra="ignore")
    except ValidationError as error:
        raise StoredValueError(
            what="the maintenance policy",
            why=problem_of(error),
            remedy="set it with `mnestic maintenance policy set`",
        ) from None

"""The maintenance policy of a tenant: when each kind of maintenance runs, and what it may do."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal, get_args
from zoneinfo import available_timezones

from pydantic import ConfigDict, Field, ValidationError, field_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError, StoredValueError
from mnestic.memory.validation import Share, problem_of

MaintenanceKind = Literal["nightly"]
MAINTENANCE_KINDS: tuple[MaintenanceKind, ...] = get_args(MaintenanceKind)
SETTING = "maintenance"
"""The name under which a tenant's policy is stored, among the settings of no agent."""


class ScheduleTimes(DeferredModel):
    """When a kind of maintenance runs: once a day, or on one day of the week or of the month."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hour: int = Field(3, ge=0, le=23)
    minute: int = Field(0, ge=0, le=59)
    day_of_week: int | None = Field(None, ge=0, le=6, description="0 is Sunday")
    day_of_month: int | None = Field(None, ge=1, le=28)
    time_zone: str = "UTC"
    jitter: timedelta = Field(
        timedelta(minutes=10),
        ge=timedelta(0),
        le=timedelta(hours=12),
        description="A run begins up to this much later",
    )
    catch_up: timedelta = Field(
        timedelta(days=1),
        ge=timedelta(seconds=10),
        le=timedelta(days=31),
        description="A run that was missed is made up for within this time",
    )

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in available_timezones():
            raise ValueError(f"{name!r:.60} is no time zone; give one such as Europe/Berlin")
        return name


class NightlyPolicy(DeferredModel):
    """Of each night: what has expired is removed, the importance of entries is computed again, vector indexes are built."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    times: ScheduleTimes = ScheduleTimes(hour=3)


class MaintenancePolicy(DeferredModel):
    """The maintenance policy of a tenant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    largest_removal_share: Share = Field(
        0.2,
        description="Share of an agent's active facts, or entries, above which a run removes none and asks for a person",
    )
    always_removable: int = Field(
        10, ge=0, description="So many facts and entries of an agent a run may always remove"
    )
    nightly: NightlyPolicy = NightlyPolicy()

    def times(self, kind: MaintenanceKind) -> ScheduleTimes:
        """When a kind runs."""
        policy: NightlyPolicy = getattr(self, kind)
        return policy.times


def policy_of(stored: Mapping[str, Any]) -> MaintenancePolicy:
    """The policy in force, given the tenant's settings as they are stored.

    Raises:
        StoredValueError: one is stored that cannot be.
    """
    try:
        return MaintenancePolicy.model_validate(stored.get(SETTING, {}))
    except ValidationError as error:
        raise StoredValueError(what="the maintenance policy", why=problem_of(error)) from None


def changed_policy(policy: MaintenancePolicy, path: str, value: Any) -> MaintenancePolicy:
    """The policy with one value changed.

    Args:
        policy: The policy in force.
        path: The names that lead to the value, with dots, such as `nightly.times.hour`.
        value: The value, as JSON has it.

    Raises:
        InvalidInputError: nothing has that path, or it cannot have that value; says what is allowed.
    """
    document = policy.model_dump(mode="json")
    *above, last = path.split(".")
    place: Any = document
    for name in above:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        why = f"is not known; there are {', '.join(paths_of(document))}"
        raise InvalidInputError(what=f"maintenance policy {path[:140]}", why=why)
    place[last] = value
    try:
        return MaintenancePolicy.model_validate(document)
    except ValidationError as error:
        why = f"cannot be {value!r:.60}: {problem_of(error).removeprefix(f'{path}: ')}"
        raise InvalidInputError(what=f"maintenance policy {path}", why=why) from None


def paths_of(document: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The values of a policy as JSON, each under its path."""
    values: dict[str, Any] = {}
    for name, value in document.items():
        path = before + name
        values |= paths_of(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return values

"""The maintenance policy: one value at a time, refused with its path and what is allowed."""

from datetime import timedelta
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError, StoredValueError
from mnestic.memory.maintenance.policies import MaintenancePolicy, policy_of
from mnestic.memory.maintenance.policy_changes import changed_policy, kind_of_times


def test_a_value_is_changed_by_its_path() -> None:
    stored = changed_policy({}, "nightly.times.hour", 5)
    stored = changed_policy(stored, "nightly.times.jitter", "PT1M")
    stored = changed_policy(stored, "always_removable", 10)  # the default

    policy = policy_of({"maintenance": stored})

    assert stored == {"nightly": {"times": {"hour": 5, "jitter": "PT1M"}}}
    assert (policy.nightly.times.hour, policy.nightly.times.minute) == (5, 0)
    assert policy.nightly.times.jitter == timedelta(minutes=1)


def test_a_value_of_a_day_of_the_week_leaves_the_day() -> None:
    stored = changed_policy(
        {}, "weekly.times.hour", 3
    )  # a default of times, though not of the week

    times = policy_of({"maintenance": stored}).weekly.times

    assert (times.hour, times.day_of_week) == (3, 0)
    changed = changed_policy(stored, "weekly.times.minute", 30)
    assert policy_of({"maintenance": changed}).weekly.times.hour == 3


def test_values_that_cannot_be_any_more_are_set_again_one_by_one() -> None:
    stored: dict[str, Any] = {
        "always_removable": 1_000_000,
        "nightly": {"times": {"hour": 99, "minute": 7}, "gone": 1},
        "cleanup": {"enabled": True},
    }

    stored = changed_policy(stored, "always_removable", 500)
    with pytest.raises(StoredValueError, match=r"nightly\.times\.hour.*policy set"):
        policy_of({"maintenance": stored})
    stored = changed_policy(stored, "nightly.times.hour", 5)

    policy = policy_of({"maintenance": stored})
    assert (policy.always_removable, policy.cleanup.enabled) == (500, True)
    assert (policy.nightly.times.hour, policy.nightly.times.minute) == (5, 7)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("nightly.times.hour", "nightly"),
        ("monthly.times", "monthly"),
        ("weekly", "weekly"),
        ("cleanup.max_entries", None),
        ("always_removable", None),
    ],
)
def test_times_are_those_of_a_kinds_schedule(path: str, kind: str | None) -> None:
    assert kind_of_times(path) == kind


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        pytest.param("nightly.times.hour", 24, "less than or equal to 23", id="too large"),
        pytest.param("nightly.times.time_zone", "Mars", "is no time zone", id="no time zone"),
        pytest.param("nightly.times.hours", 3, "nightly.times.hour,", id="no such name"),
        pytest.param("nightly.times.hour.x", 3, "is not known", id="below a value"),
        pytest.param("weekly.times.week_of_month", 5, "less than or equal to 4", id="no week"),
        pytest.param("nightly.times.week_of_month", 1, "needs day_of_week", id="week without day"),
        pytest.param("monthly.times.day_of_month", 3, "cannot both be set", id="two days"),
        pytest.param("weather", 3, "is not known", id="no such kind"),
        pytest.param("nightly", 3, "Input should be", id="no object"),
        pytest.param("nightly.times.hour", True, "valid integer", id="a bool as an integer"),
        pytest.param("nightly.times.hour", "4", "valid integer", id="text as an integer"),
        pytest.param("largest_removal_share", True, "valid number", id="a bool as a share"),
        pytest.param("cleanup.enabled", 1, "valid boolean", id="a number as a bool"),
        pytest.param("always_removable", 10**20, "less than or equal to", id="guard off"),
        pytest.param("budget.cost_usd", -1, "greater than 0", id="negative"),
        pytest.param("weekly.times", {}, "hour, minute, day_of_week", id="empty section"),
        pytest.param("weekly", {"times": {}}, "times.hour", id="empty section below"),
        pytest.param("weekly.times.day_of_week", None, "every day", id="weekly without a day"),
        pytest.param("budget.cost_usd", object(), "no JSON", id="no JSON"),
    ],
)
def test_an_invalid_value_is_refused_with_path_and_reason(path: str, value: Any, why: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        changed_policy({}, path, value)

    assert f"maintenance policy {path}" in str(error.value)
    assert why in str(error.value)


def test_a_complete_section_is_changed_at_once() -> None:
    times = MaintenancePolicy().weekly.times.model_dump(mode="json") | {"hour": 7}

    policy = policy_of({"maintenance": changed_policy({}, "weekly.times", times)})

    assert (policy.weekly.times.hour, policy.weekly.times.day_of_week) == (7, 0)


def test_a_day_of_the_month_takes_the_place_of_one_of_the_week() -> None:
    stored: dict[str, Any] = {}
    steps = (("week_of_month", None), ("day_of_month", 15), ("day_of_week", None))

    for name, value in steps:
        stored = changed_policy(stored, f"monthly.times.{name}", value)

    policy = policy_of({"maintenance": stored})
    assert (policy.monthly.times.day_of_month, policy.monthly.times.day_of_week) == (15, None)


def test_a_stored_policy_that_cannot_be_is_reported() -> None:
    with pytest.raises(StoredValueError, match=r"nightly\.times\.hour"):
        policy_of({"maintenance": {"nightly": {"times": {"hour": 99}}}})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("cleanup.min_importance_threshold", 1.1),
        ("cleanup.max_age_days", 0),
        ("cleanup.max_entries", 0),
        ("cleanup.delete_unaccessed_days", -1),
        ("cleanup.archive_old_entries_days", "soon"),
        ("cleanup.enabled", "perhaps"),
    ],
)
def test_limits_of_the_cleanup_are_bounded(path: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=rf"{path}.*(should|valid)"):
        changed_policy({}, path, value)


def test_the_cleanup_is_off_until_it_is_switched_on() -> None:
    policy = MaintenancePolicy()
    on = policy_of({"maintenance": changed_policy({}, "cleanup.enabled", value=True)})

    assert policy.is_off("cleanup")
    assert not policy.is_off("nightly")
    assert not on.is_off("cleanup")

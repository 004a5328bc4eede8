"""The maintenance policy: one value at a time, refused with its path and what is allowed."""

from datetime import timedelta
from typing import Any

import pytest

from mnestic.memory.errors import StoredValueError
from mnestic.memory.maintenance.policies import MaintenancePolicy, WeeklyPolicy, policy_of
from mnestic.memory.maintenance.policy_changes import changed_policy, kind_of_times
from tests.memory.tables import not_refused, tables

CASES = tables(__file__)


def test_a_value_is_changed_by_its_path() -> None:
    stored = changed_policy({}, "nightly.times.hour", 5)
    stored = changed_policy(stored, "nightly.times.jitter", "PT1M")
    stored = changed_policy(stored, "always_removable", 10)  # the default

    policy = policy_of({"maintenance": stored})

    assert stored == {"nightly": {"times": {"hour": 5, "jitter": "PT1M"}}}
    assert (policy.nightly.times.hour, policy.nightly.times.minute) == (5, 0)
    assert policy.nightly.times.jitter == timedelta(minutes=1)


def test_a_value_of_a_day_of_the_week_leaves_the_day_and_a_section_is_changed_at_once() -> None:
    stored = changed_policy(
        {}, "weekly.times.hour", 3
    )  # a default of times, though not of the week

    times = policy_of({"maintenance": stored}).weekly.times

    assert (times.hour, times.day_of_week) == (3, 0)
    changed = changed_policy(stored, "weekly.times.minute", 30)
    assert policy_of({"maintenance": changed}).weekly.times.hour == 3
    complete = times.model_dump(mode="json") | {"hour": 7}
    whole = policy_of({"maintenance": changed_policy(changed, "weekly.times", complete)})
    assert (whole.weekly.times.hour, whole.weekly.times.day_of_week) == (7, 0)


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


def test_stored_values_that_only_another_version_has_are_left_out() -> None:
    stored = {
        "of_a_newer_version": 1,
        "weekly": {"fade_after_days": 120, "half_life_days": 40},
        "monthly": {"vacuum": {"statement_minutes": 5}},
    }

    policy = policy_of({"maintenance": stored})

    assert policy == MaintenancePolicy(weekly=WeeklyPolicy(half_life_days=40))


def test_times_are_those_of_a_kinds_schedule() -> None:
    kinds = {
        "nightly.times.hour": "nightly",
        "monthly.times": "monthly",
        "weekly": "weekly",
        "cleanup.max_entries": None,
        "always_removable": None,
    }

    assert {path: kind_of_times(path) for path in kinds} == kinds


def test_an_invalid_value_is_refused_with_path_and_reason() -> None:
    rows = [*CASES["refused"], ("budget.cost_usd", object(), "no JSON")]
    paths = [(path, value, f"maintenance policy {path}") for path, value, _ in rows]

    def change(path: str, value: Any) -> dict[str, Any]:
        return changed_policy({}, path, value)

    assert not_refused(rows, change) == not_refused(paths, change) == []


def test_a_day_of_the_month_takes_the_place_of_one_of_the_week() -> None:
    stored: dict[str, Any] = {}
    steps = (("week_of_month", None), ("day_of_month", 15), ("day_of_week", None))

    for name, value in steps:
        stored = changed_policy(stored, f"monthly.times.{name}", value)

    policy = policy_of({"maintenance": stored})
    assert (policy.monthly.times.day_of_month, policy.monthly.times.day_of_week) == (15, None)


def test_the_cleanup_is_off_until_it_is_switched_on() -> None:
    policy = MaintenancePolicy()
    on = policy_of({"maintenance": changed_policy({}, "cleanup.enabled", value=True)})

    assert policy.is_off("cleanup")
    assert not policy.is_off("nightly")
    assert not on.is_off("cleanup")

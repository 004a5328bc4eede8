from datetime import timedelta
from typing import Any

import pytest
from temporalio.common import RetryPolicy

from mnestic.memory.jobs.retries import Retry
from mnestic.workflows.retries import OURS, TOOLS, retry_policy


@pytest.mark.parametrize("usual", [OURS, TOOLS])
def test_a_plan_that_says_nothing_has_what_is_usual(usual: RetryPolicy) -> None:
    assert retry_policy(None, usual=usual) == usual
    assert retry_policy(Retry(), usual=usual) == usual


MINUTE, INSTANT = timedelta(minutes=1), timedelta(milliseconds=100)


@pytest.mark.parametrize(
    ("asked", "changed"),
    [
        ({"attempts": 2}, {"maximum_attempts": 2}),
        ({"attempts": 0}, {"maximum_attempts": 0}),
        ({"backoff": 1}, {"backoff_coefficient": 1}),
        ({"first_delay": "1m"}, {"initial_interval": MINUTE, "maximum_interval": MINUTE}),
        ({"max_delay": "100ms"}, {"initial_interval": INSTANT, "maximum_interval": INSTANT}),
        ({"not_on": ["A", "B"]}, {"non_retryable_error_types": ["A", "B"]}),
    ],
)
def test_what_a_plan_says_takes_the_place_of_what_is_usual(
    asked: dict[str, Any], changed: dict[str, Any]
) -> None:
    policy = retry_policy(Retry.model_validate(asked), usual=OURS)

    assert {name: getattr(policy, name) for name in changed} == changed


def test_what_is_usual_for_tools_is_not_lost_by_a_list_of_errors() -> None:
    policy = retry_policy(Retry(not_on=("NoMoney",)), usual=TOOLS)

    assert policy.non_retryable_error_types == ["PayloadsTooLarge", "NoMoney"]
    assert policy.maximum_attempts == 5

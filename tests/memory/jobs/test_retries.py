from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from mnestic.memory.jobs.retries import Retry
from tests.memory.tables import refusal


def test_a_policy_says_only_what_it_changes_and_comes_back_from_its_json() -> None:
    retry = Retry.model_validate({"attempts": 3, "first_delay": "200ms", "not_on": ["NoMoney"]})

    assert (retry.attempts, retry.first_delay) == (3, timedelta(milliseconds=200))
    assert (retry.max_delay, retry.backoff, retry.not_on) == (None, None, ("NoMoney",))
    assert Retry.model_validate_json(retry.model_dump_json()) == retry


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"attempts": -1}, "greater than or equal to 0"),
        ({"attempts": 1_000_001}, "less than or equal to 1000000"),
        ({"backoff": 0.5}, "greater than or equal to 1"),
        ({"backoff": float("nan")}, "backoff"),
        ({"backoff": float("inf")}, "less than or equal to 100"),
        ({"first_delay": "0s"}, "at least a millisecond"),
        ({"max_delay": "soon"}, "write it as 30s"),
        ({"first_delay": "2s", "max_delay": "1s"}, "max_delay is shorter than first_delay"),
        ({"not_on": [""]}, "at least 1 character"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_in_words(written: Any, told: str) -> None:
    assert told in refusal(Retry.model_validate, written, error=ValidationError)

import re
from datetime import timedelta

import pytest
from temporalio.exceptions import ApplicationError

from mnestic.activities.failures import failures
from mnestic.memory.errors import (
    DatabaseUnavailableError,
    InvalidInputError,
    MnesticError,
    SnapshotCorruptedError,
    StoredValueError,
)
from mnestic.memory.models.errors import ModelUnavailableError


@pytest.mark.parametrize(
    ("error", "final", "delay"),
    [
        (InvalidInputError(what="a", why="b"), True, None),
        (SnapshotCorruptedError(snapshot_id="n", expected="a", found="b"), True, None),
        (DatabaseUnavailableError(where="a", why="b"), False, None),
        (
            ModelUnavailableError(model="m", why="b", retry_after_s=7.5),
            False,
            timedelta(seconds=7.5),
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, MnesticError) else str(value),
)
def test_the_branch_of_an_error_decides_whether_it_is_tried_again(
    error: MnesticError, *, final: bool, delay: timedelta | None
) -> None:
    with pytest.raises(ApplicationError) as caught, failures():
        raise error

    assert caught.value.non_retryable is final
    assert caught.value.next_retry_delay == delay
    assert caught.value.type == type(error).__name__
    assert caught.value.message == str(error)
    assert caught.value.__cause__ is None


def test_an_error_of_somebody_else_is_told_by_type_and_place_and_tried_again() -> None:
    with pytest.raises(ApplicationError) as caught, failures():
        int("the quokka")

    assert caught.value.type == "ValueError"
    assert not caught.value.non_retryable
    assert re.fullmatch(r"its text is withheld; at [\w.]+:\d+", caught.value.message)


def test_a_cause_is_told_likewise() -> None:
    with pytest.raises(ApplicationError) as caught, failures():
        raise StoredValueError(what="a row", why="is broken") from ValueError("the quokka")

    cause = caught.value.__cause__
    assert caught.value.type == "StoredValueError"
    assert isinstance(cause, ApplicationError)
    assert cause.type == "ValueError"
    assert "quokka" not in str(cause)


def test_a_failure_of_temporal_keeps_its_words_and_loses_those_of_its_cause() -> None:
    with pytest.raises(ApplicationError) as caught, failures():
        raise ApplicationError("said on purpose", type="Mine") from ValueError("the quokka")

    assert (caught.value.message, caught.value.type) == ("said on purpose", "Mine")
    assert isinstance(caught.value.__cause__, ApplicationError)
    assert "quokka" not in str(caught.value.__cause__)


def test_causes_that_lead_in_a_circle_end() -> None:
    one, two = ValueError(), ValueError()
    one.__cause__, two.__cause__ = two, one

    with pytest.raises(ApplicationError), failures():
        raise one

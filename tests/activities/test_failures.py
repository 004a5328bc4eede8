from datetime import timedelta

import pytest
from temporalio.exceptions import ApplicationError

from mnestic.activities.failures import failures
from mnestic.memory.errors import (
    DatabaseUnavailableError,
    IdempotencyConflictError,
    InvalidInputError,
    MnesticError,
    ModelUnavailableError,
    NotFoundError,
    SnapshotCorruptedError,
    StaleVersionError,
)


@pytest.mark.parametrize(
    ("error", "final", "delay"),
    [
        (InvalidInputError(what="a", why="b"), True, None),
        (NotFoundError(what="a", name="b"), True, None),
        (IdempotencyConflictError(key="k"), True, None),
        (StaleVersionError(what="a", expected=1, stored_version=2, stored=None), True, None),
        (SnapshotCorruptedError(snapshot_id="n", expected="a", found="b"), True, None),
        (DatabaseUnavailableError(where="a", why="b"), False, None),
        (ModelUnavailableError(model="m", why="b"), False, None),
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
    assert caught.value.__cause__ is error


def test_an_error_of_somebody_else_is_left_alone() -> None:
    with pytest.raises(ZeroDivisionError), failures():
        _ = 1 / 0


def test_what_succeeds_is_left_alone() -> None:
    with failures():
        done = True

    assert done

"""How an error leaves an activity: its branch decides whether Temporal tries again."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from temporalio.exceptions import ApplicationError

from mnestic.memory.errors import InvariantError, MnesticError, RefusedError


@contextmanager
def failures() -> Iterator[None]:
    """Turns our errors into Temporal's.

    Refusals and broken invariants fail the activity for good; whatever is unavailable is tried
    again by the retry policy, not before the time that the other side asked for.
    """
    try:
        yield
    except MnesticError as error:
        final = isinstance(error, (RefusedError, InvariantError))
        retry_after_s = getattr(error, "retry_after_s", None)
        raise ApplicationError(
            str(error),
            type=type(error).__name__,
            non_retryable=final,
            next_retry_delay=timedelta(seconds=retry_after_s) if retry_after_s else None,
        ) from error

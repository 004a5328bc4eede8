"""How an error leaves for Temporal: its branch decides whether it is tried again, and no text of memory goes with it.

Two doors lead there, and a new activity or workflow passes them without doing anything. The interceptor
stands around each activity of ours, so that what the worker logs and traces is without such texts as well.
The failure converter stands before the history, and so takes workflows, their tasks and arguments that
cannot be read too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Self

from temporalio import activity
from temporalio.api.failure.v1 import Failure
from temporalio.converter import (
    ActivitySerializationContext,
    DefaultFailureConverter,
    PayloadConverter,
    SerializationContext,
    WithSerializationContext,
)
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from mnestic.memory.error_texts import cause_of, error_text
from mnestic.memory.errors import InvariantError, MnesticError, RefusedError
from mnestic.memory.names import OWN_ACTIVITIES

_DEEPEST = 10  # causes of causes


@contextmanager
def failures() -> Iterator[None]:
    """Turns errors into Temporal's, with their causes.

    Refusals and broken invariants fail the activity for good; whatever is unavailable is tried
    again by the retry policy, not before the time that the other side asked for.
    """
    try:
        yield
    except FailureError as error:
        cause = cause_of(error)
        raise error from (None if cause is None else failure_of(cause))
    except Exception as error:  # noqa: BLE001 - that of a driver or of Python quotes what it was about
        failure = failure_of(error)
        raise failure from failure.__cause__


def failure_of(error: BaseException, *, depth: int = _DEEPEST) -> FailureError:
    """An error as Temporal's, and so its causes: type, code and place, and the text if it is one of ours."""
    if isinstance(error, FailureError) and error.failure is not None:
        return error  # it came from Temporal
    retry_after_s = getattr(error, "retry_after_s", None)
    failure = ApplicationError(
        error.message if isinstance(error, FailureError) else error_text(error),
        type=getattr(error, "type", None)
        if isinstance(error, ApplicationError)
        else type(error).__name__,
        non_retryable=isinstance(error, (RefusedError, InvariantError)),
        next_retry_delay=timedelta(seconds=retry_after_s) if retry_after_s else None,
    ).with_traceback(error.__traceback__)
    cause = cause_of(error)
    failure.__cause__ = failure_of(cause, depth=depth - 1) if cause and depth else None
    return failure


class FailureInterceptor(Interceptor):
    """Lets no error of an activity of ours out as it is."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """See the base class."""
        return _ActivityFailures(next)


class _ActivityFailures(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        if not activity.info().activity_type.startswith(OWN_ACTIVITIES):
            return await super().execute_activity(input)
        with failures():
            return await super().execute_activity(input)


class MnesticFailureConverter(DefaultFailureConverter, WithSerializationContext):
    """Writes errors into the history; those of tools of a user's own as they are."""

    encodes_texts = False  # whether a codec is to see messages and stack traces

    def __init__(self) -> None:
        super().__init__(encode_common_attributes=self.encodes_texts)
        self._is_ours = True

    def with_context(self, context: SerializationContext) -> Self:
        """The converter of an activity, or of a workflow, whose errors are always ours to answer for."""
        converter = type(self)()
        if isinstance(context, ActivitySerializationContext):
            converter._is_ours = (context.activity_type or "").startswith(OWN_ACTIVITIES)  # noqa: SLF001 - its own
        return converter

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        """See the base class, which comes back here with each cause."""
        if not isinstance(exception, FailureError) and (
            self._is_ours or isinstance(exception, MnesticError)
        ):
            exception = failure_of(exception)
        super().to_failure(exception, payload_converter, failure)


class EncodedFailureConverter(MnesticFailureConverter):
    """Hands messages and stack traces to the codec as well."""

    encodes_texts = True

"""How often a node is tried: a plan's policy over what is usual for the node's kind."""

from dataclasses import replace
from datetime import timedelta

from temporalio.common import RetryPolicy

from mnestic.memory.jobs.retries import Retry

OURS = RetryPolicy(
    initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=30)
)
"""Of our own activities: without limit, since nothing is done twice and a fixed worker can go on."""

TOOLS = RetryPolicy(maximum_attempts=5, non_retryable_error_types=["PayloadsTooLarge"])
"""Of tools, which are not ours; a result that Temporal cannot carry is no smaller the next time."""


def retry_policy(retry: Retry | None, *, usual: RetryPolicy) -> RetryPolicy:
    """The usual policy, with what a plan asks for in its place."""
    if retry is None:
        return usual
    first = retry.first_delay or usual.initial_interval
    longest = retry.max_delay or usual.maximum_interval
    if longest is not None:
        first, longest = _ordered(retry, first, longest)
    return replace(
        usual,
        initial_interval=first,
        maximum_interval=longest,
        backoff_coefficient=retry.backoff or usual.backoff_coefficient,
        maximum_attempts=usual.maximum_attempts if retry.attempts is None else retry.attempts,
        non_retryable_error_types=[*(usual.non_retryable_error_types or ()), *retry.not_on] or None,
    )


def _ordered(retry: Retry, first: timedelta, longest: timedelta) -> tuple[timedelta, timedelta]:
    """Both delays, the one that the plan names deciding when they contradict."""
    if retry.max_delay is not None:
        return min(first, longest), longest
    return first, max(first, longest)

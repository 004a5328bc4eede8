"""Refusals: why a request cannot resume a job, and why a wait gets no later deadline.

The rules are pure, so that the update's validator, the signal handler and the tests decide by the same words.
"""

from datetime import datetime
from typing import Any

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms.forms import check_payload
from mnestic.memory.jobs.waits import (
    LONGEST_WAIT,
    TIMEOUT,
    ExtendRequest,
    OpenWait,
    ResumeRequest,
)


def resume_refusal(
    request: ResumeRequest, *, job_id: str, open_wait: OpenWait | None
) -> str | None:
    """Why a request cannot resume the job now, or None if it can.

    The caller has handled requests that were seen before: they get their first receipt.
    """
    wanted = request.wait_id
    if wanted is not None and wanted.rpartition("/")[0] != job_id:
        return f"wait {wanted} is not a wait of this job"
    if open_wait is None:
        return f"wait {wanted} is not open" if wanted else "it is not waiting"
    if wanted is not None and wanted != open_wait.wait_id:
        return f"wait {wanted} is not open, the job now waits at {open_wait.wait_id}"
    outcomes = (*open_wait.outcomes, TIMEOUT) if request.override else open_wait.outcomes
    if request.outcome not in outcomes:
        allowed = ", ".join(outcomes)
        return f"wait {open_wait.wait_id} has no outcome {request.outcome!r}; it has {allowed}"
    expected = request.expected_sha256
    if expected is not None and expected != open_wait.snapshot.sha256:
        return f"the snapshot of wait {open_wait.wait_id} has sha256 {open_wait.snapshot.sha256}, not {expected}"
    has_form = request.outcome != TIMEOUT and not open_wait.is_by_condition(request.outcome)
    return _misfit(request.payload, open_wait.form) if has_form else None


def _misfit(payload: Any, form: dict[str, Any] | None) -> str | None:
    """Why a payload does not fit the form of the wait, or None if it does."""
    if form is None:
        return None
    try:
        check_payload(form, payload)
    except InvalidInputError as error:
        return str(error)
    return None


def extension_refusal(
    request: ExtendRequest, *, open_wait: OpenWait | None, now: datetime, ends: str | None
) -> str | None:
    """Why a wait cannot get the requested deadline, or None if it can.

    Args:
        request: The new deadline, and the wait if it is named.
        open_wait: The open wait, if there is one.
        now: By the job's clock.
        ends: How the open wait is ending, if it is.
    """
    if open_wait is None:
        return "it is not waiting"
    if request.wait_id not in (None, open_wait.wait_id):
        return f"it waits at {open_wait.wait_id}, not at {request.wait_id}"
    if ends is not None:
        return f"wait {open_wait.wait_id} {ends}"
    if request.until < open_wait.deadline:
        return f"the deadline is {open_wait.deadline.isoformat()} already; give a later one"
    if request.until > now + LONGEST_WAIT:
        return f"a deadline is at most {LONGEST_WAIT.days} days away"
    return None

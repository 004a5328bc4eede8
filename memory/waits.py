"""Waits: how a job parks, who may wake it, and what it gets back.

The rules of a resume are pure and stand alone, so that the update's validator, the signal handler
and the tests decide by the same words.
"""

from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from mnestic.memory.canonical import check_text
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.scope import Scope
from mnestic.memory.snapshots import Drift, SnapshotRef

_LONGEST_REQUEST_ID = 256  # characters
TIMEOUT = "timeout"
RESUMED = "resumed"

WaitPolicy = Literal["rebase"]
"""What a restore does with memory that changed meanwhile. `rebase`: newer long-term values and newer
working memory are taken as they are now, and listed as drift."""

WaitState = Literal["waiting", "resumed", "timed_out", "cancelled"]
"""The state of a `job_wait` row.

waiting    entered when the snapshot commits; left by a verified restore or by the job's cancellation
resumed    a resume was restored; final
timed_out  the deadline passed and was restored; final
cancelled  the job was cancelled or failed while it waited; final
"""

JobOutcome = Literal["completed", "failed", "cancelled"]
"""How a job ended by itself."""

JobState = Literal[
    "running", "waiting", "needs_attention", "completed", "failed", "cancelled", "terminated"
]
"""The state of a job, as the search attribute JobState.

running          between waits
waiting          parked at a wait; left by resume, timeout or cancellation
needs_attention  parked because its snapshot could not be verified; left by another resume or cancellation
completed, failed, cancelled   final; an episode tells of each
terminated       ended by force from outside; final, without an episode
"""


class ResumeRequest(BaseModel):
    """One request to resume. The same `request_id` is the same request, however often it is sent."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    request_id: str
    wait_id: str | None = None
    outcome: str = RESUMED
    payload: Any = None
    expected_sha256: str | None = None


class ResumeReceipt(BaseModel):
    """What a resume did. A duplicate gets the receipt of the first."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    request_id: str
    job_id: str
    wait_id: str
    outcome: str
    snapshot_id: str
    snapshot_sha256: str
    restored_at: AwareDatetime
    drift_count: int


class ResumptionContext(BaseModel):
    """Where a job goes on: the node it waits at, what the nodes before gave, and by which plan."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    cursor_node: str
    payload_results: dict[str, Any] = Field(default_factory=dict)
    plan_decision_id: str


class OpenWait(BaseModel):
    """A wait that is open, as the workflow knows it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    wait_id: str
    key: str
    outcomes: tuple[str, ...]
    policy: WaitPolicy
    deadline: AwareDatetime
    snapshot: SnapshotRef


class JobWait(BaseModel):
    """A `job_wait` row."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    wait_id: str
    job_id: str
    scope: Scope
    key: str
    state: WaitState
    policy: WaitPolicy
    snapshot_id: str
    context: ResumptionContext
    deadline: AwareDatetime
    opened_at: AwareDatetime
    closed_at: AwareDatetime | None = None
    receipt: ResumeReceipt | None = None


class Restored(BaseModel):
    """What a verified restore found: the first of the drift, how much there was, and the receipt."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    drift: tuple[Drift, ...] = ()
    drift_count: int = 0
    receipt: ResumeReceipt | None = None


def check_request_id(request_id: str) -> None:
    """Refuses an id that is no key for an index.

    Raises:
        InvalidInputError: it is empty, too long or not text.
    """
    check_text(request_id, what="request id")
    if not 1 <= len(request_id) <= _LONGEST_REQUEST_ID:
        why = f"is {len(request_id)} characters long; 1 to {_LONGEST_REQUEST_ID} are allowed"
        raise InvalidInputError(what="request id", why=why)


def refusal(request: ResumeRequest, *, job_id: str, open_wait: OpenWait | None) -> str | None:
    """Why a request cannot resume the job now, or None if it can.

    Requests that were seen before are not asked about here: they get their first receipt.
    """
    wanted = request.wait_id
    if wanted is not None and wanted.rpartition("/")[0] != job_id:
        return f"wait {wanted} is not a wait of this job"
    if open_wait is None:
        return f"wait {wanted} is over" if wanted else "it is not waiting"
    if wanted is not None and wanted != open_wait.wait_id:
        return f"wait {wanted} is over, the job now waits at {open_wait.wait_id}"
    if request.outcome not in open_wait.outcomes:
        allowed = ", ".join(open_wait.outcomes)
        return f"wait {open_wait.wait_id} has no outcome {request.outcome!r}; it has {allowed}"
    expected = request.expected_sha256
    if expected is not None and expected != open_wait.snapshot.sha256:
        return f"the snapshot of wait {open_wait.wait_id} has sha256 {open_wait.snapshot.sha256}, not {expected}"
    return None

"""Waits: how a job parks, and what it gets back."""

import json
from datetime import timedelta
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints

from mnestic.memory.canonical import (
    canonical_json,
    check_json,
    check_size,
    check_text,
    sha256_hex,
)
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.contexts import PinnedEpisodes
from mnestic.memory.jobs.snapshots import Drift, MemorySnapshot, SnapshotRef
from mnestic.memory.knowledge.prompt_facts import FactCondition
from mnestic.memory.scope import Scope
from mnestic.memory.sharing.events import EventCondition

_LONGEST_REQUEST_ID = 256  # characters
LONGEST_WAIT = timedelta(days=3650)  # from now
_LONGEST_KEY = 2_048  # bytes of a search attribute; Temporal ends a workflow that has a longer one
TIMEOUT = "timeout"
RESUMED = "resumed"

WaitPolicy = Literal["pinned", "rebase", "strict"]
"""What a restore does with memory that changed during the wait.

pinned  the job continues with its snapshot: working memory is restored, and the records of its read set
        have the values that it read, until the job itself writes them or another wait rebases
rebase  the job continues with the current values, and finds the changes in its variable `drift`
strict  any change puts the job into `needs_attention`
"""

WaitState = Literal["waiting", "resumed", "timed_out", "cancelled"]
"""The state of a `job_wait` row.

waiting    entered when the snapshot is committed; left by a verified restore or by the job's cancellation
resumed    restored for a request; final
timed_out  restored because the deadline passed; final
cancelled  the job was cancelled or failed while it waited; final
"""

JobOutcome = Literal["completed", "failed", "cancelled"]
"""How a job ended by itself."""

JobState = Literal[
    "running",
    "waiting",
    "paused",
    "needs_attention",
    "completed",
    "failed",
    "cancelled",
    "terminated",
]
"""The state of a job, as the search attribute JobState.

running          between waits
waiting          parked at a wait; left by resume, timeout or cancellation
paused           stopped by `pause` before its next step, at a wait or between two nodes; left by `unpause`
needs_attention  stopped because its snapshot could not be verified, or a strict wait found drift; left by
                 an override, a resume that verifies (a deferred one too), or cancellation; never by the
                 deadline
completed, failed, cancelled   final; each writes an episode
terminated       ended by force from outside; final, without an episode
"""


class Override(DeferredModel):
    """Why and how a person continues a job that needs attention.

    `policy` replaces that of the wait. `rebase` continues with memory as it is now, even if the snapshot cannot be
    read. `pinned` needs a snapshot that verifies, and replaces working memory by it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
    by: str | None = Field(None, max_length=256)
    policy: Literal["pinned", "rebase"] = "rebase"


class ResumeRequest(DeferredModel):
    """One request to resume. The same `request_id` is the same request, however often it is sent."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    request_id: str
    wait_id: str | None = None
    outcome: str = RESUMED
    payload: Any = None
    expected_sha256: str | None = None
    override: Override | None = None
    actor: str | None = None

    @property
    def answer_sha256(self) -> str:
        """The hash of what it answers."""
        return sha256_hex(canonical_json([self.outcome, self.payload]))


class DeferredRequest(DeferredModel):
    """A signal that a job defers because its wait could not be restored, without its payload."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    request_id: str
    outcome: str


class ResumeReceipt(DeferredModel):
    """What a resume did. A duplicate gets the receipt of the first.

    `set_aside` is the snapshot of newer working memory that a pinned restore has replaced. `answer_sha256` is of the request
    that it answers, and `actor` who sent it, such as an API key.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    request_id: str
    job_id: str
    wait_id: str
    outcome: str
    snapshot_id: str
    snapshot_sha256: str
    restored_at: AwareDatetime
    drift_count: int
    verified: bool = True
    override: Override | None = None
    set_aside: str | None = None
    answer_sha256: str | None = None
    actor: str | None = None


class ResumptionContext(DeferredModel):
    """Where a job goes on: its node, its inputs, what the nodes before gave, its plan, its memory."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    cursor_node: str
    payload_results: dict[str, Any] = Field(default_factory=dict)
    plan_decision_id: str
    inputs: dict[str, Any] = Field(default_factory=dict)
    memory_snapshot: SnapshotRef | None = None


WaitCondition = EventCondition | FactCondition
"""What may end a wait besides a resume and its timeout."""


class OpenWait(DeferredModel):
    """A wait that is open, as the workflow knows it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    wait_id: str
    key: str
    outcomes: tuple[str, ...]
    policy: WaitPolicy
    deadline: AwareDatetime
    snapshot: SnapshotRef
    ask: str | None = None
    form: dict[str, Any] | None = None
    condition: WaitCondition | None = None

    def is_by_condition(self, outcome: str) -> bool:
        """Whether an outcome says that the condition is met; of a wait without one it is a name as any other."""
        return self.condition is not None and outcome == self.condition.outcome

    @property
    def answers(self) -> tuple[str, ...]:
        """The outcomes that somebody may choose."""
        return _answers(self.outcomes, self.condition)


class JobWait(DeferredModel):
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
    outcomes: tuple[str, ...] = ()
    ask: str | None = None
    form: dict[str, Any] | None = None
    deadline: AwareDatetime
    opened_at: AwareDatetime
    closed_at: AwareDatetime | None = None
    receipt: ResumeReceipt | None = None
    condition: WaitCondition | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """The outcomes that somebody may choose."""
        return _answers(self.outcomes, self.condition)


def _answers(outcomes: tuple[str, ...], condition: WaitCondition | None) -> tuple[str, ...]:
    """Without the one of a condition, which is met or not whoever says so."""
    return tuple(one for one in outcomes if condition is None or one != condition.outcome)


class MetWait(NamedTuple):
    """A wait whose condition is met: it has got its event, or its fact holds."""

    job_id: str
    wait_id: str
    outcome: str

    @property
    def request(self) -> ResumeRequest:
        """What the job is sent; however often that is, it is one request. The restore reads the event or the fact."""
        return ResumeRequest(
            request_id=f"{self.outcome}/{self.wait_id}", wait_id=self.wait_id, outcome=self.outcome
        )


class Restored(DeferredModel):
    """How a wait ended, for good: by which request (None: its time was up), and what had changed.

    The first restore that commits decides. Whoever asks again, also with another request, gets this.
    `policy` is the one that was applied; None of a restore by a version that did not say so. `set_aside` is
    the snapshot of newer working memory that a pinned restore has replaced.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    policy: WaitPolicy | None = None
    request: ResumeRequest | None = None
    drift: tuple[Drift, ...] = ()
    drift_count: int = 0
    receipt: ResumeReceipt | None = None
    set_aside: str | None = None


def episodes_after_restore(
    wait: OpenWait, restored: Restored, *, before: PinnedEpisodes | None
) -> PinnedEpisodes | None:
    """Whose episodes a job goes by after a wait; None: today's. A strict wait leaves it as it was."""
    sealed = PinnedEpisodes(snapshot_id=wait.snapshot.id, sha256=wait.snapshot.sha256)
    is_sealed = restored.policy == "pinned" or (restored.policy == "strict" and before is not None)
    return sealed if is_sealed else None


class ExtendRequest(DeferredModel):
    """Asks for a later deadline of the open wait."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    until: AwareDatetime
    wait_id: str | None = None


class WaitExtended(DeferredModel):
    """A wait with its new deadline."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    wait_id: str
    deadline: AwareDatetime


class ForkOrigin(DeferredModel):
    """The wait that a forked job begins at, and the snapshot it begins with."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: str
    wait_id: str
    snapshot_id: str
    sha256: str


def check_request_id(request_id: str) -> None:
    """Refuses an id that is no key for an index.

    Raises:
        InvalidInputError: it is empty, too long or not text.
    """
    check_text(request_id, what="request id")
    if not 1 <= len(request_id) <= _LONGEST_REQUEST_ID:
        why = f"is {len(request_id)} characters long; 1 to {_LONGEST_REQUEST_ID} are allowed"
        raise InvalidInputError(what="request id", why=why)


def check_request(request: ResumeRequest, *, limit_bytes: int) -> None:
    """Refuses a request that cannot be stored, whatever it asks for.

    Raises:
        InvalidInputError: its id is no key, or a text in it cannot be stored.
        PayloadTooLargeError: its payload is over the limit.
    """
    check_request_id(request.request_id)
    check_size(request.payload, what="payload", limit_bytes=limit_bytes)
    if request.override is not None:
        check_json(request.override.model_dump(mode="json"), what="override")


def check_wait_key(key: str) -> None:
    """Refuses a key that a search attribute does not hold.

    Raises:
        InvalidInputError: it is too long.
    """
    size = len(json.dumps(key))  # Temporal's SDK escapes what is not ASCII
    if size > _LONGEST_KEY:
        why = f"takes {size} bytes as a search attribute; at most {_LONGEST_KEY} are allowed"
        raise InvalidInputError(what="key", why=why)


class Resumption(DeferredModel):
    """A wait with its place in the plan (`wait.context`), and the snapshot of memory that was made there.

    `redacted_at` is when something was taken out of the snapshot, because it was forgotten.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    wait: JobWait
    snapshot: MemorySnapshot
    snapshot_sha256: str
    redacted_at: AwareDatetime | None = None

"""Jobs: what goes into an agent job, what it carries on, and what comes out.

These values cross Temporal, so they hold ids, references and small payloads, never memory text.
"""

from typing import Any

from pydantic import AliasChoices, AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.contexts import PinnedEpisodes
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.short_term.segments import ContractRef, SegmentReport
from mnestic.memory.jobs.waits import (
    DeferredRequest,
    ForkOrigin,
    JobState,
    JobWait,
    OpenWait,
    ResumeReceipt,
    ResumeRequest,
)
from mnestic.memory.scope import Id, Scope


class AgentMemoryState(DeferredModel):
    """What `AgentMemory` carries from one run to the next."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    epoch: int = 0
    step: int = 0
    waits: int = 0
    open_wait: OpenWait | None = None
    queued: tuple[ResumeRequest, ...] = ()
    receipts: tuple[ResumeReceipt, ...] = ()
    refused: tuple[str, ...] = ()
    attention: str | None = None
    paused: bool = False
    sealed_tail: PinnedEpisodes | None = None


class JobProgress(DeferredModel):
    """How far a job came: the node it is at, and what the nodes before gave."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    cursor: str
    results: dict[str, Any] = Field(default_factory=dict)
    memory: AgentMemoryState = AgentMemoryState()


class JobInput(DeferredModel):
    """The input of `AgentJob`.

    `progress` is there when a job continues as new, or begins at a wait of another; `origin` is that
    wait, until its memory has been taken over. `contract` is the version in force when the job started, or when it
    continued as new; None of a job that an earlier version started, which looks for one when it continues.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: Id
    scope: Scope
    plan: Plan
    inputs: dict[str, Any] = Field(default_factory=dict)
    max_payload_bytes: int = 16_384
    progress: JobProgress | None = None
    origin: ForkOrigin | None = None
    contract: ContractRef | None = None


class JobResult(DeferredModel):
    """The result of `AgentJob`. Nodes whose results were too large to return are `omitted`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: str
    waits: int
    episode_id: str
    results: dict[str, Any] = Field(default_factory=dict)
    omitted: tuple[str, ...] = ()


class JobStatus(DeferredModel):
    """The answer to the query `status`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: str
    scope: Scope
    plan: str
    state: JobState
    node: str
    waits: int
    attention: str | None = None
    # A worker or a client of an earlier version says `kept`.
    deferred: tuple[DeferredRequest, ...] = Field(
        (), validation_alias=AliasChoices("kept", "deferred"), serialization_alias="kept"
    )
    open_wait: OpenWait | None = None
    refused: tuple[str, ...] = ()
    receipts: tuple[ResumeReceipt, ...] = ()


class JobSummary(DeferredModel):
    """A job in a list, from Temporal's visibility store."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: str
    agent_id: str
    session_id: str
    state: JobState
    wait_key: str | None = None
    deadline: AwareDatetime | None = None
    started_at: AwareDatetime
    closed_at: AwareDatetime | None = None


class JobDescription(JobSummary):
    """A job with its waits, from Temporal and from the store.

    `waits` are the latest, after `earlier_waits`. `deferred` are requests by signal for which the open wait could
    not be restored; `failing` is what is being tried again, with its last failure: activities, and the workflow's own task.
    `failure` is why a job failed, with its node; `run_id` is none of a job that Temporal has forgotten. `segments` are the
    budgets of its session's segments and the job's rows of their ledger; there are none without a contract.
    """

    plan: str
    attention: str | None = None
    deferred: tuple[DeferredRequest, ...] = ()
    forked_from: str | None = None
    failing: tuple[str, ...] = ()
    failure: str | None = None
    run_id: str | None = None
    earlier_waits: int = 0
    waits: tuple[JobWait, ...] = ()
    segments: SegmentReport | None = Field(None, exclude_if=lambda segments: segments is None)

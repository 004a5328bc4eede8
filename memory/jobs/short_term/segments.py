"""Segments: named parts of working memory, each with a priority, a token budget and a retention.

Working memory carries the values and reads none of the rules by which steps change them (`segment_steps.py`).
"""

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel

DEFAULT_SEGMENT = "conversation"
"""The segment that takes what names none; a contract without it has its last one for that."""

EvictionPolicy = Literal["lru", "fifo", "priority"]
Retention = Literal["session", "task", "persistent"]
SummaryStrategy = Literal["extractive", "abstractive", "hybrid"]
ChangeKind = Literal["evicted", "cut", "refused", "summarized", "ended", "replaced"]
EntryRole = Literal["system", "user", "assistant", "tool"]


class SegmentRule(Protocol):
    """The rules of one segment, as a contract has them. Priority 1 is evicted last."""

    @property
    def segment_id(self) -> str:
        """Its id."""
        ...

    @property
    def priority(self) -> int:
        """1 is evicted last."""
        ...

    @property
    def max_tokens(self) -> int:
        """Its budget, in tokens."""
        ...

    @property
    def retention(self) -> Retention:
        """When it ends."""
        ...


class SummaryRule(Protocol):
    """When segments are summarized, and how; the threshold is in percent of a segment's budget."""

    @property
    def enabled(self) -> bool:
        """Whether there are summaries."""
        ...

    @property
    def trigger_threshold(self) -> int:
        """In percent of a budget."""
        ...

    @property
    def strategy(self) -> SummaryStrategy:
        """How they are made."""
        ...


class SegmentRules(Protocol):
    """The rules of short-term memory: `ShortTerm` of a contract."""

    @property
    def max_tokens(self) -> int:
        """Its budget, in tokens."""
        ...

    @property
    def eviction_policy(self) -> EvictionPolicy:
        """What is evicted first."""
        ...

    @property
    def segments(self) -> Sequence[SegmentRule]:
        """The rules of each."""
        ...

    @property
    def summarization(self) -> SummaryRule:
        """When summaries are made."""
        ...


class ContractRef(DeferredModel):
    """A version of a contract; version 0 is none."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    selector: str = ""
    version: int = 0


class SummarySource(DeferredModel):
    """What a summary stands for.

    `ids` are of the entries that it replaced; one of an earlier summary is the id of the episode that lists its own. `count` counts
    the originals of all of them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    channels: tuple[str, ...] = ()
    since: AwareDatetime
    until: AwareDatetime
    count: int
    ids: tuple[str, ...]
    strategy: SummaryStrategy


class SegmentEntry(DeferredModel):
    """One text of a segment, as a prompt gets it.

    `arrival` and `last_use` count steps of the session. `tokens` is None until a step counts them, as after a part of the text was
    forgotten. `job_id` is the job that wrote it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    segment_id: str
    role: EntryRole = "user"
    content: str
    tokens: int | None = None
    arrival: int = 0
    last_use: int = 0
    at: AwareDatetime
    channel: str | None = None
    job_id: str | None = None
    source: SummarySource | None = None


class SegmentChange(DeferredModel):
    """A row of the ledger: what left a segment or was changed in it, why and when.

    The tokens are those of the segment, but of a cut those of the entry.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: AwareDatetime
    kind: ChangeKind
    segment_id: str
    ids: tuple[str, ...]
    why: str
    tokens_before: int
    tokens_after: int
    job_id: str | None = None


class SegmentLimit(DeferredModel):
    """The rules of a segment at the last step."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    segment_id: str
    priority: int
    max_tokens: int
    retention: Retention


class SegmentBudget(SegmentLimit):
    """A segment with what it holds."""

    tokens: int
    entries: int


class SegmentContext(DeferredModel):
    """What a segment has: its texts by arrival, with their tokens, and since when it has the first."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    segment_id: str
    content: str
    tokens: int
    max_tokens: int
    created_at: AwareDatetime | None
    entries: tuple[SegmentEntry, ...]


class SegmentReport(DeferredModel):
    """What is shown of segments, without their texts: budgets by priority, and the ledger's rows, after `earlier_changes`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    contract: ContractRef
    tokens: int
    max_tokens: int
    budgets: tuple[SegmentBudget, ...]
    changes: tuple[SegmentChange, ...]
    earlier_changes: int


class Segments(DeferredModel):
    """The segments of a session, with the ledger of their changes and the rules of the last step.

    `changes` are the latest, after `earlier_changes`, which the audit log has.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    sequence: int = 0
    entries: tuple[SegmentEntry, ...] = ()
    changes: tuple[SegmentChange, ...] = ()
    earlier_changes: int = 0
    contract: ContractRef = ContractRef()
    max_tokens: int = 0
    limits: tuple[SegmentLimit, ...] = ()

    def budgets(self) -> tuple[SegmentBudget, ...]:
        """The segments in the order of a prompt, with their tokens."""
        return tuple(
            SegmentBudget(
                **limit.model_dump(),
                tokens=tokens_of(own := self.of(limit.segment_id)),
                entries=len(own),
            )
            for limit in sorted(self.limits, key=lambda limit: limit.priority)
        )

    def of(self, segment_id: str) -> tuple[SegmentEntry, ...]:
        """The entries of a segment by arrival."""
        return tuple(entry for entry in self.entries if entry.segment_id == segment_id)

    def of_fork(self, job_id: str, new_id: str) -> "Segments":
        """The segments for a fork of a job, with which that job's tasks end as its own."""
        entries = (
            entry.model_copy(update={"job_id": new_id}) if entry.job_id == job_id else entry
            for entry in self.entries
        )
        return self.model_copy(update={"entries": tuple(entries)})

    def report(self, *, job_id: str | None = None) -> SegmentReport:
        """What is shown of them; with a job, of the ledger its rows alone."""
        return SegmentReport(
            contract=self.contract,
            tokens=tokens_of(self.entries),
            max_tokens=self.max_tokens,
            budgets=self.budgets(),
            changes=tuple(c for c in self.changes if job_id is None or c.job_id == job_id),
            earlier_changes=self.earlier_changes,
        )


def tokens_of(entries: Iterable[SegmentEntry]) -> int:
    """The tokens of entries that were counted."""
    return sum(entry.tokens or 0 for entry in entries)


def default_segment(rules: SegmentRules) -> str:
    """The segment that takes what names none: `conversation`, or the one of the lowest priority."""
    names = [segment.segment_id for segment in rules.segments]
    if DEFAULT_SEGMENT in names:
        return DEFAULT_SEGMENT
    return max(enumerate(rules.segments), key=lambda each: (each[1].priority, each[0]))[
        1
    ].segment_id


def in_prompt_order(
    entries: Iterable[SegmentEntry], rules: SegmentRules
) -> tuple[SegmentEntry, ...]:
    """Entries as a prompt has them: segments by priority, each by arrival."""
    ranks = {
        segment.segment_id: (segment.priority, place)
        for place, segment in enumerate(rules.segments)
    }
    present = (entry for entry in entries if entry.segment_id in ranks)
    return tuple(sorted(present, key=lambda entry: (ranks[entry.segment_id], entry.arrival)))


def fitting(
    entries: Iterable[SegmentEntry], rules: SegmentRules, *, room: int, around: int
) -> tuple[SegmentEntry, ...]:
    """Those that fit into a prompt, in its order: segments by priority, of each the newest.

    Args:
        entries: Entries that were counted.
        rules: The order of their segments.
        room: Tokens that they may take.
        around: Tokens that each takes beside its text.
    """
    ordered = in_prompt_order(entries, rules)
    priority = {segment.segment_id: segment.priority for segment in rules.segments}
    chosen: set[str] = set()
    for entry in sorted(ordered, key=lambda each: (priority[each.segment_id], -each.arrival)):
        room -= (entry.tokens or 0) + around
        if room < 0:
            break
        chosen.add(entry.id)
    return tuple(entry for entry in ordered if entry.id in chosen)

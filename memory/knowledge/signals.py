"""Signals: what subscribers are told about changes of memory, each with the change it tells of.

A signal is written in the transaction of its change, so that there is none without the other. It
names what changed and holds no content: whoever wants that reads it, as it is by then.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.facts import Fact, FactChange
from mnestic.memory.knowledge.world.patterns import Pattern

SignalKind = Literal[
    "memory.stored",  # an entry or a fact is new
    "memory.merged",  # the same fact was said again, and is more certain
    "memory.conflict",  # another object of a predicate that has one at a time; a fact made way
    "memory.superseded",  # a fact that was active has made way for another
    "memory.ended",  # a fact is over, and nothing has taken its place
    "memory.reactivated",  # a fact that was archived is active again
    "memory.changed",  # anything else about an entry or a fact
    "memory.withdrawn",  # a fact never was, given what is claimed by now
    "memory.deleted",  # an entry or a fact is deleted
    "memory.pattern",  # a pattern has its support
]
SignalTarget = Literal["entry", "fact", "pattern"]


class Signal(DeferredModel):
    """What happened to an entry, a fact or a pattern; entries of one transaction share one."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: SignalKind
    target: SignalTarget
    ids: tuple[str, ...]
    subject: str | None = None
    predicate: str | None = None
    details: dict[str, Any] = Field(default_factory=dict)


class StoredEvent(Signal):
    """A signal in the outbox. Numbers of an agent have no gaps, and come to be seen in their order."""

    number: int
    at: AwareDatetime


def entry_event(kind: SignalKind, entry_ids: Sequence[str]) -> Signal:
    """What there is to tell about entries of one transaction."""
    return Signal(kind=kind, target="entry", ids=tuple(entry_ids))


def signals_of(changes: Sequence[FactChange], *, nameless: bool = False) -> tuple[Signal, ...]:
    """What there is to tell about changes of facts, in their order.

    With `nameless`, not of whom a fact was that is gone: it was forgotten.
    """
    told = (signal for change in changes for signal in _about(change))
    return tuple(
        signal.model_copy(update={"subject": None, "predicate": None})
        if nameless and signal.kind == "memory.withdrawn"
        else signal
        for signal in told
    )


def pattern_events(before: Sequence[Pattern], after: Sequence[Pattern]) -> tuple[Signal, ...]:
    """That there are patterns which there were not before."""
    known = {pattern.id for pattern in before}
    return tuple(
        Signal(
            kind="memory.pattern",
            target="pattern",
            ids=(pattern.id,),
            subject=pattern.subject,
            predicate=pattern.predicate,
            details={
                "pattern": pattern.kind,
                "interval_days": pattern.interval_days,
                "support": list(pattern.support),
            },
        )
        for pattern in after
        if pattern.id not in known
    )


def _about(change: FactChange) -> Iterator[Signal]:
    before, after = change.before, change.after
    if after is None:
        yield _signal("memory.withdrawn", change.fact)
        return
    if after.superseded_by and (before is None or before.superseded_by != after.superseded_by):
        details = {"superseded_by": after.superseded_by, "end": after.end}
        yield _signal("memory.conflict", after, details)
    yield _signal(_kind(before, after), after, _details(after))


def _kind(before: Fact | None, after: Fact) -> SignalKind:
    if after.status == "deleted":
        return "memory.changed" if before and before.status == "deleted" else "memory.deleted"
    if before is None:
        return "memory.stored"
    if before.status == "active" and after.status == "archived":
        return "memory.superseded" if after.superseded_by else "memory.ended"
    if before.status != "active" and after.status == "active":
        return "memory.reactivated"
    more = len(after.claims) > len(before.claims) and after.status == before.status
    return "memory.merged" if more else "memory.changed"


def _details(fact: Fact) -> dict[str, Any]:
    told = {
        "status": fact.status,
        "confidence": fact.confidence,
        "end": fact.end,
        "supersedes": fact.supersedes,
        "superseded_by": fact.superseded_by,
    }
    return {name: value for name, value in told.items() if value is not None}


def _signal(kind: SignalKind, fact: Fact, details: dict[str, Any] | None = None) -> Signal:
    return Signal(
        kind=kind,
        target="fact",
        ids=(fact.id,),
        subject=fact.subject,
        predicate=fact.predicate,
        details=details or {},
    )

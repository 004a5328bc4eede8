"""Events: what subscribers learn about changes of memory, each written with its change.

An event is written in the transaction of its change, so that there is none without the other. It
names what changed and holds no content: whoever wants that reads it, as it is by then.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.facts import Fact, FactChange
from mnestic.memory.knowledge.world.patterns import Pattern

EventKind = Literal[
    "memory.stored",  # an entry or a fact is new
    "memory.merged",  # the same fact was said again, and is more certain
    "memory.conflict",  # another object of a predicate that has one at a time; a fact made way
    "memory.superseded",  # a fact that was active has made way for another
    "memory.ended",  # a fact is over, and nothing has taken its place
    "memory.faded",  # a fact is not believed any more, since nobody has said or used it for a long time
    "memory.reactivated",  # a fact that was archived is active again
    "memory.changed",  # anything else about an entry or a fact
    "memory.withdrawn",  # a fact never was, given what is claimed by now
    "memory.deleted",  # an entry or a fact is deleted
    "memory.archived",  # an entry is in the archive, where no search finds it
    "memory.restored",  # an entry is back from the archive
    "memory.pattern",  # a pattern has its support
]
EventTarget = Literal["entry", "fact", "pattern"]


class MemoryEvent(DeferredModel):
    """What happened to an entry, a fact or a pattern; entries of one transaction share one."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: EventKind
    target: EventTarget
    ids: tuple[str, ...]
    subject: str | None = None
    predicate: str | None = None
    details: dict[str, Any] = Field(default_factory=dict)


class StoredEvent(MemoryEvent):
    """An event in the outbox. Numbers of an agent have no gaps, and come to be seen in their order."""

    number: int
    at: AwareDatetime


def entry_event(kind: EventKind, entry_ids: Sequence[str]) -> MemoryEvent:
    """The event of the entries of one transaction."""
    return MemoryEvent(kind=kind, target="entry", ids=tuple(entry_ids))


def fact_events(
    changes: Sequence[FactChange], *, nameless: bool = False
) -> tuple[MemoryEvent, ...]:
    """The events of changes of facts, in their order.

    With `nameless`, the subject of a withdrawn fact is left out, because it was forgotten.
    """
    events = (event for change in changes for event in _about(change))
    return tuple(
        event.model_copy(update={"subject": None, "predicate": None})
        if nameless and event.kind == "memory.withdrawn"
        else event
        for event in events
    )


def pattern_events(before: Sequence[Pattern], after: Sequence[Pattern]) -> tuple[MemoryEvent, ...]:
    """The events of patterns that are new."""
    known = {pattern.id for pattern in before}
    return tuple(
        MemoryEvent(
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


def _about(change: FactChange) -> Iterator[MemoryEvent]:
    before, after = change.before, change.after
    if after is None:
        yield _event("memory.withdrawn", change.fact)
        return
    if after.superseded_by and (before is None or before.superseded_by != after.superseded_by):
        details = {"superseded_by": after.superseded_by, "end": after.end}
        yield _event("memory.conflict", after, details)
    yield _event(_kind(before, after), after, _details(after))


def _kind(before: Fact | None, after: Fact) -> EventKind:
    if after.status == "deleted":
        return "memory.changed" if before and before.status == "deleted" else "memory.deleted"
    if before is None:
        return "memory.stored"
    if before.status == "active" and after.status == "archived":
        if after.end == "faded":
            return "memory.faded"
        return "memory.superseded" if after.superseded_by else "memory.ended"
    if before.status != "active" and after.status == "active":
        return "memory.reactivated"
    more = len(after.claims) > len(before.claims) and after.status == before.status
    return "memory.merged" if more else "memory.changed"


def _details(fact: Fact) -> dict[str, Any]:
    details = {
        "status": fact.status,
        "confidence": fact.confidence,
        "end": fact.end,
        "supersedes": fact.supersedes,
        "superseded_by": fact.superseded_by,
    }
    return {name: value for name, value in details.items() if value is not None}


def _event(kind: EventKind, fact: Fact, details: dict[str, Any] | None = None) -> MemoryEvent:
    return MemoryEvent(
        kind=kind,
        target="fact",
        ids=(fact.id,),
        subject=fact.subject,
        predicate=fact.predicate,
        details=details or {},
    )

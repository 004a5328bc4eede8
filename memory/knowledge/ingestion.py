"""Learning: how raw messages become entries and facts, and how far each of them is.

It is pure: which steps there are, and how many messages are where. Which entry a message becomes is
in `enrichment`.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.access.audit import SearchCount
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.claims import Claim, make_id
from mnestic.memory.knowledge.entries import ArchiveReason, EntryStatistics, EntryType, Names
from mnestic.memory.knowledge.extraction import (
    NO_SPEAKER,
    Extracted,
    ExtractionInput,
    Replaced,
    TurnKind,
    claim_of,
)
from mnestic.memory.knowledge.facts import FactStatus
from mnestic.memory.knowledge.importance import ImportanceBasis
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.language.query_words import query_lists
from mnestic.memory.language.terms import words_of
from mnestic.memory.scope import Id

CONTEXT_MESSAGES = 8  # messages of the session before one that show what it means
NO_EXTRACTOR = "none"  # what extracted the claims of a message where there is no extractor
IngestState = Literal["received", "extracted", "learned", "parked", "dropped"]


class IncomingMessage(DeferredModel):
    """A message on its way to an entry and to facts: what it is, what it came with, and how far it is.

    `attached_to` is the message that a tool's result came with, `corrects` the one that a correction is
    about, both by their source ids in the same session. `subjects` are whom it is about, where that
    is not the speaker, and `tags` those of its entry. What `is_now` is said at the database's time, whatever its resource says.

    The rest is set once it is stored. `extracted` and `replaces` are what its extractor found, from the state `extracted` on, and
    `context` the numbers of the messages with which it read it; `reason` says why it is parked. With another `number` its
    message says something else by now. `subjects` are those of its entry then.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    resource: Resource
    kind: TurnKind = "message"
    entry_type: EntryType = "interaction"
    job_id: str | None = None
    workflow_run: str | None = None
    attached_to: str | None = None
    corrects: str | None = None
    subjects: tuple[str, ...] = ()
    tags: Names = ()
    is_now: bool = False
    number: int | None = None
    state: IngestState = "received"
    extractor: str | None = None
    extracted: tuple[Extracted, ...] = ()
    replaces: tuple[Replaced, ...] = ()
    context: tuple[int, ...] | None = None
    reason: str | None = None

    @property
    def order(self) -> tuple[datetime, str]:
        """Its place among the messages of its session."""
        return self.resource.at, self.resource.source_id

    @property
    def turn(self) -> ExtractionInput:
        """The resource as an extractor reads it.

        What a note without *I* gives to nobody is its subject's: "gate code: 4471" of the villa. With several it is nobody's.
        """
        resource, speaker, subjects = self.resource, self.resource.speaker, self.subjects
        words = set(words_of(resource.content))
        unnamed = [name for name in subjects if not words.issuperset(words_of(name))]
        is_about_speaker = speaker in subjects or query_lists().first_person & words
        if self.entry_type != "interaction" and unnamed and not is_about_speaker:
            speaker = unnamed[0] if len(unnamed) == 1 else NO_SPEAKER
        return ExtractionInput(
            session_id=resource.session_id,
            source_id=resource.source_id,
            speaker=speaker,
            content=resource.content,
            at=resource.local_at,
            kind=self.kind,
        )

    def turn_after(
        self, context: Sequence["IncomingMessage"], *, nearest: Sequence[ExtractionInput] = ()
    ) -> ExtractionInput:
        """The resource as an extractor reads it after the messages of its context, with those that are nearest to it."""
        before = tuple(one.turn for one in context)
        return self.turn.model_copy(update={"before": before, "nearest": tuple(nearest)})

    def as_extracted(
        self,
        claims: tuple[Extracted, ...],
        replaces: tuple[Replaced, ...] = (),
        *,
        context: Sequence["IncomingMessage"],
    ) -> "IncomingMessage":
        """With what its extractor found, and the messages with which it read it."""
        found = {"extracted": claims, "replaces": replaces, "context": numbers_of(context)}
        return self.model_copy(update=found)

    def claims(self, *, workflow_run: str | None) -> list[Claim]:
        """What it claims; a correction says of what was claimed before that it never was so.

        `workflow_run` learns it, and stands in the claims where no job has heard it.
        """
        return [
            claim_of(
                _corrected(found) if self.entry_type == "correction" else found,
                self.turn,
                extractor=self.extractor or "",
                corrects=self.corrects,
                job_id=self.job_id,
                workflow_run=self.workflow_run or workflow_run,
            )
            for found in self.extracted
        ]

    @property
    def may_change_facts(self) -> bool:
        """Whether something may follow from what its extractor found, or found before."""
        was_extracted = self.state == "received" and self.extractor is not None
        return bool(self.extracted or self.replaces) or was_extracted

    @property
    def place(self) -> tuple[str, str]:
        """Session and source id, which no other message has."""
        return self.resource.place

    @property
    def place_above(self) -> tuple[str, str] | None:
        """Session and source id of the message that a tool's result came with."""
        return None if self.attached_to is None else (self.resource.session_id, self.attached_to)

    @property
    def name(self) -> str:
        """How it is named to a person."""
        return self.resource.name

    def as_stored(self, stored: "IncomingMessage") -> "IncomingMessage":
        """With the stored message, which is the one that came first."""
        first = {name: getattr(stored, name) for name in ("resource", "kind", "entry_type")}
        return self.model_copy(update=first)

    def entry_id(self, source_id: str, *, owner: str) -> str:
        """The id of the entry that another message of the session becomes."""
        there = self.resource.model_copy(update={"source_id": source_id})
        return entry_id_of(there, owner=owner)


class ReceivedMessages(NamedTuple):
    """New messages, as they are stored, and what their importance is measured by; None where none is new."""

    messages: tuple[IncomingMessage, ...] = ()
    basis: ImportanceBasis | None = None


class IngestRequest(DeferredModel):
    """The input of `IngestMessages`: whose messages to learn from."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id
    so_far: int = 0


class Ingested(DeferredModel):
    """The result of `IngestMessages`: how many messages were learned from."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    learned: int


class IngestCounts(DeferredModel):
    """How many resources of an agent are how far.

    `without_extractor` of those that are learned have no facts, since there was no extractor.
    """

    model_config = ConfigDict(frozen=True)

    received: int = 0
    extracted: int = 0
    learned: int = 0
    parked: int = 0
    dropped: int = 0
    without_extractor: int = 0

    @property
    def waiting(self) -> int:
        """Those that are still to be learned from."""
        return self.received + self.extracted


class MemoryStatistics(DeferredModel):
    """Entries, messages by ingest state, facts by status, archived entries by reason, and searches.

    Facts and their indexes have followed the messages until `last_learned_at`.
    """

    model_config = ConfigDict(frozen=True)

    entries: EntryStatistics
    ingest_states: IngestCounts
    facts: dict[FactStatus, int]
    archived: dict[ArchiveReason, int]
    last_learned_at: AwareDatetime | None = None
    searches: tuple[SearchCount, ...] = ()


def numbers_of(messages: Sequence[IncomingMessage]) -> tuple[int, ...]:
    """The numbers of messages."""
    return tuple(one.number for one in messages if one.number is not None)


def in_conversations(messages: Sequence[IncomingMessage]) -> list[IncomingMessage]:
    """Messages by session, in the order in which the sessions come, and those of a session by date."""
    sessions: dict[str, list[IncomingMessage]] = defaultdict(list)
    for one in messages:
        sessions[one.resource.session_id].append(one)
    return [one for each in sessions.values() for one in sorted(each, key=lambda said: said.order)]


def contexts_of(
    messages: Sequence[IncomingMessage], around: Sequence[IncomingMessage]
) -> dict[tuple[str, str], tuple[IncomingMessage, ...]]:
    """For each message those right before it in its session, the oldest first; by session and source id.

    Args:
        messages: Those that are to be understood.
        around: Others of their sessions, among them all that may be their contexts.
    """
    sessions: dict[str, list[IncomingMessage]] = defaultdict(list)
    for one in sorted((*around, *messages), key=lambda each: each.order):
        sessions[one.resource.session_id].append(one)
    wanted = {one.place for one in messages}
    return {
        one.place: tuple(session[max(0, number - CONTEXT_MESSAGES) : number])
        for session in sessions.values()
        for number, one in enumerate(session)
        if one.place in wanted
    }


def entry_id_of(resource: Resource, *, owner: str) -> str:
    """The id of the entry that a resource becomes; the same resource becomes the same one."""
    return entry_id_at(resource.place, owner=owner)


def entry_id_at(place: tuple[str, str], *, owner: str) -> str:
    """The id of the entry that the message of a session and source id becomes."""
    return make_id(owner, "entry", *place)


def _corrected(found: Extracted) -> Extracted:
    """What a correction affirms is what should have been said before."""
    return found.model_copy(update={"kind": "corrected"}) if found.kind == "affirmed" else found

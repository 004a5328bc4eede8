"""Learning: how raw messages become entries and facts, and how far each of them is.

It is pure: which steps there are, and which entry a message becomes: at once when it is received, so
that it is found whatever is learned from it, and with more in it once its claims are known.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from mnestic.memory.claims import Claim, make_id
from mnestic.memory.entries import Entry, EntryType
from mnestic.memory.extraction import Extracted, Turn, TurnKind, claim_of
from mnestic.memory.importance import ImportancePolicy, importance
from mnestic.memory.predicates import Predicate
from mnestic.memory.resources import Resource
from mnestic.memory.scope import Id
from mnestic.memory.sentences import cut_text
from mnestic.memory.terms import terms_of

LearningState = Literal["received", "extracted", "learned", "parked", "dropped"]
_SUMMARY_CHARS = 200
_KEYWORDS = 8
_LONGEST_KEYWORD = 64  # characters; what is longer is no word that anybody looks for


class Lesson(BaseModel):
    """A resource that is to be learned from, and how far that is.

    `extracted` is what its extractor found, from the state `extracted` on; `reason` says why it is
    parked.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    resource: Resource
    kind: TurnKind = "message"
    entry_type: EntryType = "interaction"
    state: LearningState = "received"
    job_id: str | None = None
    workflow_run: str | None = None
    extractor: str | None = None
    extracted: tuple[Extracted, ...] = ()
    reason: str | None = None

    @property
    def turn(self) -> Turn:
        """The resource as an extractor reads it."""
        return Turn(kind=self.kind, **self.resource.model_dump(exclude={"channel"}))

    def claims(self, *, workflow_run: str | None) -> list[Claim]:
        """What it claims; a correction says of what was claimed before that it never was so.

        `workflow_run` learns it, and stands in the claims where no job has heard it.
        """
        return [
            claim_of(
                _corrected(found) if self.entry_type == "correction" else found,
                self.turn,
                extractor=self.extractor or "",
                job_id=self.job_id,
                workflow_run=self.workflow_run or workflow_run,
            )
            for found in self.extracted
        ]

    @property
    def place(self) -> tuple[str, str]:
        """Session and source id, which no other message has."""
        return self.resource.place

    @property
    def name(self) -> str:
        """How it is named to a person."""
        return self.resource.name


class Incoming(BaseModel):
    """A raw message on its way in: what it is, and what it came with.

    `came_with` is the message that a tool's result came with, `corrects` the one that a correction is
    about, both by their source ids in the same session. `subjects` are whom it is about, where that
    is not the speaker.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    resource: Resource
    kind: TurnKind = "message"
    entry_type: EntryType = "interaction"
    job_id: str | None = None
    workflow_run: str | None = None
    came_with: str | None = None
    corrects: str | None = None
    subjects: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """Session and source id, which no other message has."""
        return self.resource.place

    def as_kept(self, lesson: Lesson) -> "Incoming":
        """With what was kept of the message, which is what came first."""
        kept = {"resource": lesson.resource, "kind": lesson.kind, "entry_type": lesson.entry_type}
        return self.model_copy(update=kept)

    def entry_id(self, source_id: str, *, owner: str) -> str:
        """The id of the entry that another message of the session becomes."""
        there = self.resource.model_copy(update={"source_id": source_id})
        return entry_id_of(there, owner=owner)


class IngestRequest(BaseModel):
    """The input of `IngestMessages`: whose messages to learn from."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id
    so_far: int = 0


class Ingested(BaseModel):
    """The result of `IngestMessages`: how many messages were learned from."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    learned: int


class LearningCount(BaseModel):
    """How many resources of an agent are how far."""

    model_config = ConfigDict(frozen=True)

    received: int = 0
    extracted: int = 0
    learned: int = 0
    parked: int = 0
    dropped: int = 0

    @property
    def waiting(self) -> int:
        """Those that are still to be learned from."""
        return self.received + self.extracted


def entry_id_of(resource: Resource, *, owner: str) -> str:
    """The id of the entry that a resource becomes; the same resource becomes the same one."""
    return make_id(owner, "entry", resource.session_id, resource.source_id)


def entry_of(
    came: Incoming, *, owner: str, now: datetime, policy: ImportancePolicy | None = None
) -> Entry:
    """The entry that a resource becomes when it is received, before anybody asks what it claims.

    Args:
        came: The resource, and what it came with.
        owner: Whose entry it is, for its id.
        now: What the entry's age is measured against.
        policy: The weights of importance; the defaults without one.
    """
    said = came.resource
    speaker = (said.speaker,) if came.kind == "message" else ()
    entry = Entry(
        id=entry_id_of(said, owner=owner),
        entry_type=came.entry_type,
        content=said.content,
        summary=cut_text(said.content, _SUMMARY_CHARS),
        session_id=said.session_id,
        source_id=said.source_id,
        channel=said.channel,
        speaker=said.speaker,
        subjects=came.subjects or speaker,
        keywords=_keywords(said.content),
        related=() if came.corrects is None else (came.entry_id(came.corrects, owner=owner),),
        parent=None if came.came_with is None else came.entry_id(came.came_with, owner=owner),
        at=said.at,
    )
    return entry.model_copy(update={"importance": importance(entry, now=now, policy=policy)})


def learned_entry(
    entry: Entry,
    claims: Sequence[Claim],
    *,
    predicates: Mapping[str, Predicate],
    facts: Iterable[str],
    now: datetime,
    policy: ImportancePolicy | None = None,
) -> Entry:
    """An entry with what follows from its claims; with the same claims once more it stays as it is.

    Args:
        entry: The entry as it is.
        claims: What it claims.
        predicates: Those of the claims, by name: their categories are tags.
        facts: Ids of the facts that follow from the claims.
        now: What the entry's age is measured against.
        policy: The weights of importance; the defaults without one.
    """
    categories = sorted({predicates[claim.predicate].category for claim in claims})
    found = entry.model_copy(
        update={
            "subjects": _joined(entry.subjects, (claim.subject for claim in claims)),
            "tags": _joined(entry.tags, categories),
            "facts": _joined(entry.facts, facts),
        }
    )
    return found.model_copy(update={"importance": importance(found, now=now, policy=policy)})


def _corrected(found: Extracted) -> Extracted:
    """What a correction affirms is what should have been said before."""
    return found.model_copy(update={"kind": "corrected"}) if found.kind == "affirmed" else found


def _joined(known: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*known, *more]))


def _keywords(text: str) -> tuple[str, ...]:
    """The telling words of a text, those that come most often first."""
    words = [word for word in terms_of(text) if len(word) <= _LONGEST_KEYWORD]
    return tuple(word for word, _ in Counter(words).most_common(_KEYWORDS))

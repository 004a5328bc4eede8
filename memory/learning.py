"""Learning: how raw messages become entries and facts, and how far each of them is.

It is pure: which steps there are, and what becomes of a message whose claims are known.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from mnestic.memory.claims import Claim, make_id
from mnestic.memory.entries import Entry, EntryType
from mnestic.memory.extraction import Extracted, Turn, TurnKind
from mnestic.memory.importance import ImportancePolicy, importance
from mnestic.memory.predicates import Predicate
from mnestic.memory.resources import Resource
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
    extractor: str | None = None
    extracted: tuple[Extracted, ...] = ()
    reason: str | None = None

    @property
    def turn(self) -> Turn:
        """The resource as an extractor reads it."""
        return Turn(kind=self.kind, **self.resource.model_dump(exclude={"channel"}))

    @property
    def name(self) -> str:
        """How it is named to a person: session and message."""
        return f"{self.resource.session_id}/{self.resource.source_id}"


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


def entry_of(
    lesson: Lesson,
    claims: Sequence[Claim],
    *,
    owner: str,
    predicates: dict[str, Predicate],
    facts: Sequence[str],
    now: datetime,
    policy: ImportancePolicy | None = None,
) -> Entry:
    """The entry that a resource becomes; the same resource becomes the same one.

    Args:
        lesson: The resource.
        claims: What it claims.
        owner: Whose entry it is, for its id.
        predicates: Those of the claims, by name: their categories are the entry's tags.
        facts: Ids of the facts that follow from the claims.
        now: What the entry's age is measured against.
        policy: The weights of importance; the defaults without one.
    """
    said = lesson.resource
    speaker = said.speaker if lesson.kind == "message" else None
    subjects = dict.fromkeys(
        [*([speaker] if speaker else []), *(claim.subject for claim in claims)]
    )
    entry = Entry(
        id=make_id(owner, "entry", said.session_id, said.source_id),
        entry_type=lesson.entry_type,
        content=said.content,
        summary=cut_text(said.content, _SUMMARY_CHARS),
        session_id=said.session_id,
        source_id=said.source_id,
        channel=said.channel,
        speaker=said.speaker,
        subjects=tuple(subjects),
        keywords=_keywords(said.content),
        tags=tuple(sorted({predicates[claim.predicate].category for claim in claims})),
        facts=tuple(facts),
        at=said.at,
    )
    return entry.model_copy(update={"importance": importance(entry, now=now, policy=policy)})


def _keywords(text: str) -> tuple[str, ...]:
    """The telling words of a text, those that come most often first."""
    words = [word for word in terms_of(text) if len(word) <= _LONGEST_KEYWORD]
    ranked = sorted(dict.fromkeys(words), key=lambda word: -words.count(word))
    return tuple(ranked[:_KEYWORDS])

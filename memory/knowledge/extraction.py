"""Extraction: what a message claims, before anybody decides whether to believe it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, ConfigDict, Field, NonNegativeInt

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import (
    YEARS,
    Claim,
    ClaimKind,
    ClaimSource,
    Span,
    check_name,
    make_id,
    name_key,
)
from mnestic.memory.knowledge.entries import ReplacementReason
from mnestic.memory.knowledge.predicates import PredicateName
from mnestic.memory.models.messages import TokenUsage

TurnKind = Literal["message", "tool_result"]
NO_SPEAKER = (
    "notes"  # who says the words of a transcript that name nobody: no person, with no facts
)
_EXTRACTED_KINDS: frozenset[ClaimKind] = frozenset({"affirmed", "corrected", "ended", "retracted"})


class ExtractionInput(DeferredModel):
    """A message, or what a tool returned in the course of one, as an extractor reads it.

    A tool's result has the tool's name as its speaker. `before` is what was said before it, the oldest
    first, where that helps to see whom its words mean. `nearest` are earlier messages, of any session, that say similar things.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    session_id: str
    source_id: str
    speaker: str
    content: str
    at: AwareDatetime
    kind: TurnKind = "message"
    before: tuple["ExtractionInput", ...] = ()
    nearest: tuple["ExtractionInput", ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """Session and source id, which no other message has."""
        return self.session_id, self.source_id


class Extracted(DeferredModel):
    """One thing that a turn claims. `span` is the part of the turn that says so."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: ClaimKind = "affirmed"
    subject: str = Field(min_length=1)
    predicate: PredicateName
    object: str | None = None
    confidence: float = Field(ge=0, le=1, default=0.9)
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    span: Span


class Replaced(NamedTuple):
    """An earlier message, by session and source id, that says what is so no longer because of a turn, and why."""

    place: tuple[str, str]
    why: ReplacementReason


class Extraction(DeferredModel):
    """The claims of turns, in their order, and the usage of the model.

    `replaced` are the earlier messages that each turn replaces, if the extractor names any. `refused` counts what it dropped:
    claims whose words the turn does not contain, and messages that it was not shown.
    """

    model_config = ConfigDict(frozen=True)

    claims: tuple[tuple[Extracted, ...], ...]
    replaced: tuple[tuple[Replaced, ...], ...] = ()
    refused: NonNegativeInt = 0
    model: str
    usage: TokenUsage = TokenUsage(input_tokens=0, output_tokens=0)


class ExtractedClaim(Extracted):
    """A claim with the words of the message that say so."""

    text: str


class ExtractionPreview(DeferredModel):
    """What would be extracted from a message, by whom; `refused` claims quote no words of it, or state no fact."""

    model_config = ConfigDict(frozen=True)

    extractor: str
    at: AwareDatetime
    claims: tuple[ExtractedClaim, ...]
    refused: NonNegativeInt


def preview_of(
    extraction: Extraction, turn: ExtractionInput, *, extractor: str
) -> ExtractionPreview:
    """The preview of the extraction of one turn."""
    claims, faults = valid_claims(extraction.claims[0], turn)
    return ExtractionPreview(
        extractor=extractor,
        at=turn.at,
        claims=tuple(
            ExtractedClaim(
                **claim.model_dump(), text=turn.content[claim.span.start : claim.span.end]
            )
            for claim in claims
        ),
        refused=extraction.refused + len(faults),
    )


def valid_claims(
    found: Sequence[Extracted], turn: ExtractionInput
) -> tuple[tuple[Extracted, ...], tuple[str, ...]]:
    """The valid claims of an extractor about a turn, each once, and why the others are invalid.

    This holds for every extractor: the words of a claim must be in the turn.
    """
    sound: dict[tuple[str, ...], Extracted] = {}
    refused: list[str] = []
    for each in found:
        why = _fault(each, turn)
        if why is None:
            sound.setdefault(_key(each), each)
        else:
            refused.append(why)
    return tuple(sound.values()), tuple(refused)


def _key(found: Extracted) -> tuple[str, ...]:
    value = "" if found.object is None else name_key(found.object)
    return (found.kind, name_key(found.subject), found.predicate, value)


def _fault(found: Extracted, turn: ExtractionInput) -> str | None:
    """What is wrong with a thing that a turn is said to claim, or None; without its words."""
    span, value = found.span, found.object
    excerpt = turn.content[span.start : span.end]
    if span.end > len(turn.content) or not any(map(str.isalnum, excerpt)):
        return "its words are not in the message"
    if found.kind not in _EXTRACTED_KINDS:
        return "only a person decides so"
    if value is None and found.kind in {"affirmed", "corrected"}:
        return "it has no object"
    if not (_is_name(found.subject) and (value is None or _is_name(value))):
        return "its subject or its object is no name"
    if any(_is_nobody(name, turn) for name in (found.subject, value or "")):
        return "it is about who speaks, and nobody is named"
    return None if _is_time(found.valid_from, found.valid_to) else "its dates cannot be"


def _is_name(name: str) -> bool:
    try:
        check_name(name, what="a name")
    except InvalidInputError:
        return False
    return True


def _is_nobody(name: str, turn: ExtractionInput) -> bool:
    """Whether a name is that of who speaks, or of somebody of theirs, in words of nobody that is known: notes, what a tool returns."""
    if turn.kind == "message" and turn.speaker != NO_SPEAKER:
        return False
    key, speaker = name_key(name), name_key(turn.speaker)
    return key == speaker or key.startswith(f"{speaker}'s ")


def _is_time(begins: datetime | None, ends: datetime | None) -> bool:
    known = [moment for moment in (begins, ends) if moment is not None]
    return all(moment.year in YEARS for moment in known) and known == sorted(known)


def claim_of(
    found: Extracted,
    turn: ExtractionInput,
    *,
    extractor: str,
    corrects: str | None = None,
    job_id: str | None = None,
    workflow_run: str | None = None,
) -> Claim:
    """The claim that a turn makes; the same turn makes the same one, whoever reads it again."""
    object_key = None if found.object is None else name_key(found.object)
    parts = (turn.session_id, turn.source_id, found.kind, name_key(found.subject), found.predicate)
    return Claim(
        id=make_id(*parts, object_key),
        said_at=turn.at,
        source=ClaimSource(
            extractor=extractor,
            session_id=turn.session_id,
            source_id=turn.source_id,
            corrects=corrects,
            span=found.span,
            job_id=job_id,
            workflow_run=workflow_run,
        ),
        **found.model_dump(exclude={"span"}),
    )

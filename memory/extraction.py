"""Extraction: what a message claims, before anybody decides whether to believe it."""

from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from mnestic.memory.claims import Claim, ClaimKind, ClaimSource, Span, make_id, name_key

TurnKind = Literal["message", "tool_result"]


class Turn(BaseModel):
    """A message, or what a tool returned in the course of one, as an extractor reads it.

    A tool's result has the tool's name as its speaker.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    session_id: str
    source_id: str
    speaker: str
    content: str
    at: AwareDatetime
    kind: TurnKind = "message"


class Extracted(BaseModel):
    """One thing that a turn claims. `span` is the part of the turn that says so."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: ClaimKind = "affirmed"
    subject: str = Field(min_length=1)
    predicate: str = Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")
    object: str | None = None
    confidence: float = Field(ge=0, le=1, default=0.9)
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    span: Span


def claim_of(
    found: Extracted,
    turn: Turn,
    *,
    extractor: str,
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
            span=found.span,
            job_id=job_id,
            workflow_run=workflow_run,
        ),
        **found.model_dump(exclude={"span"}),
    )

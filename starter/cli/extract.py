"""`mnestic extract`: what would be learned from a message, and by which words."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import AwareDatetime

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.extraction import Extracted, Turn, sound_claims
from mnestic.starter.cli.output import AsJson, parse_as, print_json, print_table, run


def extract(
    text: Annotated[str, typer.Argument(help="The message; `-` reads it from standard input.")],
    speaker: Annotated[str, typer.Option(help="Who says it: facts of “I” are theirs.")] = "user",
    at: Annotated[
        str | None, typer.Option(help="When it was said, with its offset; now if left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a message claims, by the local rules; nothing is kept."""
    from mnestic.starter.wiring import local_extractor

    moment = parse_as(AwareDatetime, at, what="--at") or datetime.now(UTC)
    said = _standard_input() if text == "-" else text
    if not said.strip():
        raise InvalidInputError(what="text", why="is empty")
    if not speaker.strip():
        raise InvalidInputError(what="--speaker", why="is empty")
    extractor = local_extractor()
    turn = Turn(session_id="cli", source_id="cli", speaker=speaker.strip(), content=said, at=moment)
    (found,) = run(extractor.extract([turn])).claims
    claims, _ = sound_claims(found, turn)
    if as_json:
        told = [claim.model_dump(mode="json") | {"text": _words(claim, said)} for claim in claims]
        print_json({"extractor": extractor.name, "at": moment.isoformat(), "claims": told})
        return
    columns = ("kind", "subject", "predicate", "object", "from", "to", "words")
    rows = [
        (
            claim.kind,
            claim.subject,
            claim.predicate,
            claim.object,
            _day(claim.valid_from),
            _day(claim.valid_to),
            _words(claim, said),
        )
        for claim in claims
    ]
    print_table(columns, rows, empty="Nothing would be learned.")


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        why = f"is not UTF-8: byte {error.start}"
        raise InvalidInputError(what="standard input", why=why) from None


def _words(claim: Extracted, said: str) -> str:
    return said[claim.span.start : claim.span.end]


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%d}"

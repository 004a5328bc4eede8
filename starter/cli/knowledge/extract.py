"""`mnestic extract`: what would be learned from a message, and by which words."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from mnestic.memory.canonical import is_blank
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.extraction import Extracted, Turn, sound_claims
from mnestic.memory.knowledge.resources import check_content, check_name
from mnestic.memory.timestamps import Timestamp, check_date
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.standard_input import read_text
from mnestic.starter.cli.values import parse_as


def extract(
    text: Annotated[str, typer.Argument(help="The message; `-` reads it from standard input.")],
    speaker: Annotated[str, typer.Option(help="Who says it: facts of “I” are theirs.")] = "user",
    at: Annotated[
        str | None,
        typer.Option(help="When it was said, in UTC where no offset is named; now if left out."),
    ] = None,
    agent: Annotated[
        str, typer.Option(help="On whose account a model's call is written down.")
    ] = "cli",
    as_json: AsJson = False,
) -> None:
    """Show what a message claims, by the configured model or the local rules; nothing is stored."""
    from mnestic.starter.cli.overrides import command_settings
    from mnestic.starter.knowledge.extraction_preview import extract_turn

    moment = parse_as(Timestamp, at, what="--at") or datetime.now(UTC)
    check_date(moment, what="--at")
    said = read_text(text)
    if is_blank(said):
        raise InvalidInputError(what="text", why="is empty")
    check_content(said, what="text")
    if is_blank(speaker):
        raise InvalidInputError(what="--speaker", why="is empty")
    check_name(speaker, what="--speaker")
    turn = Turn(session_id="cli", source_id="cli", speaker=speaker.strip(), content=said, at=moment)
    name, told = run(extract_turn(command_settings(), turn, agent_id=agent))
    claims, faults = sound_claims(told.claims[0], turn)
    refused = told.refused + len(faults)
    if as_json:
        shown = [claim.model_dump(mode="json") | {"text": _words(claim, said)} for claim in claims]
        print_json(
            {"extractor": name, "at": moment.isoformat(), "claims": shown, "refused": refused}
        )
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
    if refused:
        out.print(f"{refused} refused: their words are not in the message, or they are no facts.")


def _words(claim: Extracted, said: str) -> str:
    return said[claim.span.start : claim.span.end]


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%d}"

"""`mnestic extract`: the claims that would be extracted from a message, and the words they quote."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from mnestic.memory.canonical import is_blank
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.resources import check_name
from mnestic.memory.timestamps import Timestamp, check_date
from mnestic.starter.cli.output import AsJson, counted, out, print_json, print_table, run
from mnestic.starter.cli.standard_input import read_text
from mnestic.starter.cli.values import parse_as


def extract(
    text: Annotated[str, typer.Argument(help="The message; `-` reads it from standard input.")],
    speaker: Annotated[str, typer.Option(help="The speaker, to whom “I” refers.")] = "user",
    at: Annotated[
        str | None,
        typer.Option(help="When it was said, in UTC without an offset; default: now."),
    ] = None,
    agent: Annotated[
        str, typer.Option(help="The agent to which the costs of a model's call are charged.")
    ] = "cli",
    as_json: AsJson = False,
) -> None:
    """Show what would be extracted from a message, by the configured model or the local extractor; nothing is stored."""
    from mnestic.starter.cli.overrides import command_settings
    from mnestic.starter.knowledge.extraction_preview import preview_extraction

    stated_at = parse_as(Timestamp, at, what="--at") or datetime.now(UTC)
    check_date(stated_at, what="--at")
    message_text = read_text(text)
    if is_blank(message_text):
        raise InvalidInputError(what="text", why="is empty")
    if is_blank(speaker):
        raise InvalidInputError(what="--speaker", why="is empty")
    check_name(speaker, what="--speaker")
    preview = run(
        preview_extraction(
            command_settings(), message_text, speaker=speaker, at=stated_at, agent_id=agent
        )
    )
    if as_json:
        print_json(preview.model_dump(mode="json"))
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
            claim.text,
        )
        for claim in preview.claims
    ]
    print_table(columns, rows, empty="No claims.")
    if preview.refused:
        out.print(
            f"{counted(preview.refused, 'claims')} refused: they quote no words of the message, or state no fact."
        )


def _day(stated_at: datetime | None) -> str | None:
    return None if stated_at is None else f"{stated_at:%Y-%m-%d}"

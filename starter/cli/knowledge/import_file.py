"""`mnestic memory import`: reads an export of another program into an agent's memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.knowledge.extraction_wait import (
    extract_messages,
    extraction_progress,
    run_resumable,
    warn_without_extractor,
)
from mnestic.starter.cli.known_agents import Agent, Readers, check_readers
from mnestic.starter.cli.output import (
    AsJson,
    out,
    print_json,
    print_progress,
    print_refusal,
    print_table,
)
from mnestic.starter.cli.progress import progress_bars

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from mnestic.starter.importers.programs.items import ImportOptions, ProgramExport
    from mnestic.starter.importers.programs.report import ImportReport

_MAX_SHOWN = 20


def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            help="The file, the folder of an export, unpacked, or a folder of Markdown."
        ),
    ],
    agent: Agent,
    speaker: Annotated[
        str | None,
        typer.Option(help="Speaker where the file names none; in ChatGPT, the person who asks."),
    ] = None,
    channel: Annotated[
        str | None,
        typer.Option(help="The channel of all messages; default: as the file names it."),
    ] = None,
    timezone: Annotated[
        str, typer.Option(help="Zone of times without an offset, such as Europe/Berlin.")
    ] = "UTC",
    date_order: Annotated[
        str | None,
        typer.Option(
            help="day-first or month-first, if the dates of a WhatsApp chat do not show it."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            help="When a WebVTT transcript begins; default: from the file's name or date."
        ),
    ] = None,
    readers: Readers = None,
    as_json: AsJson = False,
) -> None:
    """Import an export of ChatGPT, Claude, Telegram, WhatsApp, Slack, mail (mbox), WebVTT, mem0 or a LangGraph store, or a folder of Markdown.

    Reads conversations.json of ChatGPT and Claude, result.json of Telegram, the text of a WhatsApp chat, a Slack export or one day of a channel, mail as
    mbox, WebVTT, dumps of mem0 and of a LangGraph store, and all Markdown files in a folder. The whole file is checked before anything is stored.
    Repeated, it adds what is new.

    Items that cannot be stored are listed on standard error, and the others are imported; then the exit code is 2.

    Any other file is read as `memory ingest` reads it.
    """
    from mnestic.starter.importers.programs.detection import find_export

    source = f"file {file}"
    options = _options(
        speaker=speaker, channel=channel, timezone=timezone, date_order=date_order, start=start
    )._replace(owner=agent)
    export = find_export(file, options, source=source)
    if export is None:
        _ingest(
            file, agent=agent, speaker=speaker, channel=channel, readers=readers, as_json=as_json
        )
        return
    given = check_readers(readers)
    run_resumable(_import(export, source=source, agent=agent, readers=given, as_json=as_json))


def _ingest(
    file: Path,
    *,
    agent: str,
    speaker: str | None,
    channel: str | None,
    readers: list[str] | None,
    as_json: bool,
) -> None:
    from mnestic.starter.cli.knowledge.ingest import ingest

    ingest(
        file,
        agent,
        speaker=speaker,
        channel=channel or "file",
        readers=readers,
        as_json=as_json,
    )


async def _import(
    export: "ProgramExport",
    *,
    source: str,
    agent: str,
    readers: tuple[str, ...] | None,
    as_json: bool,
) -> None:
    """Stores what is new and waits for its extraction."""
    from mnestic.starter.client.imports.storing import check_export, import_export

    total = check_export(export, source=source)
    report = None
    async with await connect_client() as client:
        memory = client.memory(agent)
        before = await memory.messages.count()
        with progress_bars() as progress:
            bar = progress.add_task(f"{export.format} items stored", total=total)
            async for report in import_export(memory, export, readers=readers):
                progress.update(bar, completed=report.read)
            async with extraction_progress(progress, memory):
                paused = await extract_messages(client, agent)
        after = await memory.messages.count()
    if report is not None:
        extraction = {
            "extracted": after.learned - before.learned,
            "parked": after.parked,
            "waiting": after.waiting,
        }
        _print(report, export=export, extraction=extraction, as_json=as_json)
    warn_without_extractor(before, after)
    if paused:
        raise paused
    if report is not None and (count := report.skipped.total()):
        raise InvalidInputError(what=source, why=f"{count} of its items cannot be stored")


def _print(
    report: "ImportReport",
    *,
    export: "ProgramExport",
    extraction: dict[str, int],
    as_json: bool,
) -> None:
    if as_json:
        print_json(report.document() | extraction | {"notes": list(export.notes)})
        return
    for note in export.notes:
        print_progress(note)
    for skipped in report.examples[:_MAX_SHOWN]:
        print_refusal(f"{skipped.place}: {skipped.why}")
    if report.skipped.total() > _MAX_SHOWN:
        print_refusal(f"{report.skipped.total() - _MAX_SHOWN} more; --json has the reasons")
    rows = [
        (name, one.new, one.total - one.new, _day(one.first), _day(one.last))
        for name, one in report.channels.items()
    ]
    print_table(
        ("channel", "new", "known", "first", "last"), rows, empty="Nothing.", cut=("channel",)
    )
    left_out = ", ".join(f"{count} {reason}" for reason, count in report.left_out.items())
    out.print(
        f"{report.format}: {report.new} new, {report.known} known, {report.skipped.total()} skipped; "
        f"left out: {left_out or 'nothing'}; {report.media} pictures and files not imported; "
        f"{extraction['extracted']} extracted, {extraction['parked']} parked.",
        soft_wrap=True,
    )


def _day(at: Any) -> str | None:
    return None if at is None else f"{at:%Y-%m-%d}"


def _options(
    *,
    speaker: str | None,
    channel: str | None,
    timezone: str,
    date_order: str | None,
    start: str | None,
) -> "ImportOptions":
    """The options, checked.

    Raises:
        InvalidInputError: one is none; says what is allowed.
    """
    from zoneinfo import ZoneInfo

    from mnestic.memory.knowledge.resources import check_name
    from mnestic.starter.cli.values import parse_as
    from mnestic.starter.importers.programs.items import DateOrder, ImportOptions

    for option, name in (("--speaker", speaker), ("--channel", channel)):
        if name is not None:
            check_name(name, what=option)
    try:
        zone = ZoneInfo(timezone)
    except (KeyError, OSError, ValueError):  # no such zone, a folder of zones, no name of one
        raise InvalidInputError(
            what="--timezone", why=f"{timezone!r} is no zone such as Europe/Berlin"
        ) from None
    return ImportOptions(
        speaker=speaker,
        channel=channel,
        timezone=zone,
        date_order=parse_as(DateOrder, date_order, what="--date-order"),
        start=_in_zone(start, zone),
    )


def _in_zone(start: str | None, zone: "ZoneInfo") -> "datetime | None":
    """A time on the command line; without an offset it is one of the zone."""
    from datetime import datetime

    from mnestic.memory.timestamps import check_date
    from mnestic.starter.cli.values import parse_as

    at: datetime | None = parse_as(datetime, start, what="--start")
    if at is None:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=zone)
    check_date(at, what="--start")
    return at

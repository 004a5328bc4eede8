"""`mnestic demo`: the demo as a story, or as one JSON document."""

from pathlib import Path
from typing import Annotated

import typer

from mnestic.starter.cli.output import EXIT_FAILED, AsJson, print_json, print_progress, run
from mnestic.starter.cli.overrides import command_settings


def demo(
    conversation: Annotated[
        Path | None,
        typer.Option(
            help="LoCoMo's shape, or JSON lines {role, content, timestamp, session?, tool?}."
        ),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of databases and logs.")] = None,
    as_json: AsJson = False,
) -> None:
    """Watch a job read a conversation, wait three weeks, lose its worker, and come back."""
    from mnestic.starter.importers.conversations import bundled_conversation, read_conversation

    settings = command_settings(data_dir=data)
    dialogue = read_conversation(conversation) if conversation else bundled_conversation()
    print_progress(
        f"{dialogue.title}: {len(dialogue.sessions)} sessions; starting on {settings.data_dir}"
    )
    from mnestic.starter.cli.story import print_report, run_demo

    report = run(run_demo(settings, dialogue, as_json=as_json))
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        print_report(report)
    if not report.sound:
        raise typer.Exit(EXIT_FAILED)

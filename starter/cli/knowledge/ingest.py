"""`mnestic memory ingest`: reads a conversation or an export into an agent's memory."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    counted,
    out,
    print_json,
    print_progress,
    print_refusal,
)
from mnestic.starter.cli.progress import progress_bars

if TYPE_CHECKING:
    from mnestic.starter.importers.turns import Conversation

_MAX_REFUSALS_SHOWN = 20


def ingest(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSON lines, LoCoMo's JSON, Markdown or an export; - is standard input."
        ),
    ],
    agent: Agent,
    sample: Annotated[str | None, typer.Option(help="The sample to read of a LoCoMo file.")] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Read the file as Markdown, whatever its name.")
    ] = False,
    speaker: Annotated[
        str | None,
        typer.Option(
            help="Speaker of Markdown text without a name; default: the agent, if the file has no names."
        ),
    ] = None,
    channel: Annotated[str, typer.Option(help="The channel of the messages.")] = "file",
    readers: Readers = None,
    as_json: AsJson = False,
) -> None:
    """Ingest a conversation or an export; repeated, it ingests what is new.

    The lines of `memory export` are added unchanged; what the agent has already stays as it is.

    Messages that cannot be stored are listed on standard error, and the others are ingested; then the exit
    code is 2.
    """
    from mnestic.starter.importers.export_files import is_export

    given = check_readers(readers)
    with _open_input(file) as path:
        if is_export(path):
            _refuse_options(
                file, sample=sample, markdown=markdown, speaker=speaker, readers=readers
            )
            run_resumable(_import(path, name=f"export {file}", agent=agent, as_json=as_json))
            return
        refused: list[InvalidInputError] = []
        conversation = _read(
            path,
            name=str(file),
            sample=sample,
            markdown=markdown,
            author=speaker,
            owner=agent,
            refused=refused,
        )
    _ingest_conversation(
        conversation,
        name=str(file),
        agent=agent,
        channel=channel,
        readers=given,
        refused=refused,
        as_json=as_json,
    )


def _ingest_conversation(
    conversation: "Conversation",
    *,
    name: str,
    agent: str,
    channel: str,
    readers: Sequence[str] | None,
    refused: list[InvalidInputError],
    as_json: bool,
) -> None:
    """Stores a conversation and waits for its extraction; some of its messages may have been refused before."""
    read_count = sum(len(session.turns) for session in conversation.sessions)
    refused_on_reading = len(refused)

    async def work() -> None:
        from mnestic.starter.client.ingestion import receive_conversation

        received = 0
        async with await connect_client() as client:
            # Extraction begins with the first batch.
            before = await client.memory(agent).messages.count()
            with progress_bars() as progress:
                bar = progress.add_task("messages stored", total=read_count)
                async for batch in receive_conversation(
                    client,
                    conversation,
                    agent_id=agent,
                    channel=channel,
                    readers=readers,
                    refuse=refused.append,
                ):
                    received += batch.new
                    progress.update(bar, advance=batch.messages)
                async with extraction_progress(progress, client.memory(agent)):
                    paused = await extract_messages(client, agent)
            after = await client.memory(agent).messages.count()
        _print_refused(refused[refused_on_reading:])
        messages = read_count - len(refused[refused_on_reading:])
        extracted = after.learned - before.learned
        report: dict[str, Any] = {
            "messages": messages,
            "new": received,
            "learned": extracted,
            "parked": after.parked,
        }
        if refused:
            report["refused"] = [{"what": error.what, "why": error.why} for error in refused]
        if as_json:
            print_json(
                report | ({"waiting": after.waiting, "paused": paused.why} if paused else {})
            )
        else:
            out.print(
                f"{counted(messages, 'messages')}, {received} of them new; {extracted} extracted, "
                f"{after.parked} parked{f', {after.waiting} waiting' if paused else ''}."
            )
        warn_without_extractor(before, after)
        if paused:
            raise paused

    run_resumable(work())
    if refused:
        raise InvalidInputError(
            what=f"conversation {name}", why=f"{len(refused)} of its messages cannot be stored"
        )


def _read(
    path: Path,
    *,
    name: str,
    sample: str | None,
    markdown: bool,
    author: str | None,
    owner: str,
    refused: list[InvalidInputError],
) -> "Conversation":
    """The conversation of a file; messages that cannot be stored are added to `refused` and printed."""
    from mnestic.starter.importers.conversations import read_conversation

    try:
        conversation = read_conversation(
            path,
            sample=sample,
            markdown=markdown,
            author=author,
            owner=owner,
            name=name,
            refuse=refused.append,
        )
    finally:
        _print_refused(refused)
    if sample is None and conversation.others:
        others = ", ".join(conversation.others)
        print_progress(f"Only the first sample is read; --sample reads one of the others: {others}")
    return conversation


async def _import(path: Path, *, name: str, agent: str, as_json: bool) -> None:
    """Imports an export, and waits for the extraction of messages that had none."""
    from mnestic.starter.importers.export_files import read_export

    async with await connect_client() as client:
        memory = client.memory(agent)
        before = await memory.messages.count()
        count = await memory.import_lines(read_export(path, name=name), source=name)
        paused = await extract_messages(client, agent)
        counts = await memory.messages.count()
    added = count.model_dump(exclude={"lines"})
    if as_json:
        pause_field = {"paused": paused.why} if paused else {}
        print_json(count.model_dump() | {"waiting": counts.waiting} | pause_field)
    else:
        new = ", ".join(counted(number, things) for things, number in added.items() if number)
        out.print(f"{counted(count.lines, 'lines')}; new: {new or 'nothing'}.", soft_wrap=True)
    warn_without_extractor(before, counts)
    if paused:
        raise paused


def _refuse_options(file: Path, **options: object) -> None:
    """Refuses options about how to read a conversation."""
    for option, value in options.items():
        if value:
            raise InvalidInputError(
                what=f"--{option}", why=f"{file} is an export, which takes no such option"
            )


def _print_refused(refused: Sequence[InvalidInputError]) -> None:
    for error in refused[:_MAX_REFUSALS_SHOWN]:
        print_refusal(str(error))
    if len(refused) > _MAX_REFUSALS_SHOWN:
        print_refusal(f"{len(refused) - _MAX_REFUSALS_SHOWN} more messages; --json lists all")


@contextmanager
def _open_input(file: Path) -> Iterator[Path]:
    """The file to read; standard input is copied to a temporary file, not into memory."""
    if str(file) != "-":
        yield file
        return
    with tempfile.NamedTemporaryFile(prefix="mnestic-", suffix=".jsonl") as file_copy:
        shutil.copyfileobj(sys.stdin.buffer, file_copy)
        file_copy.flush()
        yield Path(file_copy.name)

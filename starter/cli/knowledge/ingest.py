"""`mnestic memory ingest`: what an agent hears."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from mnestic.memory.errors import ExtractionPausedError, InvalidInputError, UnavailableError
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.known_agents import Agent
from mnestic.starter.cli.output import (
    AsJson,
    counted,
    err,
    out,
    print_delay,
    print_json,
    print_progress,
    print_refusal,
    run,
)

if TYPE_CHECKING:
    from mnestic.memory.knowledge.conversations import Conversation
    from mnestic.starter.client.memory_client import MemoryClient
    from mnestic.starter.client.mnestic_client import MnesticClient

_MOST_TOLD = 20
_LOOK_EVERY_S = 0.5


def ingest(
    file: Annotated[
        Path, typer.Argument(help="JSON lines, LoCoMo's JSON, Markdown or an export; - reads it.")
    ],
    agent: Agent,
    sample: Annotated[str | None, typer.Option(help="Which of LoCoMo's samples.")] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="It is Markdown, as a file named .md is.")
    ] = False,
    speaker: Annotated[
        str | None,
        typer.Option(
            help="Who says what names nobody in Markdown; default: the agent, where nobody is named at all."
        ),
    ] = None,
    channel: Annotated[str, typer.Option(help="Where the messages come from.")] = "file",
    as_json: AsJson = False,
) -> None:
    """Learn from a conversation, or read an export back; again, from what is new in it.

    What `memory export` wrote is added as it is; what the agent has already stays.

    Messages that cannot be kept are told on standard error, the others are learned from; the exit code is
    then 2.
    """
    from mnestic.starter.importers.export_files import is_export

    with _opened(file) as path:
        if is_export(path):
            _refuse_options(file, sample=sample, markdown=markdown, speaker=speaker)
            _run(_import(path, name=f"export {file}", agent=agent, as_json=as_json))
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
    _learn_from(
        conversation, name=str(file), agent=agent, channel=channel, refused=refused, as_json=as_json
    )


def _learn_from(
    conversation: "Conversation",
    *,
    name: str,
    agent: str,
    channel: str,
    refused: list[InvalidInputError],
    as_json: bool,
) -> None:
    """Has a conversation learned from, some messages of which may have been refused before."""
    read = sum(len(session.turns) for session in conversation.sessions)
    unread = len(refused)

    async def work() -> None:
        from mnestic.starter.client.ingestion import receive_conversation

        received = 0
        async with await connect_client() as client:
            # Extraction begins with the first batch.
            before = await client.memory(agent).messages.count()
            with _progress() as progress:
                bar = progress.add_task("messages kept", total=read)
                async for batch in receive_conversation(
                    client, conversation, agent_id=agent, channel=channel, refuse=refused.append
                ):
                    received += batch.new
                    progress.update(bar, advance=batch.messages)
                async with _shown(progress, client.memory(agent)):
                    held = await _learn(client, agent)
            after = await client.memory(agent).messages.count()
        _tell(refused[unread:])
        messages = read - len(refused[unread:])
        learned = after.learned - before.learned
        told: dict[str, Any] = {
            "messages": messages,
            "new": received,
            "learned": learned,
            "parked": after.parked,
        }
        if refused:
            told["refused"] = [{"what": error.what, "why": error.why} for error in refused]
        if as_json:
            print_json(told | ({"waiting": after.waiting, "held": held.why} if held else {}))
        else:
            out.print(
                f"{counted(messages, 'messages')}, {received} of them new; learned from {learned}, "
                f"{after.parked} parked{f', {after.waiting} waiting' if held else ''}."
            )
        if held:
            raise held

    _run(work())
    if refused:
        raise InvalidInputError(
            what=f"conversation {name}", why=f"{len(refused)} of its messages cannot be kept"
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
    """The conversation of a file; `refused` gets what of it cannot be kept, which is also printed."""
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
        _tell(refused)
    if sample is None and conversation.others:
        others = ", ".join(conversation.others)
        print_progress(f"Only the first sample is read; --sample reads one of the others: {others}")
    return conversation


async def _import(path: Path, *, name: str, agent: str, as_json: bool) -> None:
    """Reads an export back, and has learned from what nobody had learned from."""
    from mnestic.starter.importers.export_files import read_export

    async with await connect_client() as client:
        memory = client.memory(agent)
        count = await memory.import_lines(read_export(path, name=name), source=name)
        held = await _learn(client, agent)
        learning = await memory.messages.count()
    added = count.model_dump(exclude={"lines"})
    if as_json:
        held_back = {"held": held.why} if held else {}
        print_json(count.model_dump() | {"waiting": learning.waiting} | held_back)
    else:
        new = ", ".join(counted(number, things) for things, number in added.items() if number)
        out.print(f"{counted(count.lines, 'lines')}; new: {new or 'nothing'}.", soft_wrap=True)
    if held:
        raise held


def _refuse_options(file: Path, *, sample: str | None, markdown: bool, speaker: str | None) -> None:
    """Refuses options that say how a conversation is to be read."""
    given = {"--sample": sample, "--markdown": markdown, "--speaker": speaker}
    for option, value in given.items():
        if value:
            raise InvalidInputError(what=option, why=f"{file} is an export, which is read as it is")


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Runs it; who interrupts it is told how it goes on."""
    try:
        run(work)
    except KeyboardInterrupt:
        print_progress("What was kept stays; the same command goes on where it stopped.")
        raise


def _tell(refused: Sequence[InvalidInputError]) -> None:
    for error in refused[:_MOST_TOLD]:
        print_refusal(str(error))
    if len(refused) > _MOST_TOLD:
        print_refusal(f"{len(refused) - _MOST_TOLD} messages more; --json tells all")


@contextmanager
def _opened(file: Path) -> Iterator[Path]:
    """The file to read; standard input is kept in one while it is read, not in memory."""
    if str(file) != "-":
        yield file
        return
    with tempfile.NamedTemporaryFile(prefix="mnestic-", suffix=".jsonl") as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.flush()
        yield Path(kept.name)


async def _learn(client: "MnesticClient", agent_id: str) -> ExtractionPausedError | None:
    """Has messages learned from; returns why some have to wait for a person, if any do."""
    from mnestic.starter.client.ingest_status import wait_for_learning
    from mnestic.starter.client.ingestion import start_ingest

    try:
        handle = await start_ingest(client, agent_id=agent_id)
        await wait_for_learning(client, handle, tell=print_delay)
    except ExtractionPausedError as error:
        return error
    return None


@asynccontextmanager
async def _shown(progress: Progress, memory: "MemoryClient") -> AsyncIterator[None]:
    """Shows how learning goes on while it does, if anybody looks and there is anything to learn."""
    waiting = 0 if progress.disable else (await memory.messages.count()).waiting
    if not waiting:
        yield
        return
    bar = progress.add_task("messages learned from", total=waiting)
    watching = asyncio.create_task(_watch(progress, bar, memory))
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.wait([watching])
        await _count(progress, bar, memory)


async def _watch(progress: Progress, bar: TaskID, memory: "MemoryClient") -> None:
    while True:
        await _count(progress, bar, memory)
        await asyncio.sleep(_LOOK_EVERY_S)


async def _count(progress: Progress, bar: TaskID, memory: "MemoryClient") -> None:
    """What others send meanwhile is learned from as well, and may be more than there was."""
    with suppress(UnavailableError):  # nothing to show for now; who waits for learning tells why
        still = (await memory.messages.count()).waiting
        total = max(progress.tasks[bar].total or 0, still)
        progress.update(bar, total=total, completed=total - still)


class _Rate(ProgressColumn):
    """How many messages a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")


def _progress() -> Progress:
    """Bars with rate and time left, on standard error, for a person alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate())
    return Progress(*columns, TimeRemainingColumn(), console=err, disable=not err.is_terminal)

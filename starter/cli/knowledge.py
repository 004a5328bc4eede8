"""`mnestic memory ingest`: what an agent hears."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mnestic.memory.errors import InvalidInputError, LearningHeldError
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.output import AsJson, err, out, print_delay, print_json, print_refusal, run
from mnestic.starter.client import MnesticClient
from mnestic.starter.conversations import read_conversation
from mnestic.starter.ingesting import receive_conversation, start_ingest
from mnestic.starter.learning_status import wait_for_learning

Agent = Annotated[str, typer.Option(help="The agent whose memory it is.")]

_MOST_TOLD = 20


def ingest(
    file: Annotated[Path, typer.Argument(help="JSON lines, or LoCoMo's JSON; - reads it.")],
    agent: Agent,
    sample: Annotated[str | None, typer.Option(help="Which of LoCoMo's samples.")] = None,
    channel: Annotated[str, typer.Option(help="Where the messages come from.")] = "file",
    as_json: AsJson = False,
) -> None:
    """Learn from a conversation; again, from what is new in it.

    Messages that cannot be kept are told on standard error, the others are learned from; the exit code is
    then 2.
    """
    refused: list[InvalidInputError] = []
    with _opened(file) as path:
        conversation = read_conversation(path, sample=sample, refuse=refused.append)
    _tell(refused)
    messages = sum(len(session.turns) for session in conversation.sessions)

    async def work() -> None:
        received = 0
        async with await connect_client() as client:
            with _progress() as progress:
                bar = progress.add_task("messages kept", total=messages)
                async for new in receive_conversation(
                    client, conversation, agent_id=agent, channel=channel
                ):
                    received += new
                    progress.update(bar, advance=new)
                progress.update(bar, completed=messages)
            before = await client.memory(agent).count_learning()
            held = await _learn(client, agent)
            counted = await client.memory(agent).count_learning()
        learned = counted.learned - before.learned
        told: dict[str, Any] = {
            "messages": messages,
            "new": received,
            "learned": learned,
            "parked": counted.parked,
        }
        if refused:
            told["refused"] = [{"what": error.what, "why": error.why} for error in refused]
        if as_json:
            print_json(told | ({"waiting": counted.waiting, "held": held.why} if held else {}))
        else:
            out.print(
                f"{messages} messages, {received} of them new; learned from {learned}, "
                f"{counted.parked} parked{f', {counted.waiting} waiting' if held else ''}."
            )
        if held:
            raise held

    run(work())
    if refused:
        raise InvalidInputError(
            what=f"conversation {file}", why=f"{len(refused)} of its messages cannot be kept"
        )


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


async def _learn(client: MnesticClient, agent_id: str) -> LearningHeldError | None:
    """Has messages learned from; returns why some have to wait for a person, if any do."""
    try:
        handle = await start_ingest(client, agent_id=agent_id)
        await wait_for_learning(client, handle, tell=print_delay)
    except LearningHeldError as error:
        return error
    return None


def _progress() -> Progress:
    """A bar with rate and time left, on standard error, for a person alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=err, disable=not err.is_terminal)

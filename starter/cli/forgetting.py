"""`mnestic memory forget`: shows what speaks of a topic, and has it forgotten."""

import asyncio
import sys
from typing import Annotated

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting import TopicForgotten
from mnestic.memory.topics import topic_words
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.entries import Agent
from mnestic.starter.cli.output import AsJson, err, one_line, out, print_json, print_progress, run
from mnestic.starter.learning_status import wait_for_learning

_SHOWN_ENTRIES = 20
_LONGEST_LINE = 120  # characters of an entry


def forget(
    topic: Annotated[str, typer.Argument(help="A few words; what has them all is forgotten.")],
    agent: Agent,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be removed.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a topic for good: what has its words or is about it, and what was learned from that."""
    topic_words(topic)
    if not (dry_run or yes or sys.stdin.isatty()):
        why = "is needed where nobody can be asked; --dry-run shows what would be removed"
        raise InvalidInputError(what="--yes", why=why)

    async def work() -> TopicForgotten:
        async with await connect_client() as client:
            memory = client.memory(agent)
            if not yes or dry_run:
                shown = await memory.forget(topic, dry_run=True)
                if dry_run or not _is_confirmed(shown):
                    return shown
            handle = await memory.start_forgetting(topic)
            try:
                done = await wait_for_learning(client, handle, tell=_tell_delay)
            except asyncio.CancelledError:
                print_progress("It is forgotten all the same, once a worker has done it.")
                raise
            return await memory.tell_forgotten(topic, done)

    told = run(work())
    if as_json:
        print_json(told.model_dump(mode="json"))
    elif told.dry_run and not dry_run:
        out.print("Nothing is forgotten.")
    else:
        _show(told)


def _is_confirmed(shown: TopicForgotten) -> bool:
    _show(shown, to_error=True)
    if shown.is_nothing:
        return False
    err.print("Forget this for good? [y/N] ", end="")  # standard output is for the answer alone
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _tell_delay(why: str) -> None:
    err.print(f"forgetting waits: {why}", soft_wrap=True)


def _show(told: TopicForgotten, *, to_error: bool = False) -> None:
    console = err if to_error else out
    for entry in told.found[:_SHOWN_ENTRIES]:
        how = "has its words" if entry.score is None else f"is about it, {entry.score:.2f}"
        console.print(f"{entry.at:%Y-%m-%d}  {_line(entry.content)}  ({how})", soft_wrap=True)
    more = told.purged.get("entry", 0) - len(told.found[:_SHOWN_ENTRIES])
    if told.found and more > 0:
        console.print(f"… and {more} entries more")
    if told.is_nothing:
        console.print("Nothing speaks of it." if told.dry_run else "Nothing spoke of it.")
    else:
        console.print("Would be removed or redacted:" if told.dry_run else "Removed or redacted:")
    for table, number in told.purged.items():
        console.print(f"{number:>8}  {table}")
    for left in told.left:
        console.print(f"Left as it is: {left.kind} {left.name}, {left.why}", soft_wrap=True)


def _line(text: str) -> str:
    flat = one_line(text)
    return flat if len(flat) <= _LONGEST_LINE else flat[: _LONGEST_LINE - 1] + "…"

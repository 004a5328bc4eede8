"""`mnestic memory forget`: shows what speaks of a topic, and has it forgotten."""

import asyncio
import sys
from typing import Annotated

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.requests import ITEM_KINDS, ForgottenItem, TopicForgotten
from mnestic.memory.forgetting.topics import topic_words
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.known_agents import Agent, warned
from mnestic.starter.cli.output import (
    AsJson,
    err,
    one_line,
    out,
    print_json,
    print_progress,
    run,
)

_MOST_SHOWN = 20  # of each kind; --json has all
_LONGEST_LINE = 120  # characters


def forget(
    topic: Annotated[str, typer.Argument(help="A few words; what has them all is forgotten.")],
    agent: Agent,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would go, and the token of that.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Show what goes, and do not ask.")] = False,
    confirm: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", help="Forget what --dry-run gave this token for."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Forget a topic for good: what has its words or is about it, and the facts from that."""
    topic_words(topic)
    if not (dry_run or yes or confirm or sys.stdin.isatty()):
        why = "is needed where nobody can be asked, or --confirm; --dry-run shows what would go"
        raise InvalidInputError(what="--yes", why=why)

    async def work() -> TopicForgotten:
        from mnestic.starter.client.ingest_status import wait_for_learning

        async with await connect_client() as client, warned(client, agent):
            memory = client.memory(agent)
            shown = await memory.preview_forget(topic)
            if dry_run or not _is_confirmed(shown, token=confirm, yes=yes):
                return shown
            handle = await memory.forgetting.start(topic, confirm=confirm or shown.token)
            try:
                done = await wait_for_learning(client, handle, tell=_tell_delay)
            except asyncio.CancelledError:
                print_progress("It is forgotten all the same, once a worker has done it.")
                raise
            return await memory.forgetting.report(topic, done, shown=shown)

    told = run(work())
    if as_json:
        print_json(told.model_dump(mode="json"))
    elif told.dry_run and not dry_run:
        out.print("Nothing is forgotten.")
    else:
        _show(told)


def _is_confirmed(shown: TopicForgotten, *, token: str | None, yes: bool) -> bool:
    if token is not None:
        return True  # which is checked when it begins
    _show(shown, to_error=True)
    if yes:
        return True
    if shown.is_nothing:
        return False
    err.print("Forget this for good? [y/N] ", end="")  # standard output is for the answer alone
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _tell_delay(why: str) -> None:
    err.print(f"forgetting waits: {why}", soft_wrap=True)


def _show(told: TopicForgotten, *, to_error: bool = False) -> None:
    console = err if to_error else out
    for kind in ITEM_KINDS:
        items = [item for item in told.items if item.kind == kind]
        for item in items[:_MOST_SHOWN]:
            console.print(f"{kind:<8}  {_line(item)}", soft_wrap=True)
        if len(items) > _MOST_SHOWN:
            console.print(f"… and {len(items) - _MOST_SHOWN} more")
    if told.is_nothing:
        console.print("Nothing speaks of it." if told.dry_run else "Nothing spoke of it.")
    else:
        console.print("Would be removed or redacted:" if told.dry_run else "Removed or redacted:")
    for table, number in told.purged.items():
        console.print(f"{number:>8}  {table}")
    for left in told.left:
        console.print(f"Left as it is: {left.kind} {left.name}, {left.why}", soft_wrap=True)
    if told.token and not told.is_nothing:
        console.print(f"To forget just this: --confirm {told.token}", soft_wrap=True)


def _line(item: ForgottenItem) -> str:
    """An item on a line: what it says, why it goes, and where it stands."""
    flat = one_line(item.text)
    text = flat if len(flat) <= _LONGEST_LINE else flat[: _LONGEST_LINE - 1] + "…"
    score = "" if item.score is None else f"  (is about it, {item.score:.2f})"
    return f"{text}{score}  [{item.id}]"

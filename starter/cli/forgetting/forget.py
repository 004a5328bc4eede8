"""`mnestic memory forget`: shows what matches a topic, and forgets it."""

import asyncio
import sys
from typing import Annotated

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.requests import ITEM_KINDS, ForgottenItem, TopicForgotten
from mnestic.memory.forgetting.topic_names import parse_topic
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.known_agents import Agent, warn_if_unknown
from mnestic.starter.cli.output import (
    AsJson,
    err,
    one_line,
    out,
    print_json,
    print_progress,
    run,
)

_MAX_ITEMS_SHOWN = 20  # of each kind; --json has all
_MAX_LINE_LENGTH = 120  # characters


def forget(
    topic: Annotated[
        str, typer.Argument(help="A few words; every text that has all of them is forgotten.")
    ],
    agent: Agent,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only show what would be forgotten, and the token that confirms it."
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Forget without asking; show what is forgotten.")
    ] = False,
    confirm: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", help="Forget what --dry-run showed with this token."),
    ] = None,
    keep_out: Annotated[
        bool,
        typer.Option(
            "--keep-out", help="And never learn it again; `keep-outs` lists and lifts this."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a topic permanently: texts that have its words or are about it, and the facts from them."""
    parse_topic(topic)
    if not (dry_run or yes or confirm or sys.stdin.isatty()):
        why = "is needed without a terminal, or --confirm; --dry-run shows what would be forgotten"
        raise InvalidInputError(what="--yes", why=why)

    async def work() -> TopicForgotten:
        from mnestic.starter.client.ingest_status import wait_for_end

        async with await connect_client() as client, warn_if_unknown(client, agent):
            memory = client.memory(agent)
            preview = await memory.preview_forget(topic)
            if dry_run or not _is_confirmed(preview, token=confirm, yes=yes, keep_out=keep_out):
                return preview
            handle = await memory.forgetting.start(
                topic, confirm=confirm or preview.token, keep_out=keep_out
            )
            try:
                done = await wait_for_end(client, handle, report=_print_delay)
            except asyncio.CancelledError:
                print_progress("The topic is forgotten all the same, as soon as a worker takes it.")
                raise
            return await memory.forgetting.report(topic, done, preview=preview)

    outcome = run(work())
    if as_json:
        print_json(outcome.model_dump(mode="json"))
    elif outcome.dry_run and not dry_run:
        out.print("Nothing is forgotten.")
    else:
        _print_outcome(outcome)


def _is_confirmed(preview: TopicForgotten, *, token: str | None, yes: bool, keep_out: bool) -> bool:
    if token is not None:
        return True  # which is checked when it begins
    _print_outcome(preview, to_error=True)
    if yes:
        return True
    if preview.is_nothing and not keep_out:
        return False
    err.print("Forget this permanently? [y/N] ", end="")  # standard output is for the answer alone
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _print_delay(why: str) -> None:
    err.print(f"forgetting waits: {why}", soft_wrap=True)


def _print_outcome(outcome: TopicForgotten, *, to_error: bool = False) -> None:
    console = err if to_error else out
    for kind in ITEM_KINDS:
        items = [item for item in outcome.items if item.kind == kind]
        for item in items[:_MAX_ITEMS_SHOWN]:
            console.print(f"{kind:<8}  {_line(item)}", soft_wrap=True)
        if len(items) > _MAX_ITEMS_SHOWN:
            console.print(f"… and {len(items) - _MAX_ITEMS_SHOWN} more")
    if outcome.is_nothing:
        console.print(
            "Nothing matches the topic." if outcome.dry_run else "Nothing matched the topic."
        )
    else:
        console.print(
            "Would be removed or redacted:" if outcome.dry_run else "Removed or redacted:"
        )
    for table, number in outcome.purged.items():
        console.print(f"{number:>8}  {table}")
    for remaining in outcome.left:
        console.print(
            f"Not changed: {remaining.kind} {remaining.name}, {remaining.why}", soft_wrap=True
        )
    if outcome.token and not outcome.is_nothing:
        console.print(f"To confirm: --confirm {outcome.token}", soft_wrap=True)


def _line(item: ForgottenItem) -> str:
    """An item on a line: its text, its similarity and its id; and on another what remains of the text around it."""
    text = _shortened(item.text)
    score = "" if item.score is None else f"  (similar, {item.score:.2f})"
    left = "" if item.left is None else f"\n{'remains':<8}  {_shortened(item.left)}"
    return f"{text}{score}  [{item.id}]{left}"


def _shortened(text: str) -> str:
    flat = one_line(text)
    return flat if len(flat) <= _MAX_LINE_LENGTH else flat[: _MAX_LINE_LENGTH - 1] + "…"

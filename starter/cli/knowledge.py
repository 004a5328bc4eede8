"""`mnestic memory ingest` and `mnestic memory facts`: what an agent hears, and what it believes."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mnestic.memory.facts import Fact, FactStatus
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.output import AsJson, err, out, print_json, print_table, run
from mnestic.starter.conversations import read_conversation
from mnestic.starter.ingesting import receive_conversation, start_ingest

facts = typer.Typer(help="What an agent believes.", no_args_is_help=True)
Agent = Annotated[str, typer.Option(help="The agent whose memory it is.")]


def ingest(
    file: Annotated[Path, typer.Argument(help="JSON lines, or LoCoMo's JSON.")],
    agent: Agent,
    sample: Annotated[str | None, typer.Option(help="Which of LoCoMo's samples.")] = None,
    channel: Annotated[str, typer.Option(help="Where the messages come from.")] = "file",
    as_json: AsJson = False,
) -> None:
    """Learn from a conversation; again, from what is new in it."""
    conversation = read_conversation(file, sample=sample)
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
            handle = await start_ingest(client, agent_id=agent)
            done = await handle.result()
            counted = await client.memory(agent).count_learning()
        told = {
            "messages": messages,
            "new": received,
            "learned": done.learned,
            "parked": counted.parked,
        }
        if as_json:
            print_json(told)
            return
        out.print(
            f"{messages} messages, {received} of them new; learned from {done.learned}, "
            f"{counted.parked} parked."
        )

    run(work())


@facts.command("list")
def list_facts(
    agent: Agent,
    subject: Annotated[str | None, typer.Option(help="Only about this one.")] = None,
    predicate: Annotated[str | None, typer.Option(help="Only of this predicate.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Archived and deleted ones too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="Where an earlier page ended.")] = None,
    as_json: AsJson = False,
) -> None:
    """List facts by subject, predicate and time."""
    statuses: tuple[FactStatus, ...] = ("active", "archived", "deleted") if every else ("active",)

    async def work() -> None:
        async with await connect_client() as client:
            found, following = await client.memory(agent).list_facts(
                subject=subject, predicate=predicate, statuses=statuses, limit=limit, cursor=cursor
            )
        if as_json:
            listed = [fact.model_dump(mode="json") for fact in found]
            print_json({"facts": listed, "cursor": following})
            return
        columns = ("subject", "predicate", "object", "since", "status", "confidence")
        print_table(columns, [_row(fact) for fact in found], empty="No facts.")
        if following:
            out.print(f"More: --cursor {following}", soft_wrap=True)

    run(work())


def _row(fact: Fact) -> tuple[str, str, str, str, str, str]:
    ended = f"{fact.status}, {fact.end}" if fact.end else fact.status
    since = f"{fact.valid_from:%Y-%m-%d}"
    return (fact.subject, fact.predicate, fact.object, since, ended, f"{fact.confidence:.2f}")


def _progress() -> Progress:
    """A bar with rate and time left, on standard error, for a person alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=err, disable=not err.is_terminal)

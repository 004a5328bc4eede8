"""`mnestic memory ingest` and `mnestic memory facts`: what an agent hears, and what it believes."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mnestic.memory.claims import Claim
from mnestic.memory.facts import Fact, FactChange, FactStatus
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.output import AsJson, err, out, print_json, print_table, run
from mnestic.starter.conversations import read_conversation
from mnestic.starter.ingesting import receive_conversation, start_ingest

facts = typer.Typer(help="What an agent believes.", no_args_is_help=True)
Agent = Annotated[str, typer.Option(help="The agent whose memory it is.")]
FactId = Annotated[str, typer.Argument(help="The fact's id, as `facts list` tells it.")]
_COLUMNS = ("fact", "since", "status", "id")


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
        print_table(_COLUMNS, [_row(fact) for fact in found], empty="No facts.")
        if following:
            out.print(f"More: --cursor {following}", soft_wrap=True)

    run(work())


@facts.command()
def add(
    subject: Annotated[str, typer.Argument(help="Whom or what it is about.")],
    predicate: Annotated[str, typer.Argument(help="Such as lives_in.")],
    value: Annotated[str, typer.Argument(metavar="OBJECT", help="Such as Ghent.")],
    agent: Agent,
    as_json: AsJson = False,
) -> None:
    """Say that something is so; of a predicate with one object it takes the place of the last."""

    async def work() -> None:
        async with await connect_client() as client:
            _print_changes(
                await client.memory(agent).add_fact(subject, predicate, value), as_json=as_json
            )

    run(work())


@facts.command()
def delete(fact_id: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Delete a fact for good."""

    async def work() -> None:
        async with await connect_client() as client:
            _print_changes(await client.memory(agent).delete_fact(fact_id), as_json=as_json)

    run(work())


@facts.command()
def reactivate(fact_id: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Believe an archived fact again; what took its place is archived."""

    async def work() -> None:
        async with await connect_client() as client:
            _print_changes(await client.memory(agent).reactivate_fact(fact_id), as_json=as_json)

    run(work())


@facts.command()
def why(fact_id: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Show what a fact follows from: messages, words, extractors."""

    async def work() -> None:
        async with await connect_client() as client:
            fact, claims = await client.memory(agent).why_fact(fact_id)
        if as_json:
            told = [claim.model_dump(mode="json") for claim in claims]
            print_json({"fact": fact.model_dump(mode="json"), "claims": told})
            return
        print_table(_COLUMNS, [_row(fact)], empty="")
        rows = [_claim_row(claim) for claim in claims]
        print_table(("said at", "kind", "message", "characters", "extractor"), rows, empty="")

    run(work())


def _print_changes(changes: tuple[FactChange, ...], *, as_json: bool) -> None:
    if as_json:
        print_json({"changes": [change.model_dump(mode="json") for change in changes]})
        return
    rows = [_row(change.fact) for change in changes]
    print_table(_COLUMNS, rows, empty="Nothing is believed otherwise.")


def _claim_row(claim: Claim) -> tuple[str, str, str, str, str]:
    source = claim.source
    message = f"{source.session_id}/{source.source_id}" if source.source_id else ""
    place = f"{source.span.start}-{source.span.end}" if source.span else ""
    return (f"{claim.said_at:%Y-%m-%d %H:%M}", claim.kind, message, place, source.extractor)


def _row(fact: Fact) -> tuple[str, ...]:
    believed = f"{fact.subject} {fact.predicate} {fact.object}"
    return (believed, f"{fact.valid_from:%Y-%m-%d}", fact.end or fact.status, fact.id)


def _progress() -> Progress:
    """A bar with rate and time left, on standard error, for a person alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=err, disable=not err.is_terminal)

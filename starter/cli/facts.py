"""`mnestic memory facts`: what an agent believes, and what it believed before."""

from typing import Annotated

import typer

from mnestic.memory.claims import Claim
from mnestic.memory.facts import Fact, FactChange, FactStatus
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run

app = typer.Typer(help="What an agent believes.", no_args_is_help=True)
Agent = Annotated[str, typer.Option(help="The agent whose memory it is.")]
FactId = Annotated[str, typer.Argument(help="The fact's id, as `facts list` tells it.")]
_COLUMNS = ("fact", "since", "status", "id")


@app.command("list")
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


@app.command()
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


@app.command()
def delete(fact_id: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Delete a fact for good."""

    async def work() -> None:
        async with await connect_client() as client:
            _print_changes(await client.memory(agent).delete_fact(fact_id), as_json=as_json)

    run(work())


@app.command()
def reactivate(fact_id: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Believe an archived fact again; what took its place is archived."""

    async def work() -> None:
        async with await connect_client() as client:
            _print_changes(await client.memory(agent).reactivate_fact(fact_id), as_json=as_json)

    run(work())


@app.command()
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

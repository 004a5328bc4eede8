"""`mnestic memory facts`: what an agent believes, and what it believed before."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, get_args

import typer

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.facts import Fact, FactChange, FactStatus
from mnestic.memory.knowledge.world.histories import FactVersion
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.ids import fact_named
from mnestic.starter.cli.known_agents import Agent, known_memory
from mnestic.starter.cli.output import AsJson, one_line, out, print_json, print_table, run
from mnestic.starter.cli.timestamps import parse_timestamp

app = typer.Typer(help="What an agent believes.", no_args_is_help=True)
FactId = Annotated[str, typer.Argument(help="The fact's id, as `facts list` tells it.")]
_HISTORY = ("object", "since", "until", "why", "id")
_COLUMNS = ("fact", "since", "until", "status", "id")


@app.command("list")
def list_facts(
    agent: Agent,
    subject: Annotated[str | None, typer.Option(help="Only about this one.")] = None,
    predicate: Annotated[str | None, typer.Option(help="Only of this predicate.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Archived and deleted ones too.")] = False,
    as_of: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="What was true then: 2026-01-31, yesterday; UTC."),
    ] = None,
    believed_at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="What was believed then, by the messages received until then."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="Where an earlier page ended.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what is so now, and what is believed to come, which is marked as pending.

    `--as-of` a time tells what is so then instead; `--all` whatever was ever believed.
    """
    statuses: tuple[FactStatus, ...] | None = get_args(FactStatus) if every else None
    so_at = parse_timestamp(as_of, what="--as-of")
    known_at = parse_timestamp(believed_at, what="--believed-at")

    async def work() -> None:
        async with known_memory(agent) as memory:
            now = await memory.facts.now()
            found, following = await memory.facts.list(
                subject=subject,
                predicate=predicate,
                statuses=statuses,
                as_of=so_at or (None if every else known_at or now),
                ahead=so_at is None,
                believed_at=known_at,
                limit=limit,
                cursor=cursor,
            )
        if as_json:
            listed = [
                fact.model_dump(mode="json") | {"pending": fact.begins_after(now)} for fact in found
            ]
            print_json({"facts": listed, "cursor": following})
            return
        rows = [_row(fact, now=now) for fact in found]
        print_table(_COLUMNS, rows, empty="No facts.", ids=("id",))
        if following:
            out.print(f"More: --cursor {following}", soft_wrap=True)

    run(work())


@app.command()
def add(
    subject: Annotated[str, typer.Argument(help="Whom or what it is about.")],
    predicate: Annotated[str, typer.Argument(help="Such as lives_in.")],
    value: Annotated[str, typer.Argument(metavar="OBJECT", help="Such as Ghent.")],
    agent: Agent,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Since when it is so; else since now.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Until when.")] = None,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="How certain it is.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Say that something is so; of a predicate with one object it takes the place of the last."""
    valid_from, valid_to = (
        parse_timestamp(since, what="--since"),
        parse_timestamp(until, what="--until"),
    )

    async def work() -> None:
        async with await connect_memory() as connection:
            memory = connection.memory(agent)
            changes = await memory.facts.add(
                subject,
                predicate,
                value,
                valid_from=valid_from,
                valid_to=valid_to,
                confidence=confidence,
            )
            now = await memory.facts.now()
        _print_changes(changes, now=now, as_json=as_json)

    run(work())


@app.command()
def delete(given: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Delete a fact for good, with all periods in which the same was so."""

    async def work() -> None:
        async with known_memory(agent) as memory:
            fact_id = await fact_named(memory, given)
            fact, _ = await memory.facts.why(fact_id)
            changes, now = await memory.facts.delete(fact_id), await memory.facts.now()
        _print_changes(changes, now=now, as_json=as_json)
        if fact.status == "deleted" and not as_json:
            out.print("It was deleted before.")

    run(work())


@app.command()
def reactivate(given: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Believe an archived fact again; what took its place is archived.

    If the same was so more than once, only the last period can be reactivated.
    """

    async def work() -> None:
        async with known_memory(agent) as memory:
            fact_id = await fact_named(memory, given)
            changes, now = await memory.facts.reactivate(fact_id), await memory.facts.now()
        _print_changes(changes, now=now, as_json=as_json)

    run(work())


@app.command()
def history(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT|ID", help="Whom, or a fact's id.")],
    agent: Agent,
    predicate: Annotated[str | None, typer.Argument(help="Such as lives_in.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what was ever believed of a subject and a predicate, and why it ended."""

    async def work() -> None:
        async with known_memory(agent) as memory:
            about, name = subject, predicate
            if name is None:
                try:
                    fact, _ = await memory.facts.why(await fact_named(memory, subject))
                except NotFoundError as error:
                    why = f"{error}; of a subject, name the predicate too, such as lives_in"
                    raise InvalidInputError(what="history", why=why) from None
                about, name = fact.subject, fact.predicate
            told = await memory.facts.history(about, name)
        if as_json:
            print_json(told.model_dump(mode="json"))
            return
        out.print(f"{told.subject} {told.predicate} ({told.cardinality}, {told.category})")
        rows = [_version_row(fact) for fact in told.facts]
        print_table(_HISTORY, rows, empty="Nothing was ever said of it.", ids=("id",))

    run(work())


@app.command()
def why(given: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Show what a fact follows from: messages, their words, extractors, jobs and workflow runs."""

    async def work() -> None:
        async with known_memory(agent) as memory:
            fact_id = await fact_named(memory, given)
            now = await memory.facts.now()
            fact, claims = await memory.facts.why(fact_id)
            words = await memory.facts.quotes(claims)
        if as_json:
            told = [
                claim.model_dump(mode="json") | {"words": words.get(claim.id)} for claim in claims
            ]
            print_json({"fact": fact.model_dump(mode="json"), "claims": told})
            return
        print_table(_COLUMNS, [_row(fact, now=now)], empty="", ids=("id",))
        for claim in claims:
            out.print()
            for line in _claim_lines(claim, words.get(claim.id)):
                out.print(line, soft_wrap=True)

    run(work())


def _print_changes(changes: tuple[FactChange, ...], *, now: datetime, as_json: bool) -> None:
    if as_json:
        print_json({"changes": [change.model_dump(mode="json") for change in changes]})
        return
    rows = [_row(change.fact, now=now) for change in changes]
    print_table(_COLUMNS, rows, empty="Nothing is believed otherwise.", ids=("id",))


def _claim_lines(claim: Claim, words: str | None) -> Iterator[str]:
    """A claim and where it comes from, a line for each thing that is known of that."""
    source = claim.source
    yield f"{claim.said_at:%Y-%m-%d %H:%M}  {claim.kind} by {source.extractor}"
    if source.source_id:
        place = f", characters {source.span.start}-{source.span.end}" if source.span else ""
        yield f"  message {source.session_id}/{source.source_id}{place}"
    if words is not None:
        yield f"  words {json.dumps(words, ensure_ascii=False)}"
    if source.job_id:
        yield f"  job {source.job_id}"
    if source.workflow_run:
        yield f"  workflow run {source.workflow_run}"


def _row(fact: Fact, *, now: datetime) -> tuple[str, ...]:
    believed = one_line(f"{fact.subject} {fact.predicate} {fact.object}")
    return (believed, _day(fact.valid_from), _until(fact), _state(fact, now=now), fact.id)


def _state(fact: Fact, *, now: datetime) -> str:
    """Why it is no longer believed; of what is, whether it is yet to begin or known to end."""
    if fact.begins_after(now):
        return "pending"
    if fact.status == "archived" and fact.is_valid_at(now):
        return "ending"
    return (
        "over" if fact.status == "active" and not fact.is_valid_at(now) else fact.end or fact.status
    )


def _version_row(fact: FactVersion) -> tuple[str, ...]:
    why = fact.reason or "believed"
    return (one_line(fact.object), _day(fact.valid_from), _until(fact), why, fact.id)


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _until(fact: Fact) -> str:
    if fact.valid_to is None:
        return ""
    was_never = fact.valid_to == fact.valid_from and fact.end != "past"
    return "never" if was_never else _day(fact.valid_to)

"""`mnestic memory facts`: an agent's facts, now and over time."""

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
from mnestic.starter.cli.ids import resolve_fact_id
from mnestic.starter.cli.known_agents import Agent, Reader, open_agent_memory
from mnestic.starter.cli.output import (
    AsJson,
    PageCursor,
    PageLimit,
    one_line,
    out,
    print_json,
    print_table,
    run,
)
from mnestic.starter.cli.timestamps import parse_timestamp

app = typer.Typer(help="Read and correct the facts of an agent.", no_args_is_help=True)
FactId = Annotated[
    str, typer.Argument(help="The fact's id or its beginning, as `facts list` shows it.")
]
_HISTORY = ("object", "since", "until", "why", "id")
_COLUMNS = ("fact", "since", "until", "status", "id")


@app.command("list")
def list_facts(
    agent: Agent,
    subject: Annotated[str | None, typer.Option(help="Only about this subject.")] = None,
    predicate: Annotated[str | None, typer.Option(help="Only of this predicate.")] = None,
    include_all: Annotated[
        bool, typer.Option("--all", help="Archived and deleted ones too.")
    ] = False,
    as_of: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Facts valid at this time: 2026-01-31, yesterday; UTC."),
    ] = None,
    believed_at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Facts as known at this time, from the messages received until then.",
        ),
    ] = None,
    limit: PageLimit = 100,
    cursor: PageCursor = None,
    as_json: AsJson = False,
    reader: Reader = None,
) -> None:
    """List the facts that are valid now, and those that begin later, which are marked as pending.

    With `--as-of`, list the facts that were valid at that time; with `--all`, also archived and deleted ones.
    """
    statuses: tuple[FactStatus, ...] | None = get_args(FactStatus) if include_all else None
    valid_at = parse_timestamp(as_of, what="--as-of")
    known_at = parse_timestamp(believed_at, what="--believed-at")

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            now = await memory.facts.now()
            page, next_cursor = await memory.facts.list(
                subject=subject,
                predicate=predicate,
                statuses=statuses,
                as_of=valid_at or (None if include_all else known_at or now),
                ahead=valid_at is None,
                believed_at=known_at,
                limit=limit,
                cursor=cursor,
            )
        if as_json:
            listed = [
                fact.model_dump(mode="json") | {"pending": fact.begins_after(now)} for fact in page
            ]
            print_json({"facts": listed, "cursor": next_cursor})
            return
        rows = [_row(fact, now=now) for fact in page]
        print_table(_COLUMNS, rows, empty="No facts.", ids=("id",))
        if next_cursor:
            out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

    run(work())


@app.command()
def add(
    subject: Annotated[str, typer.Argument(help="The subject, such as Mara.")],
    predicate: Annotated[str, typer.Argument(help="The predicate, such as lives_in.")],
    fact_object: Annotated[
        str, typer.Argument(metavar="OBJECT", help="The object, such as Ghent.")
    ],
    agent: Agent,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Valid from; default: now.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Valid until; default: no end.")
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0, max=1, help="How certain it is, 0 to 1.")
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Add a fact; it supersedes the last one of a predicate with a single object."""
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
                fact_object,
                valid_from=valid_from,
                valid_to=valid_to,
                confidence=confidence,
            )
            now = await memory.facts.now()
        _print_changes(changes, now=now, as_json=as_json)

    run(work())


@app.command()
def delete(id_or_prefix: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Delete a fact permanently, with all periods in which it was valid."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            fact_id = await resolve_fact_id(memory, id_or_prefix)
            fact, _ = await memory.facts.why(fact_id)
            changes, now = await memory.facts.delete(fact_id), await memory.facts.now()
        _print_changes(changes, now=now, as_json=as_json)
        if fact.status == "deleted" and not as_json:
            out.print("It was deleted already.")

    run(work())


@app.command()
def reactivate(id_or_prefix: FactId, agent: Agent, as_json: AsJson = False) -> None:
    """Reactivate an archived fact; the one that superseded it is archived.

    If the same fact was valid more than once, only its last period can be reactivated.
    """

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            fact_id = await resolve_fact_id(memory, id_or_prefix)
            changes, now = await memory.facts.reactivate(fact_id), await memory.facts.now()
        _print_changes(changes, now=now, as_json=as_json)

    run(work())


@app.command()
def history(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT|ID", help="The subject, or a fact's id.")
    ],
    agent: Agent,
    predicate: Annotated[
        str | None, typer.Argument(help="The predicate, such as lives_in.")
    ] = None,
    as_json: AsJson = False,
    reader: Reader = None,
) -> None:
    """Show the facts about a subject and a predicate over time, and why each ended."""

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            about, name = subject, predicate
            if name is None:
                try:
                    fact, _ = await memory.facts.why(await resolve_fact_id(memory, subject))
                except NotFoundError as error:
                    why = f"{error}; for a subject, give the predicate too, such as lives_in"
                    raise InvalidInputError(what="history", why=why) from None
                about, name = fact.subject, fact.predicate
            fact_history = await memory.facts.history(about, name)
        if as_json:
            print_json(fact_history.model_dump(mode="json"))
            return
        out.print(
            f"{fact_history.subject} {fact_history.predicate} ({fact_history.cardinality}, {fact_history.category})"
        )
        rows = [_version_row(fact) for fact in fact_history.facts]
        print_table(_HISTORY, rows, empty="No facts.", ids=("id",))

    run(work())


@app.command()
def why(id_or_prefix: FactId, agent: Agent, as_json: AsJson = False, reader: Reader = None) -> None:
    """Show the sources of a fact: messages, their words, extractors, jobs and workflow runs."""

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            fact_id = await resolve_fact_id(memory, id_or_prefix)
            now = await memory.facts.now()
            fact, claims = await memory.facts.why(fact_id)
            words = await memory.facts.quotes(claims)
        if as_json:
            claim_documents = [
                claim.model_dump(mode="json") | {"words": words.get(claim.id)} for claim in claims
            ]
            print_json({"fact": fact.model_dump(mode="json"), "claims": claim_documents})
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
    print_table(_COLUMNS, rows, empty="No facts changed.", ids=("id",))


def _claim_lines(claim: Claim, words: str | None) -> Iterator[str]:
    """A claim and its sources, one on each line."""
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
    statement = one_line(f"{fact.subject} {fact.predicate} {fact.object}")
    return (statement, _day(fact.valid_from), _until(fact), _state(fact, now=now), fact.id)


def _state(fact: Fact, *, now: datetime) -> str:
    """Why it is no longer active; of an active fact, whether it begins or ends in the future."""
    if fact.begins_after(now):
        return "pending"
    if fact.status == "archived" and fact.is_valid_at(now):
        return "faded" if fact.end == "faded" else "ending"
    return (
        "ended"
        if fact.status == "active" and not fact.is_valid_at(now)
        else fact.end or fact.status
    )


def _version_row(fact: FactVersion) -> tuple[str, ...]:
    why = fact.reason or "active"
    return (one_line(fact.object), _day(fact.valid_from), _until(fact), why, fact.id)


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _until(fact: Fact) -> str:
    if fact.valid_to is None:
        return ""
    was_never = fact.valid_to == fact.valid_from and fact.end != "past"
    return "never" if was_never else _day(fact.valid_to)

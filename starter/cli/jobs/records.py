"""`mnestic memory record`: read and write an agent's long-term records."""

import json
from typing import Annotated

import typer

from mnestic.memory.durations import Duration
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.long_term.backends import FLUSH_DELAY
from mnestic.memory.jobs.long_term.records import LongTermRecord
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.known_agents import Agent, open_agent_memory
from mnestic.starter.cli.output import (
    AsJson,
    PageCursor,
    PageLimit,
    out,
    print_json,
    print_table,
    run,
)
from mnestic.starter.cli.values import parse_as, parse_value
from mnestic.starter.pagination import list_all

app = typer.Typer(help="Read and write an agent's long-term records.", no_args_is_help=True)

Namespace = Annotated[str, typer.Argument(help="The record's namespace.")]
Key = Annotated[str, typer.Argument(help="The record's key.")]
Schema = Annotated[str, typer.Argument(help="A schema of the agent's contract.")]


@app.command()
def get(namespace: Namespace, key: Key, agent: Agent, as_json: AsJson = False) -> None:
    """Show a record."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            _print_record(await memory.records.get(namespace, key), as_json=as_json)

    run(work())


@app.command("set")
def set_(
    namespace: Namespace,
    key: Key,
    value: Annotated[str, typer.Argument(help="JSON, plain text, or @FILE with either.")],
    agent: Agent,
    ttl: Annotated[str | None, typer.Option(help="How long it lives, such as 30d.")] = None,
    expected_version: Annotated[
        int | None, typer.Option(min=0, help="Only if it is at this version; 0: only if new.")
    ] = None,
    metadata: Annotated[
        str | None, typer.Option(help="What is known of it beside its value: JSON, or @FILE.")
    ] = None,
    request_id: Annotated[
        str | None, typer.Option(help="Idempotency key: the same id writes once.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a record."""
    lifetime, parsed_value = parse_as(Duration, ttl, what="--ttl"), parse_value(value, what="value")
    known = None if metadata is None else parse_value(metadata, what="--metadata")
    if known is not None and not isinstance(known, dict):
        raise InvalidInputError(what="--metadata", why="is no JSON object")

    async def work() -> None:
        async with await connect_memory() as connection:
            record = await connection.memory(agent).records.set(
                namespace,
                key,
                parsed_value,
                ttl=lifetime,
                expected_version=expected_version,
                metadata=known,
                operation_key=f"client/{request_id}" if request_id else None,
            )
        _print_record(record, as_json=as_json, is_text=parsed_value == value)

    run(work())


@app.command("list")
def list_(
    agent: Agent,
    namespace: Annotated[str | None, typer.Option(help="Only this namespace.")] = None,
    limit: PageLimit = 100,
    cursor: PageCursor = None,
    as_json: AsJson = False,
) -> None:
    """List records in the order of namespace and key."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            page, next_cursor = await memory.records.list(namespace, limit=limit, cursor=cursor)
        if as_json:
            records = [record.model_dump(mode="json") for record in page]
            print_json({"records": records, "cursor": next_cursor})
            return
        rows = [
            (r.namespace, r.key, r.version, json.dumps(r.value, ensure_ascii=False)) for r in page
        ]
        columns = ("namespace", "key", "version", "value")
        print_table(columns, rows, empty="No records.", cut=("value",))
        if next_cursor:
            out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

    run(work())


@app.command()
def delete(
    namespace: Namespace,
    key: Key,
    agent: Agent,
    expected_version: Annotated[
        int | None, typer.Option(min=1, help="Only if it is at this version.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Delete a record."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            deleted = await memory.records.delete(namespace, key, expected_version=expected_version)
        if as_json:
            print_json(deleted.model_dump(mode="json"))
        else:
            out.print(
                f"{deleted.namespace}/{deleted.key} is deleted; its version is {deleted.version}."
            )

    run(work())


@app.command()
def conflicts(
    schema: Schema,
    agent: Agent,
    limit: PageLimit = 100,
    cursor: PageCursor = None,
    as_json: AsJson = False,
) -> None:
    """List writes to a schema that wait for a decision."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            contract = await memory.contract()
            page, following = await contract.list_conflicts(schema, limit=limit, cursor=cursor)
        if as_json:
            print_json(
                {"conflicts": [one.model_dump(mode="json") for one in page], "cursor": following}
            )
            return
        rows = [
            (c.id, c.key, ", ".join(c.fields), json.dumps(c.value, ensure_ascii=False))
            for c in page
        ]
        columns = ("id", "key", "fields", "value")
        print_table(columns, rows, empty="No conflicts.", cut=("value",))
        if following:
            out.print(f"More: --cursor {following}", soft_wrap=True)

    run(work())


@app.command()
def misfits(schema: Schema, agent: Agent, as_json: AsJson = False) -> None:
    """List records that do not fit their schema any more: readable, but refused at their next write."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            found = await list_all((await memory.contract()).list_misfits, schema)
        if as_json:
            print_json({"misfits": [one.model_dump(mode="json") for one in found]})
            return
        rows = [(one.key, one.version, one.why) for one in found]
        print_table(("key", "version", "why"), rows, empty="All records fit.", cut=("why",))

    run(work())


@app.command()
def resend(schema: Schema, agent: Agent, as_json: AsJson = False) -> None:
    """Send all records of a schema to its backend again, as after it lost some."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            records = await (await memory.contract()).resend(schema)
        if as_json:
            print_json({"records": records})
        else:
            seconds = FLUSH_DELAY.total_seconds()
            out.print(f"{records} records are sent by a worker, within {seconds:g} s.")

    run(work())


@app.command()
def resolve(
    schema: Schema,
    conflict: Annotated[str, typer.Argument(help="The conflict.")],
    agent: Agent,
    value: Annotated[
        str | None,
        typer.Option(
            help="What is stored: JSON, plain text, or @FILE. Default: what is there stays."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """End a conflict: with a value, it is stored; without, what is stored stays."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            contract = await memory.contract()
            if value is None:
                await contract.drop_conflict(schema, conflict)
                if as_json:
                    print_json({"dropped": conflict})
                else:
                    out.print("The record stays as it is.")
                return
            parsed = parse_value(value, what="--value")
            _print_record(
                await contract.resolve_conflict(schema, conflict, parsed), as_json=as_json
            )

    run(work())


def _print_record(record: LongTermRecord, *, as_json: bool, is_text: bool = False) -> None:
    if as_json:
        print_json(record.model_dump(mode="json"))
    else:
        how = " · stored as text" if is_text else ""
        out.print(f"{record.namespace}/{record.key} · version {record.version}{how}")
        out.print_json(data=record.value)

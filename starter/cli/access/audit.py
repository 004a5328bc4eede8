"""`mnestic audit`: who read or wrote what, and what was denied."""

from typing import TYPE_CHECKING, Annotated

import typer

from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.output import (
    AsJson,
    PageCursor,
    PageLimit,
    out,
    print_json,
    print_table,
    run,
)

if TYPE_CHECKING:
    from mnestic.memory.access.audit import AuditEntry

app = typer.Typer(help="Show who read or wrote what, and what was denied.", no_args_is_help=True)
_COLUMNS = ("UTC", "agent", "actor", "action", "target", "reason")


@app.callback()
def group() -> None:
    """Keeps `list` a command of its own."""


@app.command("list")
def list_(
    agent: Annotated[str | None, typer.Option(help="Only of this agent.")] = None,
    key: Annotated[
        str | None, typer.Option(help="Only with this API key, as `keys list` has it.")
    ] = None,
    actor: Annotated[str | None, typer.Option(help="Only by this actor, such as job/a1.")] = None,
    action: Annotated[
        str | None, typer.Option(help="Only this action, or those that begin so, such as fact.")
    ] = None,
    denied: Annotated[bool, typer.Option("--denied", help="Only what was denied.")] = False,
    limit: PageLimit = 20,
    cursor: PageCursor = None,
    as_json: AsJson = False,
) -> None:
    """List reads and writes, the latest first."""

    async def work() -> "tuple[tuple[AuditEntry, ...], str | None]":
        async with await connect_memory() as connection:
            return await connection.audit().list(
                agent_id=agent,
                key_id=key,
                actor=actor,
                action=action,
                denied=denied,
                limit=limit,
                cursor=cursor,
            )

    page, next_cursor = run(work())
    if as_json:
        listed = [entry.model_dump(mode="json") for entry in page]
        print_json({"audit": listed, "cursor": next_cursor})
        return
    rows = [
        (
            f"{entry.at:%Y-%m-%d %H:%M:%S}",
            *(entry.agent_id, entry.actor, entry.action, entry.target, entry.reason or ""),
        )
        for entry in page
    ]
    print_table(_COLUMNS, rows, empty="No accesses.")
    if next_cursor:
        out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

"""`mnestic keys`: make, list and revoke API keys."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.output import (
    AsJson,
    PageCursor,
    PageLimit,
    err,
    out,
    print_json,
    print_table,
    run,
)

if TYPE_CHECKING:
    from mnestic.memory.access.api_keys import ApiKey, IssuedKey

app = typer.Typer(
    help="Make, list and revoke API keys, with which programs use memory over HTTP.",
    no_args_is_help=True,
)
_COLUMNS = ("id", "agents", "scope", "created", "expires", "revoked")


@app.command()
def create(
    agent: Annotated[
        list[str],
        typer.Option(help="An agent, or a pattern such as 'agent.seo.*'; several with several."),
    ],
    scope: Annotated[
        str, typer.Option(help="Of read, write, forget, jobs and admin; several with commas.")
    ] = "read,write",
    expires: Annotated[
        str | None, typer.Option(help="How long it is valid, such as 90d; default: until revoked.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. It is shown once, and never again."""
    from mnestic.memory.access.api_keys import check_actions
    from mnestic.memory.durations import Duration
    from mnestic.starter.cli.values import parse_as

    actions = check_actions(name.strip() for name in scope.split(","))
    expires_in = parse_as(Duration, expires, what="--expires")

    async def work() -> "IssuedKey":
        async with await connect_memory() as connection:
            return await connection.api_keys().create(
                agents=agent, actions=actions, expires_in=expires_in
            )

    issued = run(work())
    if as_json:
        print_json({"key": issued.text, **_document(issued.key)})
        return
    out.print(issued.text, soft_wrap=True)
    err.print(f"Key {issued.key.id}. It is not shown again; keep it where secrets are.")


@app.command("list")
def list_(
    limit: PageLimit = 100,
    cursor: PageCursor = None,
    as_json: AsJson = False,
) -> None:
    """List keys, the newest first, without their secrets."""

    async def work() -> "tuple[tuple[ApiKey, ...], str | None]":
        async with await connect_memory() as connection:
            return await connection.api_keys().list(limit=limit, cursor=cursor)

    page, next_cursor = run(work())
    if as_json:
        print_json({"keys": [_document(key) for key in page], "cursor": next_cursor})
        return
    rows = [
        (
            key.id,
            ", ".join(key.scope.agents),
            ",".join(key.scope.actions),
            *(
                f"{at:%Y-%m-%d %H:%M}" if at else ""
                for at in (key.created_at, key.expires_at, key.revoked_at)
            ),
        )
        for key in page
    ]
    print_table(_COLUMNS, rows, empty="No keys.")
    if next_cursor:
        out.print(f"More: --cursor {next_cursor}", soft_wrap=True)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key, as `keys list` has it.")],
    as_json: AsJson = False,
) -> None:
    """Revoke a key: the next request with it is refused."""

    async def work() -> "ApiKey":
        async with await connect_memory() as connection:
            return await connection.api_keys().revoke(key_id)

    key = run(work())
    if as_json:
        print_json(_document(key))
    else:
        out.print(f"Key {key.id} is revoked.")


def _document(key: "ApiKey") -> dict[str, Any]:
    document = key.model_dump(mode="json", exclude={"scope"})
    return {**document, "agents": [*key.scope.agents], "scope": [*key.scope.actions]}

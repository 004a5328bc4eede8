"""`mnestic agents`: which agents there are, and what each has."""

from typing import Annotated

import typer

from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run

_COLUMNS = (
    "agent",
    "entries",
    "facts",
    "messages",
    "records",
    "episodes",
    "sessions",
    "last written",
)


def agents(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="Where an earlier page ended.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the agents of the tenant, with how much each has in memory and when that was last written."""

    async def work() -> None:
        async with await connect_memory() as connection:
            found, following = await connection.list_agents(limit=limit, cursor=cursor)
        if as_json:
            listed = [agent.model_dump(mode="json") for agent in found]
            print_json({"agents": listed, "cursor": following})
            return
        rows = [
            (
                one.agent_id,
                *(one.entries, one.facts, one.messages, one.records, one.episodes, one.sessions),
                f"{one.last_written_at:%Y-%m-%d %H:%M}",
            )
            for one in found
        ]
        print_table(_COLUMNS, rows, empty="No agents.")
        if following:
            out.print(f"More: --cursor {following}", soft_wrap=True)

    run(work())

"""`mnestic agents`: the agents of a tenant, with the size of each memory."""

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
    limit: PageLimit = 100,
    cursor: PageCursor = None,
    as_json: AsJson = False,
) -> None:
    """List the agents of the tenant, with the size of each memory and its last write."""

    async def work() -> None:
        async with await connect_memory() as connection:
            page, next_cursor = await connection.list_agents(limit=limit, cursor=cursor)
        if as_json:
            listed = [agent.model_dump(mode="json") for agent in page]
            print_json({"agents": listed, "cursor": next_cursor})
            return
        rows = [
            (
                agent.agent_id,
                *(
                    agent.entries,
                    agent.facts,
                    agent.messages,
                    agent.records,
                    agent.episodes,
                    agent.sessions,
                ),
                f"{agent.last_written_at:%Y-%m-%d %H:%M}",
            )
            for agent in page
        ]
        print_table(_COLUMNS, rows, empty="No agents.")
        if next_cursor:
            out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

    run(work())

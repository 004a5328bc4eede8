"""`mnestic memory categories` and `mnestic memory summaries`: what is known in short, by category and by time."""

from typing import Annotated

import typer

from mnestic.memory.knowledge.world.period_summaries import SummaryLevel
from mnestic.starter.cli.known_agents import Agent, Reader, open_agent_memory
from mnestic.starter.cli.output import (
    AsJson,
    PageCursor,
    PageLimit,
    out,
    print_json,
    print_table,
    run,
)


def categories(agent: Agent, as_json: AsJson = False, reader: Reader = None) -> None:
    """List the categories of facts with their summaries."""

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            found = await memory.contexts.list_categories()
        if as_json:
            print_json({"categories": [one.model_dump(mode="json") for one in found]})
            return
        rows = [(one.name, f"{one.updated_at:%Y-%m-%d %H:%M}", one.summary) for one in found]
        print_table(("category", "updated", "summary"), rows, empty="No facts.")

    run(work())


def summaries(
    agent: Agent,
    level: Annotated[
        SummaryLevel | None, typer.Option(help="Of this level alone.", show_default=False)
    ] = None,
    limit: PageLimit = 50,
    cursor: PageCursor = None,
    as_json: AsJson = False,
    reader: Reader = None,
) -> None:
    """List summaries of a large memory, the highest level and the latest first."""

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            found, more = await memory.contexts.list_summaries(level, limit=limit, cursor=cursor)
        if as_json:
            print_json(
                {"summaries": [one.model_dump(mode="json") for one in found], "cursor": more}
            )
            return
        columns = ("summary", "messages", "text")
        rows = [(one.name, str(one.messages), one.text) for one in found]
        print_table(columns, rows, empty="No summaries.")
        if more:
            out.print(f"More: --cursor {more}", soft_wrap=True)

    run(work())

"""`mnestic memory categories`: what is known in short, by category."""

from mnestic.starter.cli.known_agents import Agent, open_agent_memory
from mnestic.starter.cli.output import AsJson, print_json, print_table, run


def categories(agent: Agent, as_json: AsJson = False) -> None:
    """List the categories of facts with their summaries."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            found = await memory.contexts.list_categories()
        if as_json:
            print_json({"categories": [one.model_dump(mode="json") for one in found]})
            return
        rows = [(one.name, f"{one.updated_at:%Y-%m-%d %H:%M}", one.summary) for one in found]
        print_table(("category", "updated", "summary"), rows, empty="No facts.")

    run(work())

"""`mnestic memory graph`: the graph of an agent's facts around a name."""

from typing import Annotated

import typer

from mnestic.memory.graph.graph import DEEPEST, MOST_EDGES
from mnestic.starter.cli.known_agents import Agent, Reader, open_agent_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.timestamps import parse_timestamp


def graph(
    agent: Agent,
    name: Annotated[
        str | None, typer.Argument(help="Where to begin; without it, the heaviest edges of all.")
    ] = None,
    depth: Annotated[
        int, typer.Option(min=1, max=DEEPEST, help="How many edges away from the name.")
    ] = 1,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Edges valid at this time: 2026-01-31, yesterday; UTC."),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_EDGES, help="Maximum number of edges.")
    ] = 100,
    as_json: AsJson = False,
    reader: Reader = None,
) -> None:
    """Show the graph of facts: edges with their weights, the nearest to a name first."""
    moment = parse_timestamp(at, what="--at")

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            found = await memory.graph.read(name, depth=depth, at=moment, limit=limit)
        if as_json:
            print_json(found.model_dump(mode="json"))
            return
        names = {node.key: node.name for node in found.nodes}
        rows = [
            (
                names[edge.source],
                edge.predicate,
                names[edge.target],
                f"{edge.weight:.2f}",
                f"{edge.valid_from:%Y-%m-%d}",
                f"{edge.valid_to:%Y-%m-%d}" if edge.valid_to else "",
            )
            for edge in found.edges
        ]
        columns = ("from", "predicate", "to", "weight", "since", "until")
        print_table(columns, rows, empty="No edges.")
        if found.is_cut:
            out.print(f"There are more edges than {limit}; --limit shows more.")

    run(work())

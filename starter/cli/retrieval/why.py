"""`mnestic memory why`: why a search does not return an entry."""

from typing import Annotated

import typer

from mnestic.memory.retrieval.missing_entries import SearchTrace
from mnestic.starter.cli.ids import resolve_entry_id
from mnestic.starter.cli.known_agents import Agent, Asker, Reader, open_agent_memory
from mnestic.starter.cli.output import AsJson, PageLimit, out, print_json, run


def why(
    query: Annotated[str, typer.Argument(help="The question.")],
    agent: Agent,
    expect: Annotated[
        str, typer.Option(metavar="ID", help="The entry, by its id or the beginning of it.")
    ],
    limit: PageLimit = 10,
    min_score: Annotated[
        float | None, typer.Option(help="Minimum score, 0 to 1; default: the policy's.")
    ] = None,
    as_json: AsJson = False,
    reader: Reader = None,
    asker: Asker = None,
) -> None:
    """Show why a search does not return an entry: the stage that leaves it out, and by how much."""

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            entry_id = await resolve_entry_id(memory, expect)
            trace = await memory.why(
                query, expect=entry_id, limit=limit, min_score=min_score, asker=asker
            )
        if as_json:
            print_json(trace.model_dump(mode="json"))
        else:
            _print(trace)

    run(work())


def _print(trace: SearchTrace) -> None:
    stage = "Returned" if trace.stage == "returned" else f"Left out by {trace.stage}"
    out.print(f"{stage}: {trace.why}.", soft_wrap=True)
    if trace.score is not None:
        best = f", the best {trace.best_score:.2f}" if trace.best_score is not None else ""
        needed = "" if trace.needed is None else f", needed {trace.needed:.2f}"
        out.print(f"rank {trace.rank}, score {trace.score:.2f}{needed}{best}", soft_wrap=True)

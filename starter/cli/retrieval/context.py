"""`mnestic memory context`: the context of a question for a prompt, within a budget of tokens."""

from typing import Annotated, get_args

import typer

from mnestic.memory.retrieval.contexts import TIERS, Context, TierName
from mnestic.starter.cli.known_agents import Agent, Asker, Reader, open_agent_memory
from mnestic.starter.cli.output import AsJson, counted, out, print_json, print_table, run
from mnestic.starter.cli.values import parse_as


def context(
    query: Annotated[str, typer.Argument(help="The question.")],
    agent: Agent,
    max_tokens: Annotated[
        int, typer.Option(min=0, help="Maximum tokens of the whole block, counted exactly.")
    ] = 2000,
    tier: Annotated[
        list[str] | None,
        typer.Option(help=f"Only {', '.join(get_args(TierName))}; may be repeated."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of search results.")] = 20,
    as_json: AsJson = False,
    reader: Reader = None,
    asker: Asker = None,
) -> None:
    """Show the context for a question, as a prompt gets it, and what was left out and why."""
    tiers: list[TierName] = [parse_as(TierName, name, what="--tier") for name in tier or TIERS]

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            context_block = await memory.context_for_query(
                query, max_tokens=max_tokens, limit=limit, tiers=tiers, asker=asker
            )
        if as_json:
            print_json(context_block.model_dump(mode="json"))
        else:
            _print_context(context_block)

    run(work())


def _print_context(context_block: Context) -> None:
    out.print(context_block.text or "The context is empty.", soft_wrap=True)
    out.print(
        f"{context_block.tokens} of {context_block.max_tokens} tokens, {counted(len(context_block.kept), 'parts')}."
    )
    if context_block.dropped:
        rows = [(item.tier, item.kind, item.name, item.why) for item in context_block.dropped]
        print_table(("left out", "kind", "id", "why"), rows, empty="", ids=("id",))
    for name, why in context_block.skipped.items():
        out.print(f"Skipped {name}: {why}", soft_wrap=True)

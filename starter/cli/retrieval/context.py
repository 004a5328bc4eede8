"""`mnestic memory context`: what a prompt would be told about a question, within a budget of tokens."""

from typing import Annotated, get_args

import typer

from mnestic.memory.retrieval.contexts import TIERS, Context, TierName
from mnestic.starter.cli.known_agents import Agent, known_memory
from mnestic.starter.cli.output import AsJson, counted, out, print_json, print_table, run
from mnestic.starter.cli.values import parse_as


def context(
    query: Annotated[str, typer.Argument(help="The question.")],
    agent: Agent,
    max_tokens: Annotated[
        int, typer.Option(min=0, help="What the whole block may have, by exact count.")
    ] = 2000,
    tier: Annotated[
        list[str] | None,
        typer.Option(help=f"Only {', '.join(get_args(TierName))}; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the context of a question for a prompt, and what was left out and why."""
    tiers: list[TierName] = [parse_as(TierName, name, what="--tier") for name in tier or TIERS]

    async def work() -> None:
        async with known_memory(agent) as memory:
            found = await memory.context_for_query(query, max_tokens=max_tokens, tiers=tiers)
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            _print_context(found)

    run(work())


def _print_context(found: Context) -> None:
    out.print(found.text or "Nothing is told.", soft_wrap=True)
    out.print(f"{found.tokens} of {found.max_tokens} tokens, {counted(len(found.kept), 'parts')}.")
    if found.dropped:
        rows = [(one.tier, one.kind, one.name, one.why) for one in found.dropped]
        print_table(("left out", "kind", "id", "why"), rows, empty="", ids=("id",))
    for name, why in found.skipped.items():
        out.print(f"Skipped {name}: {why}", soft_wrap=True)

"""`mnestic costs`: what models have cost, and what of it was put before messages."""

from decimal import Decimal
from typing import Annotated

import typer

from mnestic.memory.models.costs import Costs, PurposeCosts, RetrievalCosts
from mnestic.memory.models.usage import UsageTotal
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.known_agents import warned
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.timestamps import parse_timestamp

_COLUMNS = ("purpose", "models", "calls", "unpriced", "input", "injected", "output", "USD")


def costs(
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="From this day or time on, UTC; else of 30 days."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Up to this day or time, and not with it.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only of this agent.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show tokens and money by purpose, and apart what was put before messages."""
    first, last = parse_timestamp(since, what="--since"), parse_timestamp(until, what="--until")

    async def work() -> None:
        async with await connect_memory() as connection, warned(connection, agent):
            found = await connection.costs(since=first, until=last, agent_id=agent)
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            _print_costs(found)

    run(work())


def _print_costs(found: Costs) -> None:
    out.print(f"From {found.since:%Y-%m-%d %H:%M} to {found.until:%Y-%m-%d %H:%M} UTC")
    rows = [_row(one.purpose, ", ".join(one.models), one) for one in found.purposes]
    if rows:
        rows.append(_row("total", "", found.total))
    print_table(_COLUMNS, rows, empty="No calls of models.")
    out.print(_injections(found.injections), soft_wrap=True)


def _row(name: str, models: str, one: UsageTotal) -> tuple[str, ...]:
    injected = str(one.injected_tokens) if isinstance(one, PurposeCosts) else ""
    return (
        name,
        models,
        str(one.calls),
        str(one.unpriced or ""),
        str(one.input_tokens),
        injected,
        str(one.output_tokens),
        _usd(one.cost_usd),
    )


def _injections(put: RetrievalCosts) -> str:
    told = f"Put before messages: {put.tokens} tokens by {put.retrievals} retrievals"
    if put.metered_tokens:
        told += f"; {put.metered_tokens} of the input above, {_usd(put.cost_usd)} USD"
    if put.unpriced_tokens:
        told += f" and {put.unpriced_tokens} tokens without a price"
    return f"{told}."


def _usd(cost: Decimal) -> str:
    return f"{cost.normalize():f}"

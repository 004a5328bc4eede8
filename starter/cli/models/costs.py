"""`mnestic costs`: the costs of models, and the tokens that were retrieved before messages."""

from decimal import Decimal
from typing import Annotated

import typer

from mnestic.memory.models.costs import Costs, PurposeCosts, RetrievalCosts
from mnestic.memory.models.usage import UsageTotal
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.known_agents import warn_if_unknown
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.timestamps import parse_timestamp

_COLUMNS = ("purpose", "models", "calls", "unpriced", "input", "retrieved", "output", "USD")


def costs(
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="From this day or time on, UTC; default: 30 days ago."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Before this day or time.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only of this agent.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show tokens and costs by purpose, and the tokens that were retrieved before messages."""
    first, last = parse_timestamp(since, what="--since"), parse_timestamp(until, what="--until")

    async def work() -> None:
        async with await connect_memory() as connection, warn_if_unknown(connection, agent):
            costs_report = await connection.costs(since=first, until=last, agent_id=agent)
        if as_json:
            print_json(costs_report.model_dump(mode="json"))
        else:
            _print_costs(costs_report)

    run(work())


def _print_costs(costs_report: Costs) -> None:
    out.print(
        f"From {costs_report.since:%Y-%m-%d %H:%M} to {costs_report.until:%Y-%m-%d %H:%M} UTC"
    )
    rows = [_row(group.purpose, ", ".join(group.models), group) for group in costs_report.purposes]
    if rows:
        rows.append(_row("total", "", costs_report.total))
    print_table(_COLUMNS, rows, empty="No calls of models.")
    out.print(_retrieval_sentence(costs_report.injections), soft_wrap=True)


def _row(name: str, models: str, group: UsageTotal) -> tuple[str, ...]:
    injected = str(group.injected_tokens) if isinstance(group, PurposeCosts) else ""
    return (
        name,
        models,
        str(group.calls),
        str(group.unpriced or ""),
        str(group.input_tokens),
        injected,
        str(group.output_tokens),
        _usd(group.cost_usd),
    )


def _retrieval_sentence(retrieval_costs: RetrievalCosts) -> str:
    sentence = f"Retrieved before messages: {retrieval_costs.tokens} tokens by {retrieval_costs.retrievals} retrievals"
    if retrieval_costs.metered_tokens:
        sentence += f"; {retrieval_costs.metered_tokens} of the input above, {_usd(retrieval_costs.cost_usd)} USD"
    if retrieval_costs.unpriced_tokens:
        sentence += f" and {retrieval_costs.unpriced_tokens} tokens without a price"
    return f"{sentence}."


def _usd(cost: Decimal) -> str:
    return f"{cost.normalize():f}"

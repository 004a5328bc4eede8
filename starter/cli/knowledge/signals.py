"""`mnestic memory signals`: what changed in an agent's memory, for those who follow it."""

from typing import Annotated

import typer

from mnestic.memory.knowledge.signals import SignalKind, StoredEvent
from mnestic.starter.cli.known_agents import known_memory
from mnestic.starter.cli.output import AsJson, parse_as, print_json, print_table, run

Agent = Annotated[str, typer.Option(help="The agent whose memory it is.")]


def list_signals(
    agent: Agent,
    after: Annotated[
        int | None, typer.Option(help="Only after this number; all if left out.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only of this kind; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List signals in their order; go on after the last number, and none is missed."""
    kinds: list[SignalKind] = [parse_as(SignalKind, name, what="kind") for name in kind or ()]

    async def work() -> None:
        async with known_memory(agent) as memory:
            found = await memory.list_signals(after=after, kinds=kinds, limit=limit)
        if as_json:
            print_json({"signals": [signal.model_dump(mode="json") for signal in found]})
            return
        columns = ("number", "UTC", "kind", "about", "id", "more")
        print_table(columns, [_row(signal) for signal in found], empty="No signals.", ids=("id",))

    run(work())


def _row(signal: StoredEvent) -> tuple[str, ...]:
    about = f"{signal.subject} {signal.predicate}" if signal.subject else signal.target
    first, *others = signal.ids
    more = f"+{len(others)}" if others else ""
    return (str(signal.number), f"{signal.at:%Y-%m-%d %H:%M:%S}", signal.kind, about, first, more)

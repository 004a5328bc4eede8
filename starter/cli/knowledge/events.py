"""`mnestic memory events`: what changed in an agent's memory, for those who follow it."""

from typing import Annotated

import typer

from mnestic.memory.knowledge.events import EventKind, StoredEvent
from mnestic.starter.cli.known_agents import Agent, known_memory
from mnestic.starter.cli.output import AsJson, print_json, print_table, run
from mnestic.starter.cli.values import parse_as


def list_events(
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
    """List events in their order; go on after the last number, and none is missed."""
    kinds: list[EventKind] = [parse_as(EventKind, name, what="kind") for name in kind or ()]

    async def work() -> None:
        async with known_memory(agent) as memory:
            found = await memory.events.list(after=after, kinds=kinds, limit=limit)
        if as_json:
            print_json({"events": [event.model_dump(mode="json") for event in found]})
            return
        columns = ("number", "UTC", "kind", "about", "id", "more")
        print_table(columns, [_row(event) for event in found], empty="No events.", ids=("id",))

    run(work())


def _row(event: StoredEvent) -> tuple[str, ...]:
    about = f"{event.subject} {event.predicate}" if event.subject else event.target
    first, *others = event.ids
    more = f"+{len(others)}" if others else ""
    return (str(event.number), f"{event.at:%Y-%m-%d %H:%M:%S}", event.kind, about, first, more)

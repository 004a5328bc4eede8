"""`mnestic memory events`: the changes of an agent's memory, for subscribers."""

from typing import Annotated

import typer

from mnestic.memory.knowledge.events import EventKind, StoredEvent
from mnestic.starter.cli.known_agents import Agent, open_agent_memory
from mnestic.starter.cli.output import AsJson, PageLimit, print_json, print_table, run
from mnestic.starter.cli.values import parse_as


def list_events(
    agent: Agent,
    after: Annotated[
        int | None, typer.Option(help="Only events after this number; default: all.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only of this kind; may be repeated.")
    ] = None,
    limit: PageLimit = 100,
    as_json: AsJson = False,
) -> None:
    """List events in order; continue with --after the last number."""
    kinds: list[EventKind] = [parse_as(EventKind, name, what="kind") for name in kind or ()]

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            page = await memory.events.list(after=after, kinds=kinds, limit=limit)
        if as_json:
            print_json({"events": [event.model_dump(mode="json") for event in page]})
            return
        columns = ("number", "UTC", "kind", "about", "id", "more")
        print_table(columns, [_row(event) for event in page], empty="No events.", ids=("id",))

    run(work())


def _row(event: StoredEvent) -> tuple[str, ...]:
    about = f"{event.subject} {event.predicate}" if event.subject else event.target
    first, *more_ids = event.ids
    more = f"+{len(more_ids)}" if more_ids else ""
    return (str(event.number), f"{event.at:%Y-%m-%d %H:%M:%S}", event.kind, about, first, more)

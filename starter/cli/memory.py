"""`mnestic memory`: what an agent remembers, by kind."""

import typer

from mnestic.starter.cli.forgetting import export
from mnestic.starter.cli.forgetting import forget as forgetting
from mnestic.starter.cli.jobs import records
from mnestic.starter.cli.knowledge import entries, events, facts, parked, predicates, world
from mnestic.starter.cli.knowledge import ingest as knowledge
from mnestic.starter.cli.retrieval import agent_settings, context, retrievals, search

app = typer.Typer(help="Read and write an agent's memory.", no_args_is_help=True)
app.command()(knowledge.ingest)
app.command("export")(export.export)
for _command in (entries.add, entries.show, entries.change, entries.remove, entries.stats):
    app.command()(_command)
app.command("list")(entries.list_)
app.command("search")(search.search)
app.command("events")(events.list_events)
app.command("context")(context.context)
app.command("retrievals")(retrievals.retrievals)
app.command("forget")(forgetting.forget)
app.command("world")(world.world)
app.add_typer(facts.app, name="facts")
app.add_typer(predicates.app, name="predicates")
app.add_typer(parked.app, name="parked")
app.add_typer(records.app, name="record")
app.add_typer(agent_settings.app, name="settings")

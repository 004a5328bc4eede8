"""`mnestic memory predicates`: how many objects a predicate has at a time, and which category it is of."""

from typing import Annotated

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import Cardinality
from mnestic.memory.knowledge.predicates import Category
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.values import parse_as

app = typer.Typer(help="What holds for predicates, in a tenant.", no_args_is_help=True)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the predicates that are known, and whether the tenant has changed them."""

    async def work() -> None:
        async with await connect_memory() as connection:
            found = await connection.predicates().list()
        if as_json:
            listed = [{**one.model_dump(mode="json"), "is_default": not own} for one, own in found]
            print_json({"predicates": listed})
            return
        rows = [
            (one.name, one.cardinality, one.category, "tenant" if own else "default")
            for one, own in found
        ]
        print_table(("predicate", "cardinality", "category", "said by"), rows, empty="")

    run(work())


@app.command("set")
def set_(
    name: Annotated[str, typer.Argument(help="The predicate, such as lives_in.")],
    cardinality: Annotated[
        str | None, typer.Option(help="single: a new object takes the place of the last; or multi.")
    ] = None,
    category: Annotated[
        str | None,
        typer.Option(help="profile, preferences, relationships, work, events or knowledge."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a predicate for all agents of the tenant; repeat it if it was stopped halfway."""
    if cardinality is None and category is None:
        raise InvalidInputError(what="predicate", why="say --cardinality, --category, or both")
    size: Cardinality | None = parse_as(Cardinality, cardinality, what="--cardinality")
    kind: Category | None = parse_as(Category, category, what="--category")

    async def work() -> None:
        async with await connect_memory() as connection:
            said, changed = await connection.predicates().set(name, cardinality=size, category=kind)
        if as_json:
            print_json({"predicate": said.model_dump(mode="json"), "facts_changed": changed})
        else:
            out.print(
                f"{said.name} is {said.cardinality}, {said.category}; {changed} facts changed."
            )

    run(work())

"""`mnestic memory predicates`: cardinality and category of predicates."""

from typing import Annotated

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import Cardinality
from mnestic.memory.knowledge.predicates import Category
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.values import parse_as

app = typer.Typer(
    help="Read and change the cardinality and category of predicates.", no_args_is_help=True
)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the known predicates, and whether the tenant has changed them."""

    async def work() -> None:
        async with await connect_memory() as connection:
            predicates_found = await connection.predicates().list()
        if as_json:
            listed = [
                {**predicate.model_dump(mode="json"), "is_default": not is_tenants}
                for predicate, is_tenants in predicates_found
            ]
            print_json({"predicates": listed})
            return
        rows = [
            (
                predicate.name,
                predicate.cardinality,
                predicate.category,
                "tenant" if is_tenants else "default",
            )
            for predicate, is_tenants in predicates_found
        ]
        print_table(("predicate", "cardinality", "category", "set by"), rows, empty="")

    run(work())


@app.command("set")
def set_(
    name: Annotated[str, typer.Argument(help="The predicate, such as lives_in.")],
    cardinality: Annotated[
        str | None, typer.Option(help="single: a new object supersedes the last; or multi.")
    ] = None,
    category: Annotated[
        str | None,
        typer.Option(help="profile, preferences, relationships, work, events or knowledge."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a predicate for all agents of the tenant; run it again if it was interrupted."""
    if cardinality is None and category is None:
        raise InvalidInputError(what="predicate", why="give --cardinality, --category, or both")
    size: Cardinality | None = parse_as(Cardinality, cardinality, what="--cardinality")
    kind: Category | None = parse_as(Category, category, what="--category")

    async def work() -> None:
        async with await connect_memory() as connection:
            predicate, changed_facts = await connection.predicates().set(
                name, cardinality=size, category=kind
            )
        if as_json:
            print_json(
                {"predicate": predicate.model_dump(mode="json"), "facts_changed": changed_facts}
            )
        else:
            out.print(
                f"{predicate.name} is {predicate.cardinality}, {predicate.category}; {changed_facts} facts changed."
            )

    run(work())

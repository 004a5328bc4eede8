"""`mnestic memory importance`: the tenant's policy of how important an entry is."""

import json
from typing import Annotated, Any

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.importance import ImportancePolicy, check_weights
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.values import parse_value

app = typer.Typer(
    help="Read and change how a tenant measures the importance of entries.", no_args_is_help=True
)
_COLUMNS = ("weight", "value", "about")


@app.command()
def get(as_json: AsJson = False) -> None:
    """Show the weights in force for all agents of the tenant."""

    async def work() -> None:
        async with await connect_memory() as connection:
            policy = await connection.importance().get()
        if as_json:
            print_json(policy.model_dump(mode="json"))
            return
        fields = ImportancePolicy.model_fields
        rows = [
            (name, json.dumps(value), fields[name].description)
            for name, value in policy.model_dump(mode="json").items()
        ]
        print_table(_COLUMNS, rows, empty="")

    run(work())


@app.command("set")
def set_(
    name: Annotated[str, typer.Argument(help="The weight, such as recency.")],
    value: Annotated[str, typer.Argument(help="JSON; of by_type an object of types.")],
    as_json: AsJson = False,
) -> None:
    """Change a weight for all agents of the tenant; run it again if it was interrupted."""
    check_weights([name])
    parsed_value: Any = parse_value(value, what=f"importance {name}")

    async def work() -> None:
        async with await connect_memory() as connection:
            changed = await connection.importance().change(**{name: parsed_value})
        _print(*changed, names=[name], as_json=as_json)

    run(work())


@app.command()
def reset(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Which weights.")
    ] = None,
    reset_all: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reset weights to their defaults."""
    if bool(names) == reset_all:
        raise InvalidInputError(what="importance", why="name some weights, or give --all")
    check_weights(names or ())

    async def work() -> None:
        async with await connect_memory() as connection:
            changed = await connection.importance().reset(*(names or ()))
        _print(*changed, names=names or [*ImportancePolicy.model_fields], as_json=as_json)

    run(work())


def _print(policy: ImportancePolicy, changed: int, *, names: list[str], as_json: bool) -> None:
    values = policy.model_dump(mode="json")
    selected = {name: values[name] for name in names}
    if as_json:
        print_json({"importance": selected, "entries_changed": changed})
        return
    for name, value in selected.items():
        out.print(f"{name} is {json.dumps(value)}")
    out.print(f"{changed} entries changed.")

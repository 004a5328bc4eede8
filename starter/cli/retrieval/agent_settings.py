"""`mnestic memory settings`: the settings of an agent that change at run time."""

import json
from typing import Annotated, Any

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.retrieval.agent_settings import AgentSettings, check_names
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.known_agents import open_agent_memory
from mnestic.starter.cli.output import AsJson, print_json, print_table, run
from mnestic.starter.cli.values import parse_value

app = typer.Typer(help="Read and change the settings of an agent.", no_args_is_help=True)
Agent = Annotated[str, typer.Option(help="The agent whose settings are used.")]
_COLUMNS = ("setting", "value", "about")
_DEFAULT = "default"  # in place of a value
# Whose value is text whatever it looks like.
_TEXTS = frozenset(
    name for name, field in AgentSettings.model_fields.items() if field.annotation is str
)


@app.command()
def get(
    agent: Agent,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Only these.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the settings in force, or some of them."""
    check_names(names or ())

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            settings_in_force = await memory.settings.get()
        _print_settings(settings_in_force, names=names or (), as_json=as_json)

    run(work())


@app.command("set")
def set_(
    name: Annotated[str, typer.Argument(help="The setting.")],
    value: Annotated[
        str, typer.Argument(help="JSON, plain text, or @FILE with either; or the word default.")
    ],
    agent: Agent,
    as_json: AsJson = False,
) -> None:
    """Change a setting, in force from the next message on."""
    check_names([name])
    parsed_value: Any = value if name in _TEXTS else parse_value(value, what=f"setting {name}")

    async def work() -> None:
        async with await connect_memory() as connection:
            memory = connection.memory(agent)
            if value == _DEFAULT:
                changed = await memory.settings.reset(name)
            else:
                changed = await memory.settings.change(**{name: parsed_value})
        _print_settings(changed, names=[name], as_json=as_json)

    run(work())


@app.command()
def reset(
    agent: Agent,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Which settings.")
    ] = None,
    reset_all: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reset settings to their defaults."""
    if bool(names) == reset_all:
        raise InvalidInputError(what="settings", why="name some, or give --all")
    chosen = tuple(names or AgentSettings.model_fields)
    check_names(chosen)

    async def work() -> None:
        async with await connect_memory() as connection:
            changed = await connection.memory(agent).settings.reset(*chosen)
        _print_settings(changed, names=chosen, as_json=as_json)

    run(work())


def _print_settings(
    settings: AgentSettings, *, names: tuple[str, ...] | list[str], as_json: bool
) -> None:
    document = settings.model_dump(mode="json")
    selected = {name: document[name] for name in names or document}
    if as_json:
        print_json(selected)
        return
    fields = AgentSettings.model_fields
    rows = [(name, _plain(value), fields[name].description) for name, value in selected.items()]
    print_table(_COLUMNS, rows, empty="")


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

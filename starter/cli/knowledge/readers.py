"""`mnestic memory readers`: who may read what is said in a session or a channel; set, list and remove it."""

from typing import Annotated

import typer

from mnestic.memory.sharing.readers import DefaultKind
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.known_agents import Agent, open_agent_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run

app = typer.Typer(
    help="Set, list and remove the readers of what is said in a session or a channel.",
    no_args_is_help=True,
)
Kind = Annotated[DefaultKind, typer.Argument(help="session or channel.")]
Named = Annotated[str, typer.Argument(metavar="NAME", help="Its id or name.")]


@app.command("set")
def set_(
    kind: Kind,
    name: Named,
    readers: Annotated[
        list[str], typer.Argument(help="Ids, and patterns such as user.sales.*, 1 to 50.")
    ],
    agent: Agent,
    as_json: AsJson = False,
) -> None:
    """Set who may read what is said in a session or a channel from now on."""

    async def work() -> None:
        async with await connect_memory() as connection:
            default = await connection.memory(agent).readers.set(kind, name, readers)
        if as_json:
            print_json(default.model_dump(mode="json"))
        else:
            out.print(
                f"{kind} {name} is read by {', '.join(default.readers)} from now on.",
                soft_wrap=True,
            )

    run(work())


@app.command("list")
def list_(agent: Agent, as_json: AsJson = False) -> None:
    """List the sessions and channels that have readers."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            defaults = await memory.readers.list()
        if as_json:
            print_json([one.model_dump(mode="json") for one in defaults])
            return
        rows = [(one.kind, one.name, ", ".join(one.readers)) for one in defaults]
        print_table(
            ("kind", "name", "readers"),
            rows,
            empty="Everybody may read each of them.",
            ids=("name",),
        )

    run(work())


@app.command()
def remove(kind: Kind, name: Named, agent: Agent, as_json: AsJson = False) -> None:
    """Have everybody read what is said there from now on; what was said before keeps its readers."""

    async def work() -> None:
        async with await connect_memory() as connection:
            await connection.memory(agent).readers.remove(kind, name)
        if as_json:
            print_json({"kind": kind, "name": name})
        else:
            out.print(f"{kind} {name} is read by everybody from now on.", soft_wrap=True)

    run(work())

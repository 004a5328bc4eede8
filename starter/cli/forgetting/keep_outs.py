"""`mnestic memory keep-outs`: what was forgotten and must not be learned again; list or lift it."""

from typing import Annotated

import typer

from mnestic.starter.cli.known_agents import Agent, open_agent_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run

app = typer.Typer(
    help="List and lift what was forgotten and must not be learned again.", no_args_is_help=True
)


@app.command("list")
def list_(agent: Agent, as_json: AsJson = False) -> None:
    """List keep-outs by id and date; their words are stored nowhere."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            keep_outs = await memory.forgetting.keep_outs()
        if as_json:
            print_json([one.model_dump(mode="json") for one in keep_outs])
            return
        rows = [
            (one.id, f"{one.requested_at:%Y-%m-%d %H:%M}", str(one.name_count)) for one in keep_outs
        ]
        print_table(
            ("keep-out", "since", "names"), rows, empty="Nothing is kept out.", ids=("keep-out",)
        )

    run(work())


@app.command()
def lift(
    keep_out: Annotated[str, typer.Argument(help="Its id, as listed.")],
    agent: Agent,
    as_json: AsJson = False,
) -> None:
    """Let a topic be learned again; what was forgotten stays forgotten."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            await memory.forgetting.lift_keep_out(keep_out)
        if as_json:
            print_json({"lifted": keep_out})
        else:
            out.print(f"{keep_out} is lifted; what is said of it from now on is learned.")

    run(work())

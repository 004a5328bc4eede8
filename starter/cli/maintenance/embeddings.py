"""`mnestic embeddings`: the model whose vectors searches compare, and the way back to the one before."""

from typing import TYPE_CHECKING, Annotated

import typer

from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.output import AsJson, PageCursor, out, print_json, print_table, run

if TYPE_CHECKING:
    from mnestic.memory.maintenance.embeddings import AgentEmbeddings

app = typer.Typer(
    help="Show which model's vectors searches compare, and go back to the model before.",
    no_args_is_help=True,
)
Agent = Annotated[str, typer.Option(help="The agent.")]


@app.command()
def show(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of agents.")] = 100,
    cursor: PageCursor = None,
    as_json: AsJson = False,
) -> None:
    """List agents with their models and numbers of vectors."""

    async def work() -> None:
        async with await connect_client() as client:
            page, next_cursor = await client.maintenance.list_embeddings(limit=limit, cursor=cursor)
        if as_json:
            listed = [one.model_dump(mode="json") for one in page]
            print_json({"agents": listed, "cursor": next_cursor})
            return
        rows = [
            (
                one.agent_id,
                one.active_model or "",
                "" if one.switched_at is None else f"{one.switched_at:%Y-%m-%d %H:%M}",
                one.previous_model or "",
                one.rejected_model or "",
                ", ".join(f"{name} {number}" for name, number in sorted(one.vectors.items())),
                one.entries,
            )
            for one in page
        ]
        columns = ("agent", "active", "since", "previous", "rejected", "vectors", "entries")
        print_table(columns, rows, empty="No agent has entries yet.")
        if next_cursor:
            out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

    run(work())


@app.command("switch-back")
def switch_back(agent: Agent, as_json: AsJson = False) -> None:
    """Have an agent's searches compare the vectors of the model before again."""

    async def work() -> "AgentEmbeddings":
        async with await connect_client() as client:
            return await client.maintenance.switch_embeddings_back(agent)

    _print(run(work()), as_json=as_json)


@app.command()
def accept(agent: Agent, as_json: AsJson = False) -> None:
    """Have the next monthly run try the model again from which an agent was switched back."""

    async def work() -> "AgentEmbeddings":
        async with await connect_client() as client:
            return await client.maintenance.accept_embeddings(agent)

    _print(run(work()), as_json=as_json)


def _print(state: "AgentEmbeddings", *, as_json: bool) -> None:
    if as_json:
        print_json(state.model_dump(mode="json"))
        return
    out.print(
        f"{state.agent_id}: searches compare vectors of {state.active_model}.", highlight=False
    )

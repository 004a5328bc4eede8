"""`mnestic collection`: add files to the collections of an agent's contract, search them, and delete documents."""

from pathlib import Path
from typing import Annotated

import typer

from mnestic.memory.jobs.long_term.documents import DocumentPlace
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.known_agents import Agent
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.values import parse_json

app = typer.Typer(
    help="Add files to the collections of an agent's contract, search them, and delete documents.",
    no_args_is_help=True,
)
Collection = Annotated[str, typer.Option(help="A collection of the agent's contract.")]
Metadata = Annotated[
    str, typer.Option(help="JSON of what is known of the documents, or @FILE with it.")
]


@app.command()
def add(
    files: Annotated[list[Path], typer.Argument(help="Markdown, plain text, or PDF.")],
    collection: Collection,
    agent: Agent,
    metadata: Metadata = "{}",
    as_json: AsJson = False,
) -> None:
    """Add files, each as a document under its name; one that is there is replaced."""
    known = parse_json(metadata, what="--metadata")

    async def work() -> None:
        async with await connect_memory() as connection:
            memory = await connection.contract(agent, actor="cli")
            for file in files:
                stored = await memory.upsert_file(collection, file, metadata=known)
                if as_json:
                    print_json(stored.model_dump(mode="json"))
                else:
                    done = "replaced" if stored.replaced else "added"
                    later = "" if stored.embedded else "; its vectors follow once the model answers"
                    out.print(f"{stored.id} is {done}, in {stored.parts} parts{later}.")

    run(work())


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What is searched for.")],
    collection: Collection,
    agent: Agent,
    where: Annotated[
        str | None,
        typer.Option(
            help="""A condition on metadata, such as '{"field": "topic", "value": "a"}'."""
        ),
    ] = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=1000, help="Maximum of results.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the parts of documents that are nearest to a query, with their place."""
    condition = None if where is None else parse_json(where, what="--where")

    async def work() -> None:
        async with await connect_memory() as connection:
            memory = await connection.contract(agent, actor="cli")
            found = await memory.search(query, collection, filter=condition, top_k=top_k)
        if as_json:
            print_json([one.model_dump(mode="json") for one in found])
            return
        rows = [(f"{one.score:.2f}", one.id, _place(one.place), one.content) for one in found]
        columns = ("score", "document", "place", "content")
        print_table(columns, rows, empty="Nothing is near enough.", cut=("content",))

    run(work())


@app.command()
def delete(
    document_id: Annotated[str, typer.Argument(help="The id of the document.")],
    collection: Collection,
    agent: Agent,
    as_json: AsJson = False,
) -> None:
    """Delete a document with all of its parts."""

    async def work() -> None:
        async with await connect_memory() as connection:
            memory = await connection.contract(agent, actor="cli")
            await memory.delete_document(collection, document_id)
        if as_json:
            print_json({"deleted": document_id})
        else:
            out.print(f"{document_id} is deleted.")

    run(work())


def _place(place: DocumentPlace) -> str:
    """Where a part stands, as people read it."""
    at = f"line {place.line}" if place.page is None else f"page {place.page}"
    return " / ".join((*place.headings, at))

"""`mnestic memory do`: an operation of the agent's contract, by its name."""

from typing import Annotated, Any

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.memory_operations import OPERATIONS
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.known_agents import Agent
from mnestic.starter.cli.output import print_json, run
from mnestic.starter.cli.values import parse_json


def do(
    operation: Annotated[str, typer.Argument(help="Its name, such as persist or get_shared.")],
    agent: Agent,
    arguments: Annotated[
        str, typer.Argument(help="What it is given: a JSON object, or @FILE with one.")
    ] = "{}",
    session: Annotated[
        str | None, typer.Option(help="The session whose segment it is about.")
    ] = None,
) -> None:
    """Do an operation of the agent's contract, and print what it gives as JSON."""
    given = parse_json(arguments, what="arguments")
    if not isinstance(given, dict):
        raise InvalidInputError(what="arguments", why="is no JSON object")
    found = next((name for name in OPERATIONS if name == operation), None)
    if found is None:
        why = f"{operation!r} is none of {', '.join(OPERATIONS)}"
        raise InvalidInputError(what="operation", why=why)

    async def work() -> Any:
        async with await connect_memory() as connection:
            operations = connection.memory(agent, actor="cli").operations
            result = await operations.do(found, given, session_id=session)
        return result.model_dump(mode="json")

    print_json(run(work()))

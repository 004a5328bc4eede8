"""`mnestic memory parked`: messages that could not be learned from, and what becomes of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mnestic.memory.errors import NotFoundError
from mnestic.memory.knowledge.ingestion import PendingMessage
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import the_one
from mnestic.starter.cli.known_agents import Agent, known_memory, warned
from mnestic.starter.cli.output import (
    AsJson,
    counted,
    out,
    print_delay,
    print_json,
    print_table,
    run,
)
from mnestic.starter.pagination import list_all

if TYPE_CHECKING:
    from mnestic.starter.client.memory_client import MemoryClient

app = typer.Typer(help="Messages that could not be learned from.", no_args_is_help=True)
Names = Annotated[
    list[str] | None, typer.Argument(help="SESSION/MESSAGE, as listed; all without any.")
]


@app.command("list")
def list_(agent: Agent, as_json: AsJson = False) -> None:
    """List parked messages with their reasons, and how many wait, and why."""

    async def work() -> None:
        from mnestic.starter.client.ingest_status import find_delay

        async with await connect_client() as client, warned(client, agent):
            found = await _parked(client.memory(agent), None)
            waiting = (await client.memory(agent).messages.count()).waiting
            delay = await find_delay(client, agent_id=agent)
        why = delay.why if delay else None
        if as_json:
            parked = [lesson.model_dump(mode="json") for lesson in found]
            print_json({"parked": parked, "waiting": waiting, "delay": why})
            return
        rows = [(lesson.name, lesson.reason or "") for lesson in found]
        print_table(("message", "reason"), rows, empty="Nothing is parked.", ids=("message",))
        if waiting or why:
            out.print(f"{waiting} wait to be learned from{f': {why}' if why else ''}.")

    run(work())


@app.command()
def retry(agent: Agent, names: Names = None, as_json: AsJson = False) -> None:
    """Learn from parked messages again."""

    async def work() -> None:
        from mnestic.starter.client.ingest_status import wait_for_learning
        from mnestic.starter.client.ingestion import start_ingest

        async with await connect_client() as client, warned(client, agent):
            memory = client.memory(agent)
            number = await memory.parked.retry(await _parked(memory, names))
            handle = await start_ingest(client, agent_id=agent)
            await wait_for_learning(client, handle, tell=print_delay)
            left = len(await _parked(memory, None))
        if as_json:
            print_json({"retried": number, "parked": left})
        else:
            out.print(f"{counted(number, 'messages')} tried again; {left} parked.")

    run(work())


@app.command()
def drop(agent: Agent, names: Names = None, as_json: AsJson = False) -> None:
    """Give parked messages up; the raw messages stay."""

    async def work() -> None:
        async with known_memory(agent) as memory:
            number = await memory.parked.drop(await _parked(memory, names))
        if as_json:
            print_json({"dropped": number})
        else:
            out.print(f"{counted(number, 'messages')} dropped.")

    run(work())


async def _parked(
    memory: "MemoryClient", names: Sequence[str] | None
) -> tuple[PendingMessage, ...]:
    """The parked messages of these names, or all.

    Raises:
        NotFoundError: no message of a name is parked.
    """
    parked = await list_all(memory.parked.list)
    if not names:
        return parked
    by_name = {lesson.name: lesson for lesson in parked}
    chosen = []
    for name in names:
        whole = the_one("parked message", name, [one for one in by_name if one.startswith(name)])
        if whole not in by_name:
            raise NotFoundError(what="parked message", name=name)
        chosen.append(by_name[whole])
    return tuple(chosen)

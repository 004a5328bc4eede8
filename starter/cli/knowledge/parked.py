"""`mnestic memory parked`: messages whose extraction failed; list, retry or drop them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mnestic.memory.errors import NotFoundError
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import resolve_id
from mnestic.starter.cli.known_agents import Agent, open_agent_memory, warn_if_unknown
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

app = typer.Typer(
    help="List, retry and drop messages that extraction failed on.", no_args_is_help=True
)
Names = Annotated[
    list[str] | None, typer.Argument(help="SESSION/MESSAGE, as listed; default: all.")
]


@app.command("list")
def list_(agent: Agent, as_json: AsJson = False) -> None:
    """List parked messages with their reasons, and count those that wait for extraction."""

    async def work() -> None:
        from mnestic.starter.client.ingest_status import find_delay

        async with await connect_client() as client, warn_if_unknown(client, agent):
            parked_messages = await _parked(client.memory(agent), None)
            waiting = (await client.memory(agent).messages.count()).waiting
            delay = await find_delay(client, agent_id=agent)
        why = delay.why if delay else None
        if as_json:
            parked = [message.model_dump(mode="json") for message in parked_messages]
            print_json({"parked": parked, "waiting": waiting, "delay": why})
            return
        rows = [(message.name, message.reason or "") for message in parked_messages]
        print_table(("message", "reason"), rows, empty="Nothing is parked.", ids=("message",))
        if waiting or why:
            out.print(f"Waiting for extraction: {waiting}{f', {why}' if why else ''}.")

    run(work())


@app.command()
def retry(agent: Agent, names: Names = None, as_json: AsJson = False) -> None:
    """Try extraction from parked messages again."""

    async def work() -> None:
        from mnestic.starter.client.ingest_status import wait_for_end
        from mnestic.starter.client.ingestion import start_ingest

        async with await connect_client() as client, warn_if_unknown(client, agent):
            memory = client.memory(agent)
            number = await memory.parked.retry(await _parked(memory, names))
            handle = await start_ingest(client, agent_id=agent)
            await wait_for_end(client, handle, report=print_delay)
            still_parked = len(await _parked(memory, None))
        if as_json:
            print_json({"retried": number, "parked": still_parked})
        else:
            out.print(f"{counted(number, 'messages')} tried again; {still_parked} parked.")

    run(work())


@app.command()
def drop(agent: Agent, names: Names = None, as_json: AsJson = False) -> None:
    """Drop parked messages; the raw messages stay."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            number = await memory.parked.drop(await _parked(memory, names))
        if as_json:
            print_json({"dropped": number})
        else:
            out.print(f"{counted(number, 'messages')} dropped.")

    run(work())


async def _parked(
    memory: "MemoryClient", names: Sequence[str] | None
) -> tuple[IncomingMessage, ...]:
    """The parked messages of these names, or all.

    Raises:
        NotFoundError: no message of a name is parked.
    """
    parked = await list_all(memory.parked.list)
    if not names:
        return parked
    by_name = {message.name: message for message in parked}
    selected = []
    for name in names:
        full_name = resolve_id(
            "parked message",
            name,
            [name_listed for name_listed in by_name if name_listed.startswith(name)],
        )
        if full_name not in by_name:
            raise NotFoundError(what="parked message", name=name)
        selected.append(by_name[full_name])
    return tuple(selected)

"""Who reads an agent's memory is warned where nothing was ever written of it: its name may be misspelt.

It stands alone because every command that reads says so alike, and those that write do not: an agent begins with
what is written first.
"""

import difflib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mnestic.memory.errors import NotFoundError
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.output import print_warning
from mnestic.starter.pagination import list_all

if TYPE_CHECKING:
    from mnestic.starter.client.memory_client import MemoryClient
    from mnestic.starter.client.memory_connection import MemoryConnection

Agent = Annotated[str, typer.Option(help="The agent whose memory it is.")]

_NEAR = 0.6  # of 1; two of three letters are the same
_MOST_NAMED = 5  # agents, where none has such a name


@asynccontextmanager
async def known_memory(agent: str) -> AsyncIterator["MemoryClient"]:
    """The memory of an agent, to be read; warns where there is none, as `warned`.

    Raises:
        MnesticError: a setting is wrong, or the database does not answer.
    """
    async with await connect_memory() as connection, warned(connection, agent):
        yield connection.memory(agent)


@asynccontextmanager
async def warned(connection: "MemoryConnection", agent: str | None) -> AsyncIterator[None]:
    """Warns on standard error, once the reading within is done, where nothing was ever written of the agent.

    Raises:
        NotFoundError: something was not found, and says of an unknown agent that it is.
    """
    try:
        yield
    except NotFoundError as error:
        why = None if agent is None else await _unknown(connection, agent)
        if why is None:
            raise
        raise NotFoundError(what=error.what, name=f"{error.name}; {why}") from None
    why = None if agent is None else await _unknown(connection, agent)
    if why is not None:
        print_warning(why)


async def _unknown(connection: "MemoryConnection", agent: str) -> str | None:
    """Why there is nothing to read of an agent, and the nearest that there is; None of one who has a memory."""
    found, _ = await connection.list_agents(agent_id=agent)
    if found:
        return None
    known = [one.agent_id for one in await list_all(connection.list_agents)]
    tenant = connection.settings.tenant_id
    others = _others(agent, known)
    return f"nothing was ever written of agent {agent} in tenant {tenant}; {others}"


def _others(agent: str, known: list[str]) -> str:
    by_folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(agent.casefold(), by_folded, n=1, cutoff=_NEAR)
    if near:
        return f"did you mean {by_folded[near[0]]}?"
    if not known:
        return "no agent of it has a memory yet"
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    return f"its agents are {', '.join(known[:_MOST_NAMED])}{more}, see: mnestic agents"

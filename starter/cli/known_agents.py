"""Warns when a command reads an agent without memory, whose name may be misspelt.

Every command that reads warns alike. Commands that write do not warn: an agent begins with its first write.
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

Agent = Annotated[str, typer.Option(help="The agent whose memory is used.")]
Reader = Annotated[
    str | None, typer.Option(help="Show what this reader may read, such as user.anna.")
]
Asker = Annotated[
    str | None, typer.Option(help="Whom the question means by I, by name; default: the reader.")
]
Readers = Annotated[
    list[str] | None,
    typer.Option(
        help="Who alone may read it: an id, or a pattern such as user.sales.*; may be repeated."
    ),
]

_MIN_SIMILARITY = 0.6  # of 1; two of three letters are the same
_MAX_LISTED = 5  # agents, where none has such a name


def check_readers(readers: list[str] | None) -> tuple[str, ...] | None:
    """The readers that a command names, before anything is read.

    Raises:
        InvalidInputError: one is no id or pattern, or there are too many.
    """
    from mnestic.memory.sharing.readers import Readers as ReaderSet
    from mnestic.starter.cli.values import parse_as

    given: tuple[str, ...] | None = parse_as(ReaderSet, readers, what="--readers")
    return given


@asynccontextmanager
async def open_agent_memory(
    agent: str, *, reader: str | None = None
) -> AsyncIterator["MemoryClient"]:
    """Opens the memory of an agent for reading, maybe as a reader may; warns if it has none, as `warn_if_unknown`.

    Raises:
        MnesticError: a setting is wrong, or the database does not answer.
    """
    async with await connect_memory() as connection, warn_if_unknown(connection, agent):
        yield connection.memory(agent, reader=reader)


@asynccontextmanager
async def warn_if_unknown(connection: "MemoryConnection", agent: str | None) -> AsyncIterator[None]:
    """Warns on standard error, after the block has run, if the agent has no memory.

    Raises:
        NotFoundError: something was not found; the message says so if the agent is unknown.
    """
    try:
        yield
    except NotFoundError as error:
        reason = None if agent is None else await _reason_if_unknown(connection, agent)
        if reason is None:
            raise
        raise NotFoundError(what=error.what, name=f"{error.name}; {reason}") from None
    reason = None if agent is None else await _reason_if_unknown(connection, agent)
    if reason is not None:
        print_warning(reason)


async def _reason_if_unknown(connection: "MemoryConnection", agent: str) -> str | None:
    """Why an agent has nothing to read, and the agent with the nearest name; None if it has memory."""
    page, _ = await connection.list_agents(agent_id=agent)
    if page:
        return None
    known = [agent_summary.agent_id for agent_summary in await list_all(connection.list_agents)]
    tenant = connection.settings.tenant_id
    suggestion = _similar_names(agent, known)
    return f"agent {agent} has no memory in tenant {tenant}; {suggestion}"


def _similar_names(agent: str, known: list[str]) -> str:
    by_folded = {name.casefold(): name for name in known}
    closest = difflib.get_close_matches(agent.casefold(), by_folded, n=1, cutoff=_MIN_SIMILARITY)
    if closest:
        return f"did you mean {by_folded[closest[0]]}?"
    if not known:
        return "no agent of the tenant has memory yet"
    more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
    return f"the tenant's agents are {', '.join(known[:_MAX_LISTED])}{more}, see: mnestic agents"

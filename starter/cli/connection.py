"""The commands' ways to a client."""

from typing import TYPE_CHECKING

from mnestic.starter.cli.overrides import command_settings

if TYPE_CHECKING:
    from mnestic.starter.client.memory_connection import MemoryConnection
    from mnestic.starter.client.mnestic_client import MnesticClient


async def connect_client() -> "MnesticClient":
    """Connects with the settings in force; the caller closes it.

    Raises:
        MnesticError: a setting is wrong, or something does not answer.
    """
    from mnestic.starter.client.mnestic_client import MnesticClient

    return await MnesticClient.connect(command_settings())


async def connect_memory() -> "MemoryConnection":
    """Connects to memory alone, in half the time; the caller closes it.

    Raises:
        MnesticError: a setting is wrong, or the database does not answer.
    """
    from mnestic.starter.client.memory_connection import MemoryConnection

    return await MemoryConnection.connect(command_settings())

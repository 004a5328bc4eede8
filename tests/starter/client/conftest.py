"""The memory of an agent, which most tests of the client ask."""

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient


@pytest.fixture
def ada(client: MnesticClient) -> MemoryClient:
    """The memory of one agent."""
    return client.memory("ada")

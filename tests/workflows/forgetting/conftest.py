"""An agent whose memory is told and asked, and how tests find out what is left of a topic."""

from collections.abc import Callable
from functools import partial

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.word_scan import scan_tables

Scan = Callable[..., dict[str, int]]


@pytest.fixture
def scan(admin_url: str, client: MnesticClient) -> Scan:
    """Counts the rows of every table of an agent in which a word stands, in whatever column."""
    return partial(scan_tables, admin_url, tenant=client.settings.tenant_id)


@pytest.fixture
def ada(client: MnesticClient) -> MemoryClient:
    """The memory of one agent."""
    return client.memory("ada")

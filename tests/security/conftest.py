"""Two tenants: one that owns a memory, and one that tries to reach it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from mnestic.starter.client import MnesticClient
from mnestic.starter.settings import Settings

SECRET = "Vasterbotten"


@pytest.fixture
async def victim(
    new_settings: Callable[[Path], Settings], tmp_path: Path
) -> AsyncIterator[MnesticClient]:
    """A client of another tenant, whose agent `ada` remembers something in every kind of store."""
    async with await MnesticClient.connect(new_settings(tmp_path / "victim")) as client:
        memory = client.memory("ada")
        await memory.set("secrets", "place", {"name": SECRET})
        await memory.add(f"I live in {SECRET}.", speaker="Mara", session_id="s1", source_id="v1")
        await memory.add_fact("Mara", "lives_in", SECRET)
        yield client

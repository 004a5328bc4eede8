"""The processes of a runtime, with a guardian of their own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnestic.starter.embedded.process_group import ProcessGroup


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[ProcessGroup]:
    """An empty group, whose processes end with the test."""
    async with ProcessGroup(tmp_path / "guardian.log") as processes:
        yield processes

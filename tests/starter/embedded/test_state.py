"""The state file: whole, private, and believed only while its runtime lives."""

import stat
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from mnestic.starter.embedded.state import (
    FILE_NAME,
    RuntimeState,
    read_last_state,
    read_state,
    write_state,
)


@pytest.fixture
def ours() -> RuntimeState:
    me = psutil.Process()
    return RuntimeState(
        pid=me.pid, create_time=me.create_time(), started_at=datetime.now(UTC), ready=True
    )


def test_the_state_of_a_living_runtime_is_read_back(tmp_path: Path, ours: RuntimeState) -> None:
    write_state(tmp_path, ours)

    assert read_state(tmp_path) == ours
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_a_runtime_that_died_is_not_running(tmp_path: Path, ours: RuntimeState) -> None:
    write_state(tmp_path, ours.model_copy(update={"create_time": ours.create_time - 3600}))

    assert read_state(tmp_path) is None
    assert read_last_state(tmp_path) is not None


@pytest.mark.parametrize("content", [None, b"", b"{}", b"{nonsense"])
def test_a_missing_or_foreign_file_is_no_state(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / FILE_NAME).write_bytes(content)

    assert read_last_state(tmp_path) is None

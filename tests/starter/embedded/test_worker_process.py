"""A worker is ready when Temporal sees it poll, and is killed without the others noticing."""

import sys
from pathlib import Path

import pytest

from mnestic.memory.errors import ProcessCrashedError
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup
from mnestic.starter.embedded.process_wiring import ProcessWiring
from mnestic.starter.embedded.state import RuntimeState
from mnestic.starter.embedded.worker_process import next_port, start_worker_process


@pytest.fixture
def target(servers: RuntimeState) -> str:
    return str(servers.temporal_address)


def wiring(target: str, data_dir: Path) -> ProcessWiring:
    return ProcessWiring(
        database_admin_url="postgresql://unused",
        database_url="postgresql://unused",
        temporal_address=target,
        temporal_ui="http://127.0.0.1:8233",
        embedded=True,
        task_queue="some-queue",
        data_dir=data_dir,
    )


async def start(
    processes: ProcessGroup, target: str, data_dir: Path, *, code: str
) -> ManagedProcess:
    return await start_worker_process(
        processes, wiring(target, data_dir), command=(sys.executable, "-c", code)
    )


async def test_a_worker_that_ends_before_it_polls_is_reported(
    tmp_path: Path, processes: ProcessGroup, target: str
) -> None:
    with pytest.raises(ProcessCrashedError, match="worker ended by itself with exit code 3"):
        await start(processes, target, tmp_path, code="raise SystemExit(3)")


async def test_keys_of_another_server_are_kept_from_the_embedded_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_API_KEY", "of a cloud")

    environment = wiring("127.0.0.1:7233", tmp_path).environment()

    assert "TEMPORAL_API_KEY" not in environment
    assert environment["TEMPORAL_ADDRESS"] == "127.0.0.1:7233"
    assert environment["MNESTIC_TEMPORAL_UI_URL"] == "http://127.0.0.1:8233"  # pages link to it


@pytest.mark.parametrize(
    ("address", "next_one"),
    [("0.0.0.0:9464", "0.0.0.0:9465"), ("[::1]:9464", "[::1]:9465"), ("nowhere", "nowhere")],
)
async def test_metrics_of_maintenance_are_at_the_next_port(address: str, next_one: str) -> None:
    assert next_port(address) == next_one

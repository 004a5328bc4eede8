"""A data directory of an older version: its jobs still wait, and this version's code resumes them.

`upgrades/VERSION` holds what that version's own code left behind when it was stopped: the rows of its
database as SQL, and the file of its Temporal. It is recorded once, and never changed.
"""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from mnestic.memory.jobs.waits import ResumeReceipt
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.migration import upgrade

pytestmark = pytest.mark.nightly

LIMIT_S = 300.0
OF_0_1_0 = Path(__file__).parent / "upgrades" / "0.1.0"
ODD = {
    "numbers": [
        1e16,
        1e-7,
        1.5,
        0.1,
        1e22,
        5e-324,
        123456789012345678901234567890,
        -0.0,
        1.0,
        2**63,
    ],
    "texts": ["\u2028", "😀", "é", "e\u0301", "\x7f"],
    "é": 1,
    "z": 2,
    "😀": 3,
}
YES = {"by": "Ana"}


def rows_of_0_1_0(admin_url: str) -> None:
    """Makes the schema of 0.1.0, with the rows that it left."""
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(admin_url), poolclass=NullPool
    )
    with engine.begin() as connection:
        upgrade(connection, to="0001")
    with psycopg.connect(admin_url) as connection:
        connection.execute((OF_0_1_0 / "rows.sql").read_bytes())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory as 0.1.0 left it."""
    data = tmp_path_factory.mktemp("upgraded") / "data"
    data.mkdir()
    packed = (OF_0_1_0 / "temporal.db.gz").read_bytes()
    (data / "temporal.db").write_bytes(gzip.decompress(packed))

    async def load() -> None:
        settings = Settings(data_dir=data)
        async with EmbeddedRuntime(
            settings, report=lambda _: None, migrate=rows_of_0_1_0, start_worker=False
        ):
            pass

    asyncio.run(load())
    return data


@pytest.fixture(scope="module")
def up(start_up: Callable[..., Any], data: Path) -> Any:
    """This version, started on that directory."""
    return start_up(data)


@pytest.fixture
async def upgraded(up: Any) -> AsyncIterator[MnesticClient]:
    """A client of this version, on that directory."""
    async with await MnesticClient.connect(Settings(data_dir=up.data)) as client:
        yield client


@pytest.fixture
def until_waits(upgraded: MnesticClient) -> Callable[[str, int], Awaitable[None]]:
    """Waits until a job is at its n-th wait."""

    async def until(job_id: str, number: int) -> None:
        async with asyncio.timeout(LIMIT_S):
            while (job := await upgraded.describe_job(job_id)).state != "waiting" or len(
                job.waits
            ) != number:
                assert job.closed_at is None, f"job {job_id} ended as {job.state}"
                await asyncio.sleep(0.05)

    return until


async def _memory_of(client: MnesticClient, job_id: str, session_id: str = "s1") -> WorkingMemory:
    return await client.memory(f"buyer-{job_id}").working_memory.get(session_id)


async def test_a_job_goes_on_with_its_memory_and_is_told_what_changed(
    upgraded: MnesticClient, until_waits: Any
) -> None:
    await upgraded.memory("buyer-drifted").records.set("orders", "drifted", {"price": 12})

    different = await upgraded.diff_job("drifted")
    receipt = await upgraded.resume_job("drifted", YES, outcome="approved")
    await until_waits("drifted", 2)
    state = await _memory_of(upgraded, "drifted")
    last = await upgraded.resume_job("drifted")
    result = await upgraded.wait_for_result("drifted")

    assert [change.key for change in different.records] == ["drifted"]
    assert receipt is not None
    assert (receipt.verified, receipt.drift_count) == (True, 1)
    (told,) = state.variables["drift"]
    assert told["before"] == {"price": 10, "note": "Ana"}
    assert told["now"] == {"price": 12}
    assert state.variables["odd"] == ODD
    assert state.scratchpad == "héllo \u2028 😀"
    assert [message.content for message in state.messages] == [
        "Please order for Ana.",
        "Approved by Ana.",
    ]
    assert last is not None
    assert last.drift_count == 0
    assert result.waits == 2


async def test_a_late_duplicate_gets_the_receipt_that_0_1_0_gave(
    upgraded: MnesticClient,
) -> None:
    first = ResumeReceipt.model_validate_json((OF_0_1_0 / "receipt.json").read_bytes())

    again = await upgraded.resume_job("second", YES, outcome="approved", request_id="r1")
    await upgraded.resume_job("second")
    result = await upgraded.wait_for_result("second")
    after_all = await upgraded.resume_job("second", YES, outcome="approved", request_id="r1")

    assert again == after_all == first
    assert result.waits == 2


async def test_a_request_that_0_1_0_had_no_worker_for_is_taken(
    upgraded: MnesticClient, until_waits: Any
) -> None:
    await until_waits("signalled", 2)

    state = await _memory_of(upgraded, "signalled")
    first, _ = (await upgraded.describe_job("signalled")).waits
    assert first.receipt is not None
    assert first.receipt.request_id == "mail-1"
    assert state.messages[-1].content == "Approved by Ben."


async def test_a_job_is_forked_from_a_wait_of_0_1_0(
    upgraded: MnesticClient, until_waits: Any
) -> None:
    await upgraded.fork_job("forked", wait=1, as_job="fork")
    await until_waits("fork", 1)
    receipt = await upgraded.resume_job("fork", YES, outcome="approved")
    await until_waits("fork", 2)

    state = await _memory_of(upgraded, "forked", "fork")
    assert receipt is not None
    assert receipt.drift_count == 0
    assert state.variables["odd"] == ODD
    assert state.messages[-1].content == "Approved by Ana."
    assert (await upgraded.describe_job("forked")).state == "waiting"


async def test_a_job_is_poked_into_a_run_of_this_version(
    upgraded: MnesticClient, until_waits: Any
) -> None:
    handle = upgraded.temporal.get_workflow_handle(job_workflow_id("default", "poked"))
    old, before = (await handle.describe()).run_id, await upgraded.describe_job("poked")

    await upgraded.poke_job("poked")
    async with asyncio.timeout(LIMIT_S):
        while (await handle.describe()).run_id == old:  # noqa: ASYNC110 - Temporal tells of none
            await asyncio.sleep(0.05)
    after = await upgraded.describe_job("poked")
    receipt = await upgraded.resume_job("poked", YES, outcome="approved", wait_id="poked/w1")
    await until_waits("poked", 2)

    assert after.deadline == before.deadline
    assert receipt is not None
    assert receipt.verified


def test_a_job_is_cancelled_and_its_timeline_told(up: Any) -> None:
    up.asked("job", "cancel", "cancelled")

    ended = up.until_job("cancelled", "cancelled")
    timeline = up.asked("job", "history", "cancelled")

    assert [wait["state"] for wait in ended["waits"]] == ["cancelled"]
    assert {entry["what"] for entry in timeline["entries"]} >= {"started", "wait_opened", "ended"}

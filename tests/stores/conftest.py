"""What each store's conformance tests need; another implementation joins by a name in `memory`."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.jobs.snapshots import MemorySnapshot
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt, ResumptionContext
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.transactions import Begin  # noqa: F401 - for the tests beside it

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["postgres"])
async def memory(request: pytest.FixtureRequest, application_url: str) -> AsyncIterator[Memory]:
    """Each implementation of `Memory`, connected as the application."""
    assert request.param == "postgres"
    memory = PostgresMemory(application_url, pool_size=5)
    yield memory
    await memory.close()


@pytest.fixture
def owner(admin_url: str) -> Iterator[psycopg.Connection[TupleRow]]:
    """The database as its owner sees it, past row-level security."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def trail(
    owner: psycopg.Connection[TupleRow], settings: Settings
) -> Callable[[], list[tuple[str, str]]]:
    """Actions and targets of this tenant's audit log, oldest first."""

    def read() -> list[tuple[str, str]]:
        return owner.execute(
            "SELECT action, target FROM mnestic.audit_log WHERE tenant_id = %s ORDER BY id",
            [settings.tenant_id],
        ).fetchall()

    return read


@pytest.fixture
def revision(owner: psycopg.Connection[TupleRow], settings: Settings) -> Callable[[], int]:
    """The revision of this test's agent."""

    def read() -> int:
        row = owner.execute(
            "SELECT revision FROM mnestic.agent_revision WHERE tenant_id = %s AND agent_id = 'ada'",
            [settings.tenant_id],
        ).fetchone()
        return row[0] if row else 0

    return read


@pytest.fixture
def count(owner: psycopg.Connection[TupleRow], settings: Settings) -> Callable[[str], int]:
    """How many rows of this tenant a table has."""

    def read(table: str) -> int:
        query = psycopg.sql.SQL("SELECT count(*) FROM mnestic.{} WHERE tenant_id = %s")
        row = owner.execute(
            query.format(psycopg.sql.Identifier(table)), [settings.tenant_id]
        ).fetchone()
        assert row is not None
        return int(row[0])

    return read


@pytest.fixture
def snapshot() -> MemorySnapshot:
    """A small snapshot."""
    return MemorySnapshot(
        working_memory=WorkingMemory(version=3, variables={"city": "Malmö"}), snapshot_at=NOON
    )


@pytest.fixture
def make_wait(settings: Settings) -> Callable[..., JobWait]:
    """Makes a wait of job `j1`, by number."""

    def make(number: int = 1, **fields: Any) -> JobWait:
        values = {
            "wait_id": f"j1/w{number}",
            "job_id": "j1",
            "scope": Scope(tenant_id=settings.tenant_id, agent_id="ada", session_id="s1"),
            "key": "approval",
            "state": "waiting",
            "policy": "rebase",
            "snapshot_id": f"snapshot-{number}",
            "context": ResumptionContext(
                cursor_node="approval", payload_results={"note": {"n": 1}}, plan_decision_id="p"
            ),
            "deadline": NOON + timedelta(days=21),
            "opened_at": NOON + timedelta(minutes=number),
        }
        return JobWait.model_validate(values | fields)

    return make


@pytest.fixture
def make_receipt() -> Callable[..., ResumeReceipt]:
    """Makes the receipt of a request that resumed a wait of job `j1`."""

    def make(request_id: str = "r1", number: int = 1) -> ResumeReceipt:
        return ResumeReceipt(
            request_id=request_id,
            job_id="j1",
            wait_id=f"j1/w{number}",
            outcome="resumed",
            snapshot_id=f"snapshot-{number}",
            snapshot_sha256="a" * 64,
            restored_at=NOON,
            drift_count=0,
        )

    return make

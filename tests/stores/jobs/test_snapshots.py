"""Memory snapshots, in every implementation of `Memory`."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.errors import (
    AlreadyExistsError,
    NotFoundError,
    SchemaVersionError,
    SnapshotCorruptedError,
    StoredValueError,
)
from mnestic.memory.jobs.snapshots import SNAPSHOT_SCHEMA_VERSION, MemorySnapshot, SnapshotRef, seal
from mnestic.memory.jobs.working_memory import Message, WorkingMemory
from mnestic.starter.settings import Settings
from tests.stores.conftest import Begin

Tamper = Callable[[str, list[Any]], None]


@pytest.fixture
def tamper(owner: psycopg.Connection[TupleRow], settings: Settings) -> Tamper:
    """Changes the stored snapshot past its trigger, as somebody with the disk could."""

    def tamper(change: str, values: list[Any]) -> None:
        with owner.transaction():
            owner.execute("SET LOCAL session_replication_role = replica")
            changed = owner.execute(
                f"UPDATE mnestic.memory_snapshot SET {change} WHERE tenant_id = %s",
                [*values, settings.tenant_id],
            )
            assert changed.rowcount == 1

    return tamper


async def put(begin: Begin, snapshot: MemorySnapshot, snapshot_id: str = "n1") -> SnapshotRef:
    async with begin() as transaction:
        ref: SnapshotRef = await transaction.snapshots.put(snapshot_id, snapshot.parts, job_id="j1")
    return ref


async def test_a_snapshot_is_kept_once_and_read_as_it_was_put(
    begin: Begin, snapshot: MemorySnapshot
) -> None:
    spoken = Message(id="m", role="user", content="x", at=datetime(2026, 1, 1, tzinfo=UTC))
    working = WorkingMemory(messages=(spoken, spoken))
    snapshot = snapshot.model_copy(update={"working_memory": working})
    ref = await put(begin, snapshot)

    with pytest.raises(AlreadyExistsError, match="n1"):
        await put(begin, snapshot.model_copy(update={"working_memory": WorkingMemory()}))

    async with begin(write=False) as transaction:
        found = await transaction.snapshots.get("n1", sha256=ref.sha256)
        with pytest.raises(NotFoundError, match="n2"):
            await transaction.snapshots.get("n2", sha256=ref.sha256)
    body, sha256 = seal(snapshot.parts)
    assert found.read() == snapshot
    assert (ref.sha256, ref.size_bytes) == (sha256, len(body))
    assert (ref.message_count, ref.episode_count, ref.record_count) == (2, 0, 0)
    assert (ref.memory_revision, ref.schema_version) == (1, SNAPSHOT_SCHEMA_VERSION)


FORGED, OF_FORGED = seal(
    MemorySnapshot(
        working_memory=WorkingMemory(), snapshot_at=datetime(2026, 1, 2, tzinfo=UTC)
    ).parts
)


@pytest.mark.parametrize(
    ("change", "values", "error"),
    [
        ("body = set_byte(body, 9, get_byte(body, 9) # 1)", [], SnapshotCorruptedError),
        ("body = %s, sha256 = %s", [FORGED, OF_FORGED], SnapshotCorruptedError),
        ("sha256 = %s", ["0" * 64], SnapshotCorruptedError),
        ("schema_version = %s", [99], StoredValueError),
    ],
    ids=["body", "body with its hash", "hash", "version"],
)
async def test_what_somebody_changed_is_found_out(
    begin: Begin,
    snapshot: MemorySnapshot,
    tamper: Tamper,
    change: str,
    values: list[Any],
    error: type[Exception],
) -> None:
    ref = await put(begin, snapshot)
    tamper(change, values)

    with pytest.raises(error, match="n1"):
        async with begin(write=False) as transaction:
            await transaction.snapshots.get("n1", sha256=ref.sha256)


async def test_a_snapshot_of_a_newer_version_is_refused_and_says_what_to_do(
    begin: Begin, snapshot: MemorySnapshot, tamper: Tamper
) -> None:
    await put(begin, snapshot)
    newer = canonical_json({"schema_version": SNAPSHOT_SCHEMA_VERSION + 1})
    tamper("body = %s, sha256 = %s", [newer, sha256_hex(newer)])

    with pytest.raises(SchemaVersionError, match="newer"):
        async with begin(write=False) as transaction:
            await transaction.snapshots.get("n1", sha256=sha256_hex(newer))

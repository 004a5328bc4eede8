"""Memory snapshots, in every implementation of `Memory`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
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
from mnestic.memory.ports import Transaction
from mnestic.starter.settings import Settings

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
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


async def test_a_snapshot_is_read_as_it_was_put(begin: Begin, snapshot: MemorySnapshot) -> None:
    ref = await put(begin, snapshot)

    async with begin(write=False) as transaction:
        found = await transaction.snapshots.get("n1", sha256=ref.sha256)
    assert found.read() == snapshot


async def test_the_reference_tells_what_is_needed_to_verify_it(begin: Begin) -> None:
    spoken = Message(id="m", role="user", content="x", at=datetime(2026, 1, 1, tzinfo=UTC))
    snapshot = MemorySnapshot(
        working_memory=WorkingMemory(messages=(spoken, spoken)),
        snapshot_at=datetime(2026, 1, 2, tzinfo=UTC),
    )

    ref = await put(begin, snapshot)

    body, sha256 = seal(snapshot.parts)
    assert (ref.sha256, ref.size_bytes) == (sha256, len(body))
    assert (ref.message_count, ref.episode_count, ref.record_count) == (2, 0, 0)
    assert (ref.memory_revision, ref.schema_version) == (1, SNAPSHOT_SCHEMA_VERSION)


async def test_a_snapshot_is_kept_once(begin: Begin, snapshot: MemorySnapshot) -> None:
    ref = await put(begin, snapshot)

    with pytest.raises(AlreadyExistsError, match="n1"):
        await put(begin, snapshot.model_copy(update={"working_memory": WorkingMemory()}))

    async with begin(write=False) as transaction:
        assert (await transaction.snapshots.get("n1", sha256=ref.sha256)).read() == snapshot


async def test_a_snapshot_that_is_not_there_is_named(begin: Begin) -> None:
    with pytest.raises(NotFoundError, match="n1"):
        async with begin(write=False) as transaction:
            await transaction.snapshots.get("n1", sha256="0" * 64)


async def test_a_snapshot_is_never_changed_not_even_by_the_owner(
    begin: Begin, snapshot: MemorySnapshot, owner: psycopg.Connection[TupleRow]
) -> None:
    ref = await put(begin, snapshot)

    with pytest.raises(psycopg.errors.RaiseException, match="immutable"):
        owner.execute("UPDATE mnestic.memory_snapshot SET body = 'x'")

    async with begin(write=False) as transaction:
        assert (await transaction.snapshots.get("n1", sha256=ref.sha256)).read() == snapshot


async def test_a_changed_body_is_found_out(
    begin: Begin, snapshot: MemorySnapshot, tamper: Tamper
) -> None:
    ref = await put(begin, snapshot)

    tamper("body = set_byte(body, 9, get_byte(body, 9) # 1)", [])

    with pytest.raises(SnapshotCorruptedError, match=ref.sha256) as caught:
        async with begin(write=False) as transaction:
            await transaction.snapshots.get("n1", sha256=ref.sha256)
    assert caught.value.snapshot_id == "n1"


async def test_a_changed_body_is_found_out_though_its_hash_was_changed_with_it(
    begin: Begin, snapshot: MemorySnapshot, tamper: Tamper
) -> None:
    ref = await put(begin, snapshot)
    forged, sha256 = seal(snapshot.model_copy(update={"working_memory": WorkingMemory()}).parts)

    tamper("body = %s, sha256 = %s", [forged, sha256])

    with pytest.raises(SnapshotCorruptedError, match=sha256_hex(forged)):
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


async def test_another_agent_and_another_tenant_see_nothing(
    begin: Begin, snapshot: MemorySnapshot
) -> None:
    ref = await put(begin, snapshot)

    for stranger in (begin(agent="eve", write=False), begin(tenant="other", write=False)):
        async with stranger as transaction:
            with pytest.raises(NotFoundError):
                await transaction.snapshots.get("n1", sha256=ref.sha256)


@pytest.mark.parametrize(
    ("change", "value", "error"),
    [
        ("sha256 = %s", "0" * 64, SnapshotCorruptedError),
        ("schema_version = %s", 99, StoredValueError),
    ],
)
async def test_a_column_beside_the_body_that_was_changed_is_noticed(
    begin: Begin,
    snapshot: MemorySnapshot,
    tamper: Tamper,
    change: str,
    value: object,
    error: type[Exception],
) -> None:
    ref = await put(begin, snapshot)
    tamper(change, [value])

    with pytest.raises(error, match="n1"):
        async with begin(write=False) as transaction:
            await transaction.snapshots.get("n1", sha256=ref.sha256)

"""Memory snapshots in Postgres: canonical bytes beside their hash, never changed."""

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.errors import (
    AlreadyExistsError,
    NotFoundError,
    SnapshotCorruptedError,
    StoredValueError,
)
from mnestic.memory.snapshots import MemorySnapshot, SnapshotRef, seal, unseal
from mnestic.stores.postgres.tables import SnapshotRow, table
from mnestic.stores.postgres.unit import Unit

SNAPSHOT = table(SnapshotRow)


class PostgresSnapshotStore:
    """Implements `mnestic.memory.ports.SnapshotStore`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def put(self, snapshot_id: str, snapshot: MemorySnapshot, *, job_id: str) -> SnapshotRef:
        """See the port."""
        body, sha256 = seal(snapshot)
        revision = await self._unit.revision()
        statement = (
            insert(SNAPSHOT)
            .values(
                **self._unit.owner,
                id=snapshot_id,
                job_id=job_id,
                schema_version=snapshot.schema_version,
                sha256=sha256,
                body=body,
                memory_revision=revision,
                created_at=func.now(),
            )
            .on_conflict_do_nothing()
        )
        if not await self._unit.run(statement):
            raise AlreadyExistsError(what="snapshot", name=snapshot_id)
        self._unit.wrote("snapshot.put", snapshot_id)
        return SnapshotRef(
            id=snapshot_id,
            sha256=sha256,
            size_bytes=len(body),
            schema_version=snapshot.schema_version,
            memory_revision=revision,
            message_count=len(snapshot.working_memory.messages),
            episode_count=len(snapshot.episodic_tail),
            record_count=snapshot.record_count,
            snapshot_at=snapshot.snapshot_at,
        )

    async def get(self, snapshot_id: str, *, sha256: str) -> MemorySnapshot:
        """See the port."""
        row = await self._unit.row(
            select(SNAPSHOT.c.body, SNAPSHOT.c.sha256, SNAPSHOT.c.schema_version).where(
                self._unit.owned(SNAPSHOT), SNAPSHOT.c.id == snapshot_id
            )
        )
        if row is None:
            raise NotFoundError(what="snapshot", name=snapshot_id)
        self._unit.read("snapshot.get", snapshot_id)
        if row.sha256 != sha256:
            raise SnapshotCorruptedError(
                snapshot_id=snapshot_id, expected=sha256, found=f"{row.sha256} in its row"
            )
        snapshot = unseal(row.body, snapshot_id=snapshot_id, sha256=sha256)
        if row.schema_version != snapshot.schema_version:
            why = f"its row says schema {row.schema_version}, its body {snapshot.schema_version}"
            raise StoredValueError(what=f"snapshot {snapshot_id}", why=why)
        return snapshot

"""Memory snapshots in Postgres: canonical bytes beside their hash, never changed."""

from dataclasses import replace

from mnestic.memory.errors import (
    AlreadyExistsError,
    NotFoundError,
    SnapshotCorruptedError,
    StoredValueError,
)
from mnestic.memory.jobs.long_term.records import count_records
from mnestic.memory.jobs.snapshots import (
    SNAPSHOT_SCHEMA_VERSION,
    SealedSnapshot,
    SnapshotParts,
    SnapshotRef,
    VerifiedWait,
    seal,
    unseal,
)
from mnestic.stores.postgres.cursors import check_limit
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_PUT, _GET = read_query("snapshots.put"), read_query("snapshots.get")
_VERIFY_OPEN = read_query("snapshots.verify_open")


class PostgresSnapshotStore:
    """Implements `mnestic.memory.jobs.ports.SnapshotStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def put(self, snapshot_id: str, parts: SnapshotParts, *, job_id: str) -> SnapshotRef:
        """See the port."""
        body, sha256 = seal(parts)
        revision = await self._unit.revision()
        added = await self._unit.write(
            _PUT,
            id=snapshot_id,
            job_id=job_id,
            schema_version=SNAPSHOT_SCHEMA_VERSION,
            sha256=sha256,
            body=body,
            memory_revision=revision,
        )
        if not added:
            raise AlreadyExistsError(what="snapshot", name=snapshot_id)
        self._unit.wrote("snapshot.put", snapshot_id)
        return SnapshotRef(
            id=snapshot_id,
            sha256=sha256,
            size_bytes=len(body),
            schema_version=SNAPSHOT_SCHEMA_VERSION,
            memory_revision=revision,
            message_count=parts.working.message_count,
            episode_count=len(parts.episodic_tail),
            record_count=count_records(parts.read_set),
            snapshot_at=parts.snapshot_at,
        )

    async def get(self, snapshot_id: str, *, sha256: str) -> SealedSnapshot:
        """See the port."""
        row = await self._unit.fetch_one(_GET, id=snapshot_id)
        if row is None:
            raise NotFoundError(what="snapshot", name=snapshot_id)
        self._unit.read("snapshot.get", snapshot_id)
        if row.sha256 != sha256:
            raise SnapshotCorruptedError(
                snapshot_id=snapshot_id, expected=sha256, found=f"{row.sha256} in its row"
            )
        left = row.redacted_sha256 or sha256
        sealed = unseal(row.body, snapshot_id=snapshot_id, sha256=left)
        version = sealed.head.schema_version
        if row.schema_version != version:
            why = f"its row says schema {row.schema_version}, its body {version}"
            raise StoredValueError(what=f"snapshot {snapshot_id}", why=why)
        return replace(sealed, redacted_at=row.redacted_at)

    async def verify_open(self, *, after: str, limit: int) -> tuple[VerifiedWait, ...]:
        """See the port."""
        rows = await self._unit.fetch(_VERIFY_OPEN, after=after, limit=check_limit(limit))
        self._unit.read("snapshot.verify", "*")
        return tuple(VerifiedWait(row.wait_id, row.job_id, row.is_whole) for row in rows)

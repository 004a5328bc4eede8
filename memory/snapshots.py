"""Memory snapshots: what a job had in mind when it began to wait, sealed by a hash.

The form and its check stand alone, without a store, so that a snapshot can be verified wherever its
bytes are, and so that old forms are migrated in one place.
"""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.episodes import Episode
from mnestic.memory.errors import SchemaVersionError, SnapshotCorruptedError
from mnestic.memory.records import LongTermRecord, ReadRecord
from mnestic.memory.working import WorkingMemory

SNAPSHOT_SCHEMA_VERSION = 2
EPISODIC_TAIL = 20  # episodes; enough to tell what happened last, small beside working memory


class MemorySnapshot(BaseModel):
    """Working memory, the latest episodes and the long-term read set at one moment."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = SNAPSHOT_SCHEMA_VERSION
    working_memory: WorkingMemory
    episodic_tail: tuple[Episode, ...] = ()
    read_set: tuple[ReadRecord, ...] = ()
    snapshot_at: AwareDatetime

    @property
    def record_count(self) -> int:
        """How many records the read set holds."""
        return sum(not read.is_namespace for read in self.read_set)


class _Version(BaseModel):
    """What must be known of a snapshot before it can be read."""

    schema_version: int


class SnapshotRef(BaseModel):
    """What a workflow knows of a snapshot: enough to find and to verify it, none of its content."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    sha256: str
    size_bytes: int
    schema_version: int
    memory_revision: int
    message_count: int
    episode_count: int
    record_count: int
    snapshot_at: AwareDatetime


class Drift(BaseModel):
    """One thing that changed in memory between a snapshot and its restore.

    `namespace` and `key` name a long-term record; working memory is `("", "working_memory")`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: Literal["created", "changed", "deleted"]
    namespace: str
    key: str
    snapshot_version: int
    current_version: int


def seal(snapshot: MemorySnapshot) -> tuple[bytes, str]:
    """The canonical bytes of a snapshot and their SHA-256."""
    body = canonical_json(snapshot.model_dump(mode="json"))
    return body, sha256_hex(body)


def unseal(body: bytes, *, snapshot_id: str, sha256: str) -> MemorySnapshot:
    """Verifies the bytes of a snapshot and reads them, in today's form.

    `schema_version` of what is returned is still that of the bytes.

    Raises:
        SnapshotCorruptedError: the bytes are not those that were sealed.
        SchemaVersionError: a newer version of Mnestic wrote them.
    """
    found = sha256_hex(body)
    if found != sha256:
        raise SnapshotCorruptedError(snapshot_id=snapshot_id, expected=sha256, found=found)
    version = _Version.model_validate_json(body).schema_version
    if version == SNAPSHOT_SCHEMA_VERSION:
        return MemorySnapshot.model_validate_json(body)
    if version > SNAPSHOT_SCHEMA_VERSION:
        raise SchemaVersionError(
            found=f"snapshot {version}",
            wanted=f"snapshot {SNAPSHOT_SCHEMA_VERSION} or older",
            mend="run a worker of the version that wrote the snapshot, or a newer one",
        )
    document = json.loads(body)
    for older in range(version, SNAPSHOT_SCHEMA_VERSION):
        document = _UPWARD[older](document)
    return MemorySnapshot.model_validate(document | {"schema_version": version})


def _with_pins(document: dict[str, Any]) -> dict[str, Any]:
    """1 to 2: each record of the read set says whether it is pinned; none was."""
    return document | {"read_set": [read | {"pinned": False} for read in document["read_set"]]}


_UPWARD: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType(
    {1: _with_pins}
)
"""By schema version, the step to the next one."""


def compare(
    snapshot: MemorySnapshot,
    *,
    working_version: int,
    records: dict[tuple[str, str], LongTermRecord],
    versions: dict[tuple[str, str], int],
) -> tuple[Drift, ...]:
    """What changed since the snapshot was taken.

    Args:
        snapshot: The memory as it was.
        working_version: Version of the session's working memory now.
        records: The live records of the read set, by namespace and key.
        versions: The versions of all rows of the read set, deleted and expired ones included.
    """
    drift = []
    for seen in snapshot.read_set:
        name = (seen.namespace, seen.key)
        live, current = records.get(name), versions.get(name, 0)
        was_there = seen.value is not None
        if current == seen.version and (live is not None) == was_there:
            continue
        kind: Literal["created", "changed", "deleted"] = "changed"
        if live is None:
            if not was_there:
                continue
            kind = "deleted"
        elif not was_there:
            kind = "created"
        drift.append(
            Drift(
                kind=kind,
                namespace=seen.namespace,
                key=seen.key,
                snapshot_version=seen.version,
                current_version=current,
            )
        )
    if working_version != snapshot.working_memory.version:
        drift.append(
            Drift(
                kind="changed",
                namespace="",
                key="working_memory",
                snapshot_version=snapshot.working_memory.version,
                current_version=working_version,
            )
        )
    return tuple(drift)

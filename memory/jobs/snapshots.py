"""Memory snapshots: what a job had in mind when it began to wait, sealed by a hash.

A snapshot can be verified wherever its bytes are, without a store, and old forms are migrated in one place.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pydantic import AliasPath, AwareDatetime, ConfigDict, Field, ValidationError

from mnestic.memory.canonical import canonical_json, canonical_object, sha256_hex
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import SchemaVersionError, SnapshotCorruptedError, StoredValueError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord
from mnestic.memory.jobs.working_memory import WorkingDocument, WorkingMemory, WorkingRef

SNAPSHOT_SCHEMA_VERSION = 2
EPISODIC_TAIL = 20  # episodes; enough to tell what happened last, small beside working memory


@dataclass(frozen=True, kw_only=True)
class SnapshotParts:
    """What is to be sealed. Working memory goes in as it is stored, unread."""

    working: WorkingDocument
    episodic_tail: tuple[Episode, ...] = ()
    read_set: tuple[ReadRecord, ...] = ()
    snapshot_at: AwareDatetime


class MemorySnapshot(DeferredModel):
    """Working memory, the latest episodes and the long-term read set at one moment."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = SNAPSHOT_SCHEMA_VERSION
    working_memory: WorkingMemory
    episodic_tail: tuple[Episode, ...] = ()
    read_set: tuple[ReadRecord, ...] = ()
    snapshot_at: AwareDatetime

    @property
    def parts(self) -> SnapshotParts:
        """What it was sealed from."""
        return SnapshotParts(
            working=self.working_memory.document(),
            episodic_tail=self.episodic_tail,
            read_set=self.read_set,
            snapshot_at=self.snapshot_at,
        )


class EpisodeKey(DeferredModel):
    """Which episode it is, and when it was written."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    created_at: AwareDatetime


class SnapshotHead(DeferredModel):
    """What tells whether memory is still as it was: a fraction of the whole to read.

    `working_sha256` is `WorkingRef.sha256` of working memory.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    schema_version: int
    working_version: int
    working_sha256: str
    variables: dict[str, Any] = Field(validation_alias=AliasPath("working_memory", "variables"))
    read_set: tuple[ReadRecord, ...]
    episodic_tail: tuple[EpisodeKey, ...] = ()
    snapshot_at: AwareDatetime

    @property
    def working(self) -> WorkingRef:
        """Which state working memory was in."""
        return WorkingRef(version=self.working_version, sha256=self.working_sha256)


class _Whole(MemorySnapshot):
    """The form of the bytes, in which working memory is as it was stored."""

    working_version: int
    last_checkpoint: str | None


class _Tail(DeferredModel):
    """The episodes of the bytes."""

    episodic_tail: tuple[Episode, ...]


class _Version(DeferredModel):
    """What must be known of a snapshot before it can be read."""

    schema_version: int


class SnapshotRef(DeferredModel):
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


class VerifiedWait(NamedTuple):
    """An open wait, and whether its snapshot is there with the bytes of its hash."""

    wait_id: str
    job_id: str
    is_whole: bool


class Drift(DeferredModel):
    """One thing that changed in memory between a snapshot and its restore.

    `namespace` and `key` name a long-term record; working memory is `("", "working_memory")`, an episode
    that was written during the wait `("", "episode/ID")`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: Literal["created", "changed", "deleted"]
    namespace: str
    key: str
    snapshot_version: int
    current_version: int


def seal(parts: SnapshotParts) -> tuple[bytes, str]:
    """The canonical bytes of a snapshot and their SHA-256."""
    members = {
        "episodic_tail": [episode.model_dump(mode="json") for episode in parts.episodic_tail],
        "last_checkpoint": parts.working.last_checkpoint,
        "read_set": [read.model_dump(mode="json") for read in parts.read_set],
        "schema_version": SNAPSHOT_SCHEMA_VERSION,
        "snapshot_at": parts.snapshot_at.isoformat(),
        "working_sha256": parts.working.ref.sha256,
        "working_version": parts.working.version,
    }
    written = {name: canonical_json(value) for name, value in members.items()}
    body = canonical_object(written | {"working_memory": parts.working.body})
    return body, sha256_hex(body)


@dataclass(frozen=True, kw_only=True)
class SealedSnapshot:
    """The bytes of a snapshot, which were verified, in today's form.

    Those of one that was `redacted_at` a moment, because something in it was forgotten, are what was left
    of it, verified by the hash that it got then.
    """

    id: str
    head: SnapshotHead
    body: bytes
    redacted_at: datetime | None = None

    def read(self) -> MemorySnapshot:
        """All of it. `schema_version` is that in which it was sealed.

        Raises:
            StoredValueError: what was sealed is no memory.
        """
        try:
            found = _Whole.model_validate_json(self.body)
        except ValidationError as error:
            raise _unreadable(self.id, error) from None
        current = {"version": found.working_version, "last_checkpoint": found.last_checkpoint}
        return MemorySnapshot(
            schema_version=found.schema_version,
            working_memory=found.working_memory.model_copy(update=current),
            episodic_tail=found.episodic_tail,
            read_set=found.read_set,
            snapshot_at=found.snapshot_at,
        )

    def tail(self) -> tuple[Episode, ...]:
        """The episodes alone, newest first.

        Raises:
            StoredValueError: what was sealed is no memory.
        """
        try:
            return _Tail.model_validate_json(self.body).episodic_tail
        except ValidationError as error:
            raise _unreadable(self.id, error) from None


def unseal(body: bytes, *, snapshot_id: str, sha256: str) -> SealedSnapshot:
    """Verifies the bytes of a snapshot and brings them into today's form.

    Raises:
        SnapshotCorruptedError: the bytes are not those that were sealed.
        SchemaVersionError: a newer version of Mnestic wrote them.
        StoredValueError: what was sealed is no memory.
    """
    found = sha256_hex(body)
    if found != sha256:
        raise SnapshotCorruptedError(snapshot_id=snapshot_id, expected=sha256, found=found)
    try:
        head = SnapshotHead.model_validate_json(body)
    except ValidationError:  # it is in another form
        body = _upward(body, snapshot_id)
        head = _head(body, snapshot_id)
    _refuse_newer(head.schema_version)
    return SealedSnapshot(id=snapshot_id, head=head, body=body)


def _head(body: bytes, snapshot_id: str) -> SnapshotHead:
    try:
        return SnapshotHead.model_validate_json(body)
    except ValidationError as error:
        raise _unreadable(snapshot_id, error) from None


def _upward(body: bytes, snapshot_id: str) -> bytes:
    """The bytes of an older snapshot in today's form, with the version in which it was sealed."""
    try:
        version = _Version.model_validate_json(body).schema_version
    except ValidationError as error:
        raise _unreadable(snapshot_id, error) from None
    _refuse_newer(version)
    document = json.loads(body)
    for older in range(version, SNAPSHOT_SCHEMA_VERSION):
        document = _UPWARD[older](document)
    return canonical_json(document)


def _refuse_newer(version: int) -> None:
    if version > SNAPSHOT_SCHEMA_VERSION:
        raise SchemaVersionError(
            found=f"snapshot {version}",
            wanted=f"snapshot {SNAPSHOT_SCHEMA_VERSION} or older",
            remedy="run a worker of the version that wrote the snapshot, or a newer one",
        )


def _unreadable(snapshot_id: str, error: ValidationError) -> StoredValueError:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return StoredValueError(what=f"snapshot {snapshot_id}", why=f"{where}: {first['msg']}")


def _with_pins(document: dict[str, Any]) -> dict[str, Any]:
    """1 to 2: a read record says whether it is pinned; working memory is as stored, with its hash."""
    working = dict(document["working_memory"])
    version, checkpoint = working.pop("version"), working.pop("last_checkpoint", None)
    return document | {
        "read_set": [read | {"pinned": False} for read in document["read_set"]],
        "working_memory": working,
        "working_sha256": sha256_hex(canonical_json(working)),
        "working_version": version,
        "last_checkpoint": checkpoint,
    }


_UPWARD: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType(
    {1: _with_pins}
)
"""By schema version, the step to the next one."""


def compare(
    head: SnapshotHead,
    *,
    working: WorkingRef,
    records: dict[tuple[str, str], LongTermRecord],
    versions: dict[tuple[str, str], int],
) -> tuple[Drift, ...]:
    """What changed since the snapshot was taken.

    Args:
        head: The memory as it was.
        working: The session's working memory now.
        records: The live records of the read set, by namespace and key.
        versions: The versions of all rows of the read set, deleted and expired ones included.
    """
    drift = []
    for seen in (read for read in head.read_set if not read.is_namespace):
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
    if working.sha256 != head.working_sha256:  # a version more alone is another job's checkpoint
        drift.append(
            Drift(
                kind="changed",
                namespace="",
                key="working_memory",
                snapshot_version=head.working_version,
                current_version=working.version,
            )
        )
    return tuple(drift)


def episode_key(episode_id: str) -> str:
    """How an episode is named in a drift."""
    return f"episode/{episode_id}"


def newer_episodes(
    tail: Sequence[EpisodeKey], now: Sequence[Episode], *, full: int = EPISODIC_TAIL
) -> tuple[Episode, ...]:
    """The episodes of today's tail that were written after a sealed one.

    Args:
        tail: The sealed tail, newest first.
        now: Today's, newest first.
        full: How many a tail has at most; of one that is full, what is older than its last is not newer.
    """
    known = {each.id for each in tail}
    oldest = (tail[-1].created_at, tail[-1].id) if len(tail) >= full else None
    return tuple(
        each
        for each in now
        if each.id not in known and (oldest is None or (each.created_at, each.id) > oldest)
    )

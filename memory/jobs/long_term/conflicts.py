"""Conflicts: what becomes of a write that follows a version of a record which is not the latest any more.

What a merge needs, earlier versions and writes that wait for a decision, are records too, so that they are backed up, exported and
forgotten like all others. Their namespaces begin with `~`, as no id of a schema does.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from pydantic import ConfigDict

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.long_term.records import LongTermRecord
from mnestic.memory.names import CONFLICTS, HISTORIES, VERSIONS, is_open

VERSIONS_LIVE = timedelta(days=30)
"""How long a version of a record can be merged with."""
_ABSENT = object()


class PersistedRecord(LongTermRecord):
    """A record after a write. With a `conflict_id`, it is as it was: the write waits until somebody resolves the conflict."""

    conflict_id: str | None = None


class RecordConflict(DeferredModel):
    """A write that waits for a decision: what it said, the version that it followed, and the fields that others changed as well."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    schema_id: str
    key: str
    base_version: int
    value: Any
    metadata: dict[str, Any] | None = None
    ttl_seconds: float | None = None
    fields: tuple[str, ...] = ()

    @property
    def ttl(self) -> timedelta | None:
        """How long the record was to live from the write on."""
        return None if self.ttl_seconds is None else timedelta(seconds=self.ttl_seconds)


def versions_of(schema_id: str) -> str:
    """The namespace of earlier versions of a schema's records."""
    return f"{VERSIONS}{schema_id}"


def conflicts_of(schema_id: str) -> str:
    """The namespace of a schema's conflicts."""
    return f"{CONFLICTS}{schema_id}"


def check_is_open(namespace: str) -> None:
    """Refuses a namespace whose records Mnestic alone writes.

    Raises:
        InvalidInputError: it is of versions, conflicts or histories.
    """
    if not is_open(namespace):
        why = f"begins with {VERSIONS}, {CONFLICTS} or {HISTORIES}, where Mnestic alone writes; write the record itself, resolve its conflict, or append to the history"
        raise InvalidInputError(what="namespace", why=why)


def version_key(key: str, version: int | Literal[""]) -> str:
    """The key of a version of a record, however long its own key is; without a version, how those of all begin."""
    return f"{sha256_hex(key.encode())}@{version}"


def merge(ancestor: Any, stored: Any, written: Any) -> tuple[Any, tuple[str, ...]]:
    """Three-way merge of JSON values: each member of an object is taken from the side that changed it.

    Returns:
        The merged value, and the paths of what both sides changed, each in another way; there the stored value stays.
    """
    if _is_same(written, stored) or _is_same(written, ancestor):
        return stored, ()
    if _is_same(stored, ancestor):
        return written, ()
    if not all(isinstance(one, Mapping) for one in (stored, written)):
        return stored, ("",)
    before = ancestor if isinstance(ancestor, Mapping) else {}
    merged, conflicts = {}, []
    for name in dict.fromkeys((*stored, *written)):
        sides = (side.get(name, _ABSENT) for side in (before, stored, written))
        value, paths = merge(*sides)
        conflicts += [f"{name}.{path}".rstrip(".") for path in paths]
        if value is not _ABSENT:
            merged[name] = value
    return merged, tuple(conflicts)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; 1 and true are not."""
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return canonical_json(one) == canonical_json(other)

"""Long-term records: versioned values by namespace and key, which outlive sessions and jobs."""

from collections.abc import Iterable
from typing import Any, Self

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel


class RecordRef(DeferredModel):
    """A record as somebody saw it: which one, at which version. Version 0: it was not there."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    namespace: str
    key: str
    version: int


class LongTermRecord(DeferredModel):
    """One value of an agent.

    `version` begins at 1 and grows with each write; a delete counts as one, so that a key that is
    set again never comes back with a version that somebody saw before.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    namespace: str
    key: str
    value: Any
    version: int
    created_at: AwareDatetime
    updated_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    metadata: dict[str, Any] | None = None

    @property
    def ref(self) -> RecordRef:
        """This record at this version."""
        return RecordRef(namespace=self.namespace, key=self.key, version=self.version)

    @property
    def read(self) -> "ReadRecord":
        """This record as somebody reads it."""
        return ReadRecord(**self.ref.model_dump(), value=self.value)


class ReadRecord(RecordRef):
    """A record in a read set, with the value that was seen; None if there was none.

    A pinned one is read as it was seen, whatever is stored now. A whole namespace that was read is in
    the read set too, beside its records: it has no key, its version is how many records of it are read
    at most, and its value the key that the reading ended at, if there were more.
    """

    value: Any = None
    pinned: bool = False

    @classmethod
    def of_namespace(cls, namespace: str, *, limit: int, until: str | None = None) -> Self:
        """A namespace that was read whole, up to so many records, or up to a key."""
        return cls(namespace=namespace, key="", version=limit, value=until)

    @property
    def is_namespace(self) -> bool:
        """Whether it stands for a namespace; no record has an empty key."""
        return not self.key

    @property
    def ref(self) -> RecordRef:
        """The record without its value."""
        return RecordRef(namespace=self.namespace, key=self.key, version=self.version)


def count_records(reads: Iterable[ReadRecord]) -> int:
    """How many records a read set holds, without the namespaces that were read whole."""
    return sum(not read.is_namespace for read in reads)

"""What the operations of shared memory take and give."""

from typing import Any

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.operation_arguments import OperationArguments
from mnestic.memory.scope import Id
from mnestic.memory.selectors import Selector
from mnestic.memory.sharing.locks import LOCK_TIMEOUT_MS, LockTimeout
from mnestic.memory.sharing.namespaces import AccessLevel, NamespaceGrant, SharedRecord
from mnestic.memory.validation import Name


class NamespaceArguments(OperationArguments):
    """A namespace."""

    namespace: Id = Field(description="A namespace of shared memory", examples=["seo:audit"])


class GetSharedArguments(NamespaceArguments):
    """A shared record to read."""

    key: Name = Field(description="The key of the record", examples=["site-7"])


class _WriteArguments(GetSharedArguments):
    expected_version: int | None = Field(
        None, ge=0, strict=True, description="The version that it follows; 0 for a new record"
    )
    token: int | None = Field(
        None, ge=0, strict=True, description="The token of the lock under which it is written"
    )


class SetSharedArguments(_WriteArguments):
    """A shared record to write."""

    value: Any = Field(description="What is stored", examples=[{"score": 71}])
    metadata: dict[str, Any] | None = Field(None, description="What is known beside the value")
    ttl_seconds: float | None = Field(
        None, gt=0, le=3_153_600_000, strict=True, description="How long it lives"
    )


class DeleteSharedArguments(_WriteArguments):
    """A shared record to delete."""


class ListSharedArguments(NamespaceArguments):
    """Shared records to read."""

    limit: int = Field(100, ge=1, le=1000, strict=True, description="How many at the most")
    cursor: str | None = Field(None, description="The cursor of the page before")


class ListGrantsArguments(OperationArguments):
    """Grants to read."""

    namespace: Id | None = Field(
        None, description="A namespace; by default all that the agent may read"
    )


class RevokeArguments(NamespaceArguments):
    """Grants to take away."""

    selector: Selector = Field(
        description="The agents, as they were granted it", examples=["agent.seo.*"]
    )


class GrantArguments(RevokeArguments):
    """A grant to make."""

    level: AccessLevel = Field(
        description="What they may do; each level includes the former", examples=["read"]
    )


class DropNamespaceArguments(NamespaceArguments):
    """A namespace to drop."""


class LockArguments(GetSharedArguments):
    """A key to lock."""

    timeout_ms: LockTimeout = Field(
        LOCK_TIMEOUT_MS,
        description="Milliseconds until it ends; by default lock_timeout_ms of the contract",
    )


class UnlockArguments(GetSharedArguments):
    """A lock to end."""

    token: int | None = Field(ge=0, strict=True, description="Its token; null of one without")


class SharedRecordPage(DeferredModel):
    """Shared records in the order of their keys, and the cursor of the next page."""

    model_config = ConfigDict(frozen=True)

    records: tuple[SharedRecord, ...]
    next_cursor: str | None = None


class GrantList(DeferredModel):
    """Grants, by namespace and selector."""

    model_config = ConfigDict(frozen=True)

    grants: tuple[NamespaceGrant, ...]


class Removed(DeferredModel):
    """How many records, grants or locks there are no more."""

    model_config = ConfigDict(frozen=True)

    count: int

"""The ports of access. As other stores, they work inside their transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.access.api_keys import ApiKey
    from mnestic.memory.access.audit import AuditEntry, AuditQuery, SearchCount


class StoredKey(NamedTuple):
    """A key, with the hash of its text."""

    key: ApiKey
    sha256: str


class ApiKeyStore(Protocol):
    """The API keys of a tenant."""

    async def add(self, key: ApiKey, *, sha256: str) -> None:
        """Stores a key.

        Raises:
            AlreadyExistsError: there is a key of that id.
        """
        ...

    async def find(self, key_id: str) -> StoredKey | None:
        """The key of an id, whether it is valid or not."""
        ...

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ApiKey, ...], str | None]:
        """Keys, the newest first, and the cursor of the next page."""
        ...

    async def revoke(self, key_id: str) -> ApiKey:
        """Revokes a key; a second time, nothing changes.

        Raises:
            NotFoundError: there is no such key.
        """
        ...


class AuditStore(Protocol):
    """The audit log of a tenant."""

    def allow(self, target: str) -> None:
        """Notes an access that was allowed, and whose reads and writes others do."""
        ...

    def deny(self, action: str, target: str, *, reason: str) -> None:
        """Notes an access that was denied."""
        ...

    def attempt(self, action: str, target: str, *, operation_key: str | None = None) -> None:
        """Notes an access before it is done: if the transaction is refused, it leaves this one row."""
        ...

    def complete(self, *, reason: str | None = None) -> None:
        """Notes that the access was done, or why it was refused, as a row of its own."""
        ...

    async def list(
        self, query: AuditQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[AuditEntry, ...], str | None]:
        """Rows that match, the newest first, and the cursor of the next page."""
        ...

    async def list_changes(
        self, agent_id: str, entry_id: str, *, limit: int
    ) -> tuple[AuditEntry, ...]:
        """The changes of an entry that are not part of learning, the newest first."""
        ...

    async def count_searches(self) -> tuple[SearchCount, ...]:
        """The agent's searches within the last 30 days; a reader is told of none."""
        ...

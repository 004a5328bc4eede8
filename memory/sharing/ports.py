"""The ports of the stores of channels and namespaces, which work in the transaction that they came from, and of backends with channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:  # who implements or uses the port loads no model
    from collections.abc import Iterable, Sequence
    from datetime import timedelta

    from mnestic.memory.sharing.events import ChannelEvent
    from mnestic.memory.sharing.locks import Lock
    from mnestic.memory.sharing.namespaces import AccessLevel, NamespaceGrant, SharedRecord


@runtime_checkable
class EventBackend(Protocol):
    """A backend of records that has channels of its own."""

    async def publish(self, tenant_id: str, events: Sequence[ChannelEvent]) -> None:
        """Publishes events to those that listen at that moment.

        Raises:
            BackendUnavailableError: it does not answer.
        """
        ...


class ChannelStore(Protocol):
    """The events of a tenant's channels."""

    def publish(
        self, channel: str, allowed: Sequence[str], payload: dict[str, Any], *, event_id: str
    ) -> None:
        """Publishes an event with what the transaction has written, at its end; waits that it fulfils have it then.

        Raises:
            AccessDeniedError: the channel is not among those that are allowed.
            PayloadTooLargeError: the payload is over 64 KiB.
        """
        ...

    async def expect(self, pattern: str, allowed: Sequence[str]) -> None:
        """Has those who publish wait for the end of the transaction: what they publish then finds the wait that it opens.

        Raises:
            AccessDeniedError: as `publish`.
        """
        ...

    async def list_events(
        self, pattern: str, allowed: Sequence[str], *, after: int | None = None, limit: int = 100
    ) -> tuple[ChannelEvent, ...]:
        """The events of a channel, or of a pattern of channels, in their order: those after a number, by default all that are kept.

        Raises:
            AccessDeniedError: as `publish`.
            EventsTrimmedError: some of those after the number are no longer kept.
        """
        ...

    async def last_number(self) -> int:
        """The number of the tenant's last event; 0 without one."""
        ...

    async def find_place(self, name: str) -> int | None:
        """How far the agent's subscription of a name has come; None of a new one."""
        ...

    async def save_place(self, name: str, number: int) -> None:
        """Has the agent's subscription of a name go on after an event."""
        ...


class SharedMemoryStore(Protocol):
    """The namespaces of a tenant, as its agent may use them: each method refuses others with `AccessDeniedError`."""

    async def get(self, namespace: str, key: str) -> SharedRecord:
        """A record.

        Raises:
            NotFoundError: there is none, or it has expired.
        """
        ...

    async def set(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        metadata: dict[str, Any] | None = None,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> SharedRecord:
        """Writes a record, which is the agent's then. Where the agent's contract has a schema of that name, the value has to fit it.

        Raises:
            InvalidInputError: the value cannot be stored, or does not fit.
            StaleVersionError: the record has another version; holds what is stored.
            LockedError: another holds its lock.
            LockLostError: the token is not that of the lock that is held.
        """
        ...

    async def delete(
        self,
        namespace: str,
        key: str,
        *,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> None:
        """Deletes a record; its version goes on.

        Raises:
            NotFoundError: there is none.
            StaleVersionError: as `set`, and LockedError, LockLostError.
        """
        ...

    async def list_records(
        self, namespace: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[SharedRecord, ...], str | None]:
        """Records in the order of their keys, and the cursor of the next page."""
        ...

    async def lock(self, namespace: str, key: str, *, lasts: timedelta) -> Lock:
        """Takes the lease of a key until it is released, or the database's clock says that it has ended.

        Raises:
            LockedError: another holds it.
        """
        ...

    async def read_version(
        self, namespace: str, key: str, *, strategy: Literal["optimistic", "none"]
    ) -> Lock:
        """A lock without a lease, for who may write."""
        ...

    async def unlock(self, namespace: str, key: str, token: int | None) -> int:
        """Ends the agent's lease of a token, which stays used; returns how many there were, 0 without a token."""
        ...

    async def grant(self, namespace: str, selector: str, level: AccessLevel) -> NamespaceGrant:
        """Gives the agents of a selector a level."""
        ...

    async def revoke(self, namespace: str, selector: str) -> int:
        """Takes all grants of a selector away, those of contracts until their next version; returns how many there were."""
        ...

    async def list_grants(self, namespace: str | None) -> tuple[NamespaceGrant, ...]:
        """The grants of a namespace, or of all that the agent may read."""
        ...

    async def drop(self, namespace: str) -> int:
        """Removes the records and grants of a namespace; returns how many records there were.

        Raises:
            LockedError: one of its keys is locked.
        """
        ...

    async def replace_grants(
        self, contract: str, grants: Iterable[tuple[str, str, AccessLevel]]
    ) -> None:
        """Makes the grants of a contract these: namespace, selector and level. Whoever applies contracts may do so."""
        ...

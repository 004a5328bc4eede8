"""The ports of the stores of what agents share, which work in the transaction that they came from, and of backends with channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:  # who implements or uses the port loads no model
    from collections.abc import Iterable, Sequence

    from mnestic.memory.sharing.events import ChannelEvent
    from mnestic.memory.sharing.locks import Lock, LockStrategy
    from mnestic.memory.sharing.namespaces import AccessLevel, NamespaceGrant, SharedRecord
    from mnestic.memory.sharing.readers import DefaultKind, ReaderDefault
    from mnestic.memory.sharing.shared_operations import (
        DeleteSharedArguments,
        DropNamespaceArguments,
        GetSharedArguments,
        GrantArguments,
        GrantList,
        ListGrantsArguments,
        ListSharedArguments,
        LockArguments,
        Removed,
        RevokeArguments,
        SetSharedArguments,
        SharedRecordPage,
        UnlockArguments,
    )


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

    async def find_place(self, name: str, channel: str) -> int | None:
        """How far the agent's subscription of a name on a channel, or a pattern of such, has come; None of a new one."""
        ...

    async def save_place(self, name: str, channel: str, number: int) -> None:
        """Has the agent's subscription of a name on a channel go on after an event."""
        ...


class SharedMemoryStore(Protocol):
    """The namespaces of a tenant, as its agent may use them: each operation refuses others with `AccessDeniedError`."""

    async def get(self, arguments: GetSharedArguments) -> SharedRecord:
        """A record.

        Raises:
            NotFoundError: there is none, or it has expired.
        """
        ...

    async def set(self, arguments: SetSharedArguments) -> SharedRecord:
        """Writes a record, which is the agent's then. Where the agent's contract has a schema of that name, the value has to fit it.

        Raises:
            InvalidInputError: the value cannot be stored, or does not fit.
            StaleVersionError: the record has another version; holds what is stored.
            LockedError: another holds its lock.
            LockLostError: the token is not that of the lock that is held.
        """
        ...

    async def delete(self, arguments: DeleteSharedArguments) -> Removed:
        """Deletes a record; its version goes on.

        Raises:
            NotFoundError: there is none.
            StaleVersionError: as `set`, and LockedError, LockLostError.
        """
        ...

    async def list_records(self, arguments: ListSharedArguments) -> SharedRecordPage:
        """Records in the order of their keys, and the cursor of the next page."""
        ...

    async def lock(self, arguments: LockArguments) -> Lock:
        """Takes the lease of a key until it is released, or the database's clock says that it has ended.

        Raises:
            LockedError: another holds it.
        """
        ...

    async def read_version(self, arguments: LockArguments, *, strategy: LockStrategy) -> Lock:
        """A lock without a lease, for who may write."""
        ...

    async def unlock(self, arguments: UnlockArguments) -> Removed:
        """Ends the agent's lease of a token, which stays used; there is none where the token is None."""
        ...

    async def grant(self, arguments: GrantArguments) -> NamespaceGrant:
        """Gives the agents of a selector a level."""
        ...

    async def revoke(self, arguments: RevokeArguments) -> Removed:
        """Takes all grants of a selector away, those of contracts until their next version."""
        ...

    async def list_grants(self, arguments: ListGrantsArguments) -> GrantList:
        """The grants of a namespace, or of all that the agent may read."""
        ...

    async def drop(self, arguments: DropNamespaceArguments) -> Removed:
        """Removes the grants and the records of a namespace, which it counts.

        Raises:
            LockedError: one of its keys is locked.
        """
        ...

    async def replace_grants(
        self, contract: str, grants: Iterable[tuple[str, str, AccessLevel]]
    ) -> None:
        """Makes the grants of a contract these: namespace, selector and level. Whoever applies contracts may do so."""
        ...


class ReaderDefaultStore(Protocol):
    """The readers of what is said in an agent's sessions and channels."""

    async def set(self, default: ReaderDefault) -> None:
        """Sets those of a session or a channel, from now on."""
        ...

    async def remove(self, kind: DefaultKind, name: str) -> None:
        """Has everybody read what is said there from now on."""
        ...

    async def inherit(self, session_id: str, *, wait_id: str) -> None:
        """Gives a session that is forked at a wait the readers that the wait's session has, unless it has its own."""
        ...

    async def list_defaults(self) -> tuple[ReaderDefault, ...]:
        """All of them."""
        ...

    async def of_session(self, session_id: str) -> tuple[str, ...] | None:
        """The readers of what follows from all that was said in a session; of several sets none, and None is everybody."""
        ...

    async def are_used(self) -> bool:
        """Whether anything was said for readers, or is to be."""
        ...

    async def find(self, session_id: str, channel: str) -> tuple[str, ...] | None:
        """The readers of what is said there without any of its own: of the session, else of the channel; None is everybody."""
        ...

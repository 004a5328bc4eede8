"""The port of the store of channels, which works in the transaction that it came from, and that of backends with channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:  # who implements or uses the port loads no model
    from collections.abc import Sequence

    from mnestic.memory.sharing.events import ChannelEvent


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

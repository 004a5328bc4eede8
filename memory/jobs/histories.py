"""Conversation histories: items of a session, in the form of the framework that they come from."""

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel


class ItemText(DeferredModel):
    """What somebody says in an item of a batch; `item` is its position there, from 0."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    item: int = Field(ge=0)
    speaker: str
    channel: str
    content: str


class HistoryItems(DeferredModel):
    """Items in their order."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    items: tuple[dict[str, Any], ...] = ()


class History(Protocol):
    """Histories by session: `memory.history` of a client, or `history` of an `AgentMemory`."""

    async def append(
        self,
        session_id: str,
        items: Sequence[dict[str, Any]],
        *,
        texts: Sequence[ItemText] = (),
        operation_key: str | None = None,
    ) -> None:
        """Appends items, all or none; what is said in them is memory at once, and facts are extracted from it later."""
        ...

    async def read(
        self, session_id: str, *, limit: int | None = None
    ) -> tuple[dict[str, Any], ...]:
        """The last items in their order, or all."""
        ...

    async def pop(self, session_id: str) -> dict[str, Any] | None:
        """Removes the last item, with its message and what was learned from that alone; gives it, or None."""
        ...

    async def clear(self, session_id: str) -> None:
        """Removes all items; what was learned from them stays."""
        ...

"""The port of exports: what an export lists, and what is added when it is read back, that no other store has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.forgetting.export_lines import (
        ClaimLine,
        EdgeLine,
        EpisodeLine,
        ForgottenLine,
        MessageLine,
        NodeLine,
        Place,
        RecordLine,
        SessionLine,
    )


class ExportStore(Protocol):
    """All of an agent's memory, a page at a time, and exact copies of what another agent had.

    What is added is passed over where something of its name is there already.
    """

    def note(self) -> None:
        """Adds to the audit log that the agent's memory was exported."""
        ...

    async def list_messages(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[MessageLine | ForgottenLine, ...], str | None]:
        """Messages by session and time, with what they claim but without their entries, and the cursor of the next page."""
        ...

    async def list_claims(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[ClaimLine, ...], str | None]:
        """Claims of no message, by subject and predicate, and the cursor of the next page."""
        ...

    async def list_sessions(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[SessionLine, ...], str | None]:
        """The working memory of each session that was written, and the cursor of the next page."""
        ...

    async def list_nodes(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[NodeLine, ...], str | None]:
        """All versions of declared nodes of the graph, the oldest first, and the cursor of the next page."""
        ...

    async def list_edges(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[EdgeLine, ...], str | None]:
        """All versions of declared edges of the graph, the oldest first, and the cursor of the next page."""
        ...

    async def list_episodes(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[EpisodeLine, ...], str | None]:
        """Episodes with their readers, the newest first, and the cursor of the next page."""
        ...

    async def select_places(self, entry_ids: Collection[str]) -> dict[str, Place]:
        """Session and source id of the messages that entries are of, by entry."""
        ...

    async def add_messages(self, lines: Sequence[MessageLine | ForgottenLine]) -> frozenset[Place]:
        """Adds messages with their states, without claims and entries; returns which are new.

        Raises:
            InvalidInputError: a message cannot be stored.
        """
        ...

    async def add_record(self, record: RecordLine) -> bool:
        """Adds a record at its version; returns whether it is new.

        Raises:
            InvalidInputError: it cannot be stored.
        """
        ...

    async def add_node(self, node: NodeLine) -> bool:
        """Adds a version of a node, unless there is one for some of its time; returns whether it is new.

        Raises:
            InvalidInputError: it cannot be stored.
        """
        ...

    async def add_edge(self, edge_id: str, edge: EdgeLine) -> bool:
        """Adds a version of an edge under an id, unless there is one for some of its time; returns whether it is new.

        Raises:
            InvalidInputError: it cannot be stored.
        """
        ...

    async def add_episode(self, episode_id: str, episode: EpisodeLine) -> bool:
        """Adds an episode under an id, unless one that says the same is there; returns whether it is new.

        Raises:
            InvalidInputError: it cannot be stored.
        """
        ...

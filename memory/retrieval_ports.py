"""The ports of what retrieval keeps and reads. As other stores, those of memory work inside their transaction."""

from datetime import datetime
from typing import Any, Protocol

from mnestic.memory.injections import Injection, InjectionTotal, KeptInjection
from mnestic.memory.notes import FoundNotes, NoteSelection


class SettingStore(Protocol):
    """What is set for an agent at run time, by name; of what is not set the defaults hold."""

    async def read(self) -> dict[str, Any]:
        """All that is set, as JSON values."""
        ...

    async def put(self, name: str, value: Any) -> None:
        """Sets one, to a JSON value."""
        ...

    async def reset(self, name: str) -> None:
        """Takes one back to its default; one that is not set changes nothing."""
        ...


class InjectionStore(Protocol):
    """What was put before messages, append-only."""

    async def add(self, injection: Injection) -> None:
        """Keeps one."""
        ...

    async def list_injections(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[KeptInjection, ...], str | None]:
        """Injections of the agent, newest first, and the cursor of the next page."""
        ...

    async def sum_between(
        self, since: datetime, until: datetime, *, agent_id: str | None = None
    ) -> InjectionTotal:
        """How many of the tenant there were, or of one agent, from a moment up to another."""
        ...


class NoteSource(Protocol):
    """A vault. It is read within its own time limit, and nothing is ever written to it."""

    async def read(self, select: NoteSelection) -> FoundNotes:
        """The notes, each once and cut by `excerpt`.

        A note that cannot be told, since it is not there or outside of the vault, no text or too large,
        is skipped with the reason. Of the tagged at most `MOST_TAGGED` are told.

        Raises:
            NotesUnavailableError: the vault as a whole cannot be read, or not in time.
        """
        ...

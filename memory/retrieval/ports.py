"""The ports of what retrieval keeps and reads. As other stores, those of memory work inside their transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.retrieval.notes import NoteResults, NoteSelection
    from mnestic.memory.retrieval.retrieval_log import (
        InjectedTokens,
        RetrievalLogEntry,
        StoredLogEntry,
    )
    from mnestic.memory.retrieval.search import (
        ResolvedTerms,
        Search,
        SearchResult,
        Suggestions,
        Terms,
        Winners,
    )


class SearchStore(Protocol):
    """Finds entries for a question, a round trip a method."""

    async def resolve(self, terms: Terms) -> ResolvedTerms:
        """What the agent's memory knows of what a question may name, and how much there is in it."""
        ...

    async def suggest(self, names: Collection[str], lexemes: Collection[str]) -> Suggestions:
        """What words that are misspelt may be meant as.

        Args:
            names: Words that may be those of names.
            lexemes: Lexemes that no entry has.
        """
        ...

    async def find_candidates(self, search: Search) -> SearchResult:
        """The entries that each source brings, and those that are lent enough by these.

        Those with the highest BM25 and the largest cosine, the newest about each name and with each tag or alias, those
        that what is believed of the names follows from, and the last of the period.
        """
        ...

    async def read_winners(
        self, numbers: Sequence[int], search: Search, *, unrelated: Collection[int] = ()
    ) -> Winners:
        """Reads the best as entries, and which of them do not answer the question, whatever they score.

        Those do not whose messages claimed something of which nothing holds now, or held at the question's
        moment; those which claim something in the respects that it is about, but of nobody whom it names; and what others
        said in a session in which nobody whom it names spoke or was mentioned.

        Args:
            numbers: The best ones.
            search: The question.
            unrelated: Those of them of which the last may be true.
        """
        ...


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

    async def list_languages(self) -> tuple[str, ...]:
        """The languages whose words text search can read."""
        ...


class RetrievalLogStore(Protocol):
    """What was put before messages, append-only."""

    async def add(self, log_entry: RetrievalLogEntry) -> None:
        """Keeps one."""
        ...

    async def list_entries(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredLogEntry, ...], str | None]:
        """Injections of the agent, newest first, and the cursor of the next page."""
        ...

    async def sum_between(
        self, since: datetime, until: datetime, *, agent_id: str | None = None
    ) -> InjectedTokens:
        """How many of the tenant there were, or of one agent, from a moment up to another."""
        ...


class NoteSource(Protocol):
    """A vault. It is read within its own time limit, and nothing is ever written to it."""

    async def read(self, select: NoteSelection) -> NoteResults:
        """The notes, each once and cut by `excerpt`.

        A note that cannot be told, since it is not there or outside of the vault, no text or too large,
        is skipped with the reason. Of the tagged at most `MOST_TAGGED` are told.

        Raises:
            NotesUnavailableError: the vault as a whole cannot be read, or not in time.
        """
        ...

"""The ports of retrieval: search, agent settings, the retrieval log and notes.

Like other stores, those of memory work inside their transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.knowledge.extraction import ExtractionInput
    from mnestic.memory.knowledge.importance import ImportanceBasis
    from mnestic.memory.models.costs import InjectedTokens
    from mnestic.memory.models.messages import RerankScores
    from mnestic.memory.retrieval.candidates import Candidates
    from mnestic.memory.retrieval.notes import NoteResults, NoteSelection
    from mnestic.memory.retrieval.query_parsing import Terms
    from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry, StoredLogEntry
    from mnestic.memory.retrieval.search import (
        ArchivedWords,
        ParsedQuery,
        ResolvedTerms,
        SearchHits,
        Suggestions,
    )


class SearchStore(Protocol):
    """Finds entries for a query; each coroutine is one round trip."""

    async def resolve(self, terms: Terms, *, model: str) -> ResolvedTerms:
        """Resolves the terms of a query against the agent's memory, and gives the size of that memory.

        Args:
            terms: What the query may name.
            model: The model of vectors by which it is searched where the agent has none yet.
        """
        ...

    def note_answer(self, mode: str, *, found: int, is_cached: bool = False) -> None:
        """Notes for the audit log, once, how many entries answer a search, without its words; no round trip."""
        ...

    async def suggest(self, names: Collection[str], lexemes: Collection[str]) -> Suggestions:
        """Corrections for misspelt words.

        Args:
            names: Words that may be those of names.
            lexemes: Lexemes that no entry has.
        """
        ...

    async def find_candidates(self, parsed: ParsedQuery) -> Candidates:
        """The candidates of each source, and the entries that receive enough of their scores.

        The sources are: the highest BM25, the largest cosine, the newest of each name, tag and alias, and the last entries of
        the period.
        """
        ...

    async def count_archived(self, lexemes: Collection[str]) -> ArchivedWords:
        """How many archived entries there are that may answer, and how many of them have each of these lexemes."""
        ...

    async def find_archived(self, parsed: ParsedQuery) -> Candidates:
        """The archived entries with the highest BM25 and the largest cosine; their numbers are below 0.

        What a person has archived, and what others quote or repeat, is not among them.
        """
        ...

    async def list_nearest(
        self, entry_ids: Collection[str], *, limit: int
    ) -> dict[str, tuple[ExtractionInput, ...]]:
        """For each of these entries of messages so many earlier ones that are nearest to it by meaning or words, the nearest first."""
        ...

    async def fetch_hits(self, numbers: Sequence[int], parsed: ParsedQuery) -> SearchHits:
        """Reads candidates as entries. A message that has words of the query only where it, or a predicate of it, says what holds no longer is outdated."""
        ...


class SettingStore(Protocol):
    """What is set for an agent at run time, by name; of what is not set the defaults hold."""

    async def read(self) -> dict[str, Any]:
        """All that is set, as JSON values."""
        ...

    async def lock(self) -> None:
        """Waits for others who change these settings after reading them, and has them wait until the transaction ends."""
        ...

    async def put(self, name: str, value: Any) -> None:
        """Sets one, to a JSON value."""
        ...

    async def reset(self, name: str) -> None:
        """Takes one back to its default; one that is not set changes nothing."""
        ...

    async def importance_basis(self) -> ImportanceBasis:
        """The time of the transaction, and the tenant's importance policy.

        Raises:
            StoredValueError: a weight is stored that cannot be.
        """
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

    async def list_with(self, entry_id: str, *, limit: int) -> tuple[StoredLogEntry, ...]:
        """Those among the agent's last thousand that returned an entry, newest first."""
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


class Reranker(Protocol):
    """Tells how relevant texts are to a question, which it reads together with each of them."""

    @property
    def name(self) -> str:
        """Which reranker it is."""
        ...

    @property
    def model(self) -> str | None:
        """The model that it asks, whose calls are limited and written down; None for a local one."""
        ...

    async def rerank(self, question: str, texts: Sequence[str]) -> RerankScores:
        """How relevant each text is, absolute: it depends on the question and the text alone.

        Raises:
            ModelUnavailableError: as of `Extractor.extract`.
            ModelMisconfiguredError: likewise.
            ModelRefusedError: likewise; also for relevances that are too few, too many, or not from 0 to 1.
        """
        ...

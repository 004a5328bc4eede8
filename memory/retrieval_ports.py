"""The ports of what retrieval keeps and reads. As other stores, those of memory work inside their transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from mnestic.memory.dates import Period
from mnestic.memory.injections import Injection, InjectionTotal, KeptInjection
from mnestic.memory.notes import FoundNotes, NoteSelection
from mnestic.memory.ranking import Candidate, Tie
from mnestic.memory.retrieval import RetrievalQuery
from mnestic.memory.search import FreshEntry, Hit, KnownName, Vocabulary


class SearchStore(Protocol):
    """Finds entries by number, source by source; what a question rules out does not come back.

    A source that is asked for everything leaves out what is archived or has expired only when entries
    are described, so it may bring fewer than it was asked for.
    """

    async def list_names(self, keys: Collection[str]) -> Mapping[str, KnownName]:
        """Which of these keys name somebody or something that is known."""
        ...

    async def look_up(self, words: Sequence[str], *, slips: Collection[str] = ()) -> Vocabulary:
        """The words of a question as they are stored, without those that say nothing.

        Those among `slips` that are not known are read as what is, if they begin it or are nearly it.
        """
        ...

    async def list_fresh(self, model: str, *, limit: int) -> tuple[FreshEntry, ...]:
        """The newest entries that have no vector of a model yet."""
        ...

    async def find_by_words(
        self, vocabulary: Vocabulary, query: RetrievalQuery, *, limit: int
    ) -> tuple[Hit, ...]:
        """The entries with the highest BM25, the best first."""
        ...

    async def find_by_meaning(
        self, model: str, vector: bytes, query: RetrievalQuery, *, limit: int
    ) -> tuple[Hit, ...]:
        """The entries whose vectors have the largest cosine, the best first."""
        ...

    async def find_by_names(
        self, names: Collection[str], tags: Collection[str], *, limit: int
    ) -> tuple[int, ...]:
        """The newest entries about each of these names, and those with these tags or aliases."""
        ...

    async def find_by_facts(
        self,
        names: Collection[str],
        predicates: Mapping[str, float],
        query: RetrievalQuery,
        *,
        limit: int,
    ) -> Mapping[int, float]:
        """The entries that what is believed of these names follows from, with the value of the predicate.

        As of the query's moment, and with what has ended if it asks for that.
        """
        ...

    async def find_by_time(self, period: Period, *, limit: int) -> tuple[int, ...]:
        """The last entries of a period."""
        ...

    async def list_ties(self, numbers: Sequence[int]) -> Mapping[int, Sequence[tuple[int, Tie]]]:
        """The entries beside each of these in its conversation, and those related to it."""
        ...

    async def describe(
        self,
        numbers: Collection[int],
        query: RetrievalQuery,
        *,
        names: Collection[str],
        tags: Collection[str],
        timed: bool,
    ) -> tuple[Candidate, ...]:
        """These entries, as far as scores need them; without those that the question rules out.

        `names` and `tags` are what the question names, by key; the times that entries name are told if
        it is `timed`.
        """
        ...

    async def list_others(
        self, numbers: Sequence[int], *, names: Collection[str], predicates: Collection[str]
    ) -> frozenset[int]:
        """Those whose messages claim something by these predicates, and nothing of these names."""
        ...

    async def list_over(self, numbers: Sequence[int], *, as_of: datetime | None) -> frozenset[int]:
        """Those whose messages claimed something, of which nothing holds now, or held at a moment."""
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

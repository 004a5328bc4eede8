"""The ports of what retrieval keeps and reads. As other stores, those of memory work inside their transaction."""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any, Protocol

from mnestic.memory.candidates import Candidates
from mnestic.memory.dates import Period
from mnestic.memory.entries import Entry
from mnestic.memory.injections import Injection, InjectionTotal, KeptInjection
from mnestic.memory.notes import FoundNotes, NoteSelection
from mnestic.memory.retrieval import Retrieval
from mnestic.memory.search import Fresh, Hits, Judgement, Known, Search, Tied, Vocabulary

Prepare = Callable[[tuple[str, ...]], None]  # is told the words of an entry


class SearchStore(Protocol):
    """Finds entries by number, in few steps; what a question rules out does not come back.

    A source that is asked for everything leaves out what is archived or has expired only when entries
    are described, so it may bring fewer than it was asked for.
    """

    async def find_answer(self, question: str) -> Retrieval | None:
        """What was told for a question before, if it would be told again now.

        Args:
            question: All that the answer depends on, beside the agent's memory and the time.
        """
        ...

    def keep_answer(self, question: str, told: Retrieval, known: Known) -> None:
        """Keeps what is told for a question, for as long as it is true."""
        ...

    async def recognise(
        self,
        keys: Collection[str],
        words: Collection[str],
        *,
        tags: Collection[str] = (),
        model: str,
        prepare: Prepare | None = None,
    ) -> Known:
        """What the agent's memory knows of a question.

        Args:
            keys: What could be a name in it.
            words: Its words, each once.
            tags: What entries may be found by as by a tag, by key.
            model: That of the vectors which are asked for.
            prepare: Is told the words of texts that are read ahead of questions, a few texts at once.
        """
        ...

    def recall_names(self, keys: AbstractSet[str]) -> frozenset[str] | None:
        """Those of some keys that name something, as far as the process has that at hand; None where it has not."""
        ...

    def foresee_near(self, model: str, vector: bytes) -> None:
        """Has at hand what `recall_near` most likely will be asked for, where the process has all vectors."""
        ...

    async def near_names(self, words: Collection[str], known: Known) -> Mapping[str, str]:
        """The names of which words that are none may be misspellings: word -> the key of the name."""
        ...

    async def list_related(
        self, names: Collection[str], predicates: Collection[str]
    ) -> frozenset[str]:
        """Who is believed to be to somebody what predicates say, such as whom they are married to; by key.

        Args:
            names: Those of whose relatives they are, by key.
            predicates: What they are to them.
        """
        ...

    async def look_up(
        self,
        words: Sequence[str],
        known: Known,
        *,
        slips: Collection[str] = (),
        quiet: Collection[str] = (),
    ) -> Vocabulary:
        """The words of a question as they are stored in each language of the agent's entries.

        Those that say nothing in the question's language are left out, and in English also `quiet` ones.
        Those among `slips` that are not known are read as what is, if they begin it or are nearly it.
        """
        ...

    async def list_fresh(self, model: str, known: Known, *, limit: int) -> Fresh:
        """The newest entries that have no vector of a model yet."""
        ...

    async def find(self, search: Search) -> Hits:
        """What each source but meaning brings.

        Those with the highest BM25, the newest about each name and with each tag or alias, those that what is
        believed of the names follows from, with the value of its predicate, and the last of the period.
        """
        ...

    def recall_near(self, search: Search) -> dict[int, float] | None:
        """As `find_near`, where the process has all vectors at hand; None where it has not."""
        ...

    async def find_near(self, search: Search) -> dict[int, float]:
        """The entries with the largest cosine, with that; none where meaning is not asked."""
        ...

    async def find_period(self, periods: Sequence[Period], known: Known) -> Period | None:
        """The first of these periods that an entry is of."""
        ...

    def recall(self, numbers: AbstractSet[int], search: Search) -> Candidates:
        """Those of these entries that the process has at hand, as `describe` tells them."""
        ...

    async def describe(
        self, numbers: AbstractSet[int], ids: Collection[str], search: Search
    ) -> Candidates:
        """These entries, as far as scores need them; of those that the question rules out the numbers."""
        ...

    async def list_ties(self, numbers: Sequence[int], search: Search) -> Tied:
        """The entries beside each of these in its conversation, and those related to it.

        And which of these do not hold.
        """
        ...

    async def judge(
        self,
        numbers: Sequence[int],
        search: Search,
        *,
        sound: AbstractSet[int],
        apart: Sequence[int],
        told: int,
    ) -> Judgement:
        """Which of the best do not answer the question, whatever they score; and what the first are.

        Those do not whose messages claimed something of which nothing holds now, or held at the question's
        moment; those which claim something in the respects that it is about, but of nobody whom it names; and what others
        said in a session in which nobody whom it names spoke or was mentioned.

        Args:
            numbers: The best ones, in their order.
            search: The question.
            sound: Those of which it is known that something they claimed holds.
            apart: Those that others said.
            told: How many answers are told: about so many of the best come back whole.
        """
        ...

    async def read(self, numbers: Sequence[int], search: Search) -> dict[int, Entry]:
        """These entries, by number."""
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

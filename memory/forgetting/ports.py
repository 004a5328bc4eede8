"""The ports of forgetting. As other stores, it works inside its transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.forgetting.redaction import RowRedaction
    from mnestic.memory.forgetting.requests import Forgetting, Suppression
    from mnestic.memory.forgetting.topics import Topic
    from mnestic.memory.knowledge.claims import Span
    from mnestic.memory.knowledge.facts import Fact

Place = tuple[str, str]  # session and source id of a message


@dataclass(frozen=True, kw_only=True)
class ScannedRow:
    """A row in which words of a topic may stand: its key, what it says, and whose job or session it is of."""

    table: str
    key: tuple[Any, ...]
    columns: Mapping[str, Any]
    job_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ScannedPage:
    """Rows of a table in the order of their keys; `after` is where the next page begins, if there is one."""

    rows: tuple[ScannedRow, ...] = ()
    after: tuple[Any, ...] | None = field(default=None)


class ForgettingStore(Protocol):
    """What is being forgotten, and the rows that speak of it, whatever table they are of."""

    async def begin(self, forgetting_id: str, topic: str, *, entries: Sequence[str]) -> None:
        """Stores a request to forget, under its id; in place of one whose start has failed.

        `entries` are those that are about the topic without having its words.
        """
        ...

    async def find(self, forgetting_id: str) -> Forgetting | None:
        """A forgetting, going on or done."""
        ...

    async def count(self, forgetting_id: str, purged: Mapping[str, int]) -> None:
        """Adds to what was purged, in the transaction that does it."""
        ...

    async def finish(self, forgetting_id: str) -> Forgetting:
        """Leaves the tombstone: the topic goes.

        It goes from other forgettings of the agent that speak of it too, and words that stand in no entry
        any more from their counts.

        Raises:
            NotFoundError: there is no such forgetting.
        """
        ...

    async def renew_statistics(self, forgetting_id: str, table: str) -> bool:
        """Makes the planner's statistics of a table anew, which quote its rows; says whether that was possible.

        What is committed by then is in none of them. Nobody who reads or writes waits for it.
        """
        ...

    async def stems(self, words: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The stems of folded words, as text search has them in each language that the agent's texts may be in.

        A word that says nothing in a language has an empty one.
        """
        ...

    async def page(
        self, table: str, topic: Topic, *, after: tuple[Any, ...] | None, lock: bool
    ) -> ScannedPage:
        """The next rows of a table that may speak of a topic.

        With `lock`, nobody else writes those that may be written, until the transaction ends.
        """
        ...

    async def redaction(
        self,
        forgetting_id: str,
        row: ScannedRow,
        redaction: RowRedaction,
        *,
        name_stays: bool = False,
    ) -> None:
        """Does to a row what is to be done with it.

        A record that is removed leaves its name where that `name_stays`, as one that is deleted does.
        """
        ...

    async def readers_of(self, row: ScannedRow) -> tuple[str, ...]:
        """The jobs that have a record in their read sets."""
        ...

    async def forget_messages(self, forgetting_id: str, places: Collection[Place]) -> int:
        """Empties messages, which are not learned from any more; returns how many said something."""
        ...

    async def contents_of(self, places: Collection[Place]) -> dict[Place, str]:
        """What messages say, as far as they are there and say something."""
        ...

    async def cut_messages(self, forgetting_id: str, contents: Mapping[Place, str]) -> int:
        """Blanks out what goes of messages; returns how many these were.

        Of each the text as it is then, as long as before. One that was not learned from yet is read anew.
        """
        ...

    async def spans_from(
        self, places: Collection[Place]
    ) -> tuple[tuple[str, Place, Span | None], ...]:
        """The ids of claims that messages make, with the message and where in it each stands."""
        ...

    async def claims_from(self, places: Collection[Place]) -> tuple[str, ...]:
        """The ids of claims that messages make."""
        ...

    async def facts_of(self, claims: Collection[str]) -> tuple[Fact, ...]:
        """The facts that follow from these claims alone."""
        ...

    async def entries_from(self, places: Collection[Place]) -> tuple[str, ...]:
        """The ids of entries that messages became, archived ones among them."""
        ...

    async def list_sources(self, entries: Collection[str]) -> tuple[tuple[str, Place | None], ...]:
        """Entries, as far as they are there or archived, with the messages that they are of."""
        ...

    async def count_links(self, entries: Collection[str]) -> dict[str, int]:
        """How many vectors entries have, and edges to and from other entries."""
        ...

    async def open_sessions(self, job_id: str) -> tuple[str, ...] | None:
        """The sessions in which a job has waited, None if it has come to its end by itself."""
        ...

    async def jobs_of(self, session_id: str) -> tuple[str, ...]:
        """The jobs that have waited in a session and have not come to their end by themselves."""
        ...

    async def uses_of_plans(self, plans: Collection[str]) -> dict[str, tuple[tuple[str, str], ...]]:
        """The jobs, with their agents, that have waited in plans, by plan."""
        ...


class SuppressionListStore(Protocol):
    """What was forgotten and must not be learned again, and what of a transaction's texts that is.

    A text is given with what belongs to it, such as its speaker, after it.

    All methods raise `ConfigurationError` where there are keep-outs, and not the key that they were made with.
    """

    async def add(self, forgetting_id: str, topic: str) -> None:
        """Makes a forgetting that has begun keep its topic out.

        Raises:
            InvalidInputError: the topic has no words that mean something.
        """
        ...

    def load_ahead(self) -> None:
        """Has the keep-outs loaded with the next statements of the transaction, since a check follows."""
        ...

    async def list_suppressed(self) -> tuple[Suppression, ...]:
        """The tombstones of the agent that keep something out, the oldest first."""
        ...

    async def lift(self, forgetting_id: str) -> None:
        """Lets what a tombstone keeps out be learned again; the tombstone stays.

        Raises:
            NotFoundError: it keeps nothing out, or there is none.
        """
        ...

    async def left_of(self, texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """Texts without the sentences that are kept out; empty where nothing is left."""
        ...

    async def are_kept_out(self, texts: Sequence[Sequence[str]]) -> tuple[bool, ...]:
        """Whether texts speak of anything that is kept out."""
        ...

    async def check(self, *texts: str, what: str) -> None:
        """Refuses texts that together speak of what is kept out.

        Raises:
            KeptOutError: they do; names the tombstone.
        """
        ...

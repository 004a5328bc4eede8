"""The ports of the stores of knowledge: claims and facts, entries, and states of ingestion.

Like the stores of jobs, they work in the transaction they came from, for its tenant and agent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.graph.graph import GraphStore
    from mnestic.memory.knowledge.claims import Claim
    from mnestic.memory.knowledge.entries import (
        ArchivedEntry,
        ArchiveMark,
        ArchiveReason,
        Embedding,
        Entry,
        EntryQuery,
        EntryStatistics,
        NameBearers,
        Supersession,
        Unembedded,
    )
    from mnestic.memory.knowledge.events import EventKind, StoredEvent
    from mnestic.memory.knowledge.facts import Fact, FactChange, FactStatus, Interval
    from mnestic.memory.knowledge.ingestion import (
        IncomingMessage,
        IngestCounts,
        IngestState,
        ReceivedMessages,
    )
    from mnestic.memory.knowledge.predicates import Predicate
    from mnestic.memory.knowledge.relations import Mention, Place
    from mnestic.memory.knowledge.resources import Resource
    from mnestic.memory.knowledge.subjects import NamedSubject


class FactStore(Protocol):
    """What is believed, and the claims it follows from."""

    @property
    def graph(self) -> GraphStore:
        """The graph of the facts."""
        ...

    async def claim(
        self, claims: Sequence[Claim], *, replaced: Sequence[Claim] = ()
    ) -> tuple[FactChange, ...]:
        """Adds claims; those that are there already change nothing. Returns what is believed otherwise.

        The `replaced` ones are removed. Transactions that claim something of one subject and predicate wait for each other.

        Raises:
            InvalidInputError: a claim cannot be stored.
        """
        ...

    async def get(self, fact_id: str) -> Fact:
        """A fact, whatever its status.

        Raises:
            NotFoundError: there is none.
        """
        ...

    async def find_awaited(self, wait_id: str) -> Fact | None:
        """The first fact that a wait waits for, which holds and was recorded before its deadline; or None."""
        ...

    async def list_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """The ids of facts that begin so, in their order."""
        ...

    async def list_from(self, place: Place) -> tuple[Fact, ...]:
        """The facts, whatever their status, that follow from claims of a message."""
        ...

    async def list_claims_from(self, places: Collection[Place]) -> dict[Place, tuple[Claim, ...]]:
        """The claims of messages, by message."""
        ...

    async def list_mentions(self, topics: Collection[tuple[str, str]]) -> tuple[Mention, ...]:
        """What messages claim of these subjects and predicates, in any order."""
        ...

    async def list_facts(
        self,
        *,
        subject: str | Sequence[str] | None = None,
        predicate: str | None = None,
        statuses: Sequence[FactStatus] | None = None,
        as_of: datetime | None = None,
        ahead: bool = False,
        believed_at: datetime | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[tuple[Fact, ...], str | None]:
        """Facts by subject, predicate and time, and the cursor of the next page.

        Args:
            subject: Only about this one, or about one of these.
            predicate: Only of this predicate.
            statuses: Active ones without it; with `as_of` archived ones too.
            as_of: Only what was so at this moment of the world.
            ahead: With `as_of`, also what is to come after it.
            believed_at: As it was believed at this moment of ours: what follows from the claims that
                were recorded until then, by the predicates of today.
            limit: How many at most.
            cursor: Where an earlier page ended.
        """
        ...

    async def list_valid(
        self, subject: str, past: Interval, *, limit: int = 100
    ) -> tuple[Fact, ...]:
        """Facts about a subject that hold at some moment of a time that is past, what began last first."""
        ...

    async def count(self) -> dict[FactStatus, int]:
        """How many facts there are of each status."""
        ...

    async def list_claims(self, fact: Fact) -> tuple[Claim, ...]:
        """The claims that a fact follows from, in the order in which they were said."""
        ...

    async def list_claims_about(
        self, subject: str | Sequence[str], predicate: str | None = None
    ) -> tuple[Claim, ...]:
        """All claims about a subject, or several, in the order in which they were said."""
        ...

    async def list_named(self, name: str) -> tuple[NamedSubject, ...]:
        """The subjects that a name may mean, by their own name, another or the first word of one."""
        ...

    async def list_aliases(self, keys: Collection[str]) -> tuple[str, ...]:
        """The keys of other names of subjects, without those that are another's as well."""
        ...

    async def get_predicates(self, names: set[str]) -> dict[str, Predicate]:
        """What holds for predicates in this tenant, by name."""
        ...

    async def list_predicates(self) -> tuple[Predicate, ...]:
        """The predicates about which the tenant has said something, by name."""
        ...

    async def set_predicate(self, predicate: Predicate) -> None:
        """Says what holds for a predicate in this tenant; `settle` applies it to an agent."""
        ...

    async def settle(self, predicate: str, *, limit: int = 200) -> tuple[FactChange, ...]:
        """Works facts out anew of so many subjects that are from before a predicate was changed; nothing once none is left."""
        ...

    async def forget(self, claim_ids: Collection[str], *, forgetting_id: str) -> tuple[str, ...]:
        """Removes claims for a forgetting, and what follows from them; returns the ids of the facts that are gone."""
        ...

    async def list_unsettled(self, predicate: str, *, limit: int = 100) -> tuple[str, ...]:
        """Agents of the tenant with facts from before a predicate was changed."""
        ...


class EntryStore(Protocol):
    """Entries, which every index follows in the same transaction."""

    async def add(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Adds entries, none of an id that is there already; returns those that are new, as they are stored.

        They have their vectors at once where the embedder needs no server.

        Raises:
            InvalidInputError: an entry cannot be stored.
        """
        ...

    async def get(self, entry_id: str) -> Entry:
        """An entry.

        Raises:
            NotFoundError: there is none.
        """
        ...

    async def list_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """The ids of entries that begin so, in their order."""
        ...

    async def select(self, entry_ids: Sequence[str], *, lock: bool = False) -> dict[str, Entry]:
        """The entries of these ids that are there; with `lock`, nobody else writes them until the transaction ends."""
        ...

    async def find_supersession(self, entry_id: str) -> Supersession | None:
        """Since when what an entry says is so no longer, and why; None if it is so."""
        ...

    async def count_children(self, entry_ids: Collection[str]) -> dict[str, int]:
        """How many entries belong to each of these, 0 where none does."""
        ...

    async def select_times(self, entry_ids: Collection[str]) -> dict[str, datetime]:
        """Of which moments the entries of these ids are that are there."""
        ...

    async def list_entries(
        self, query: EntryQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[Entry, ...], str | None]:
        """Entries, newest first, and the cursor of the next page."""
        ...

    async def select_naming(self, entry_ids: Collection[str]) -> tuple[str, ...]:
        """The ids of entries that name one of these, as their parent or as related."""
        ...

    async def list_bearers(self, names: Collection[str]) -> NameBearers:
        """Who is known by the keys of names, by the subjects of entries."""
        ...

    async def change(self, entries: Sequence[Entry]) -> None:
        """Writes entries anew; one whose content is another loses its vectors.

        Raises:
            NotFoundError: there is none of an id.
            InvalidInputError: one cannot be stored.
        """
        ...

    async def remove(self, entry_ids: Sequence[str]) -> int:
        """Removes entries from everywhere; returns how many there were."""
        ...

    async def count(self) -> EntryStatistics:
        """The agent's entries in numbers."""
        ...

    async def find_active_model(self) -> str | None:
        """The model whose vectors searches of the agent compare; None before it has any."""
        ...

    async def list_unembedded(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """Entries that have no vector of a model, the oldest first; of those that changed, later."""
        ...

    async def list_zero_vectors(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """Entries whose vector of a model is 0, which is near nothing: of texts that the model refused. The oldest first."""
        ...

    async def embed(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """Stores vectors of a model, except those of a content that has changed since."""
        ...

    async def embed_again(self, entry_ids: Sequence[str]) -> None:
        """Forgets the vectors 0 of entries, which stand for texts that a model has refused."""
        ...


class ArchiveStore(Protocol):
    """Entries out of every index, which can be restored whole. Other entries may go on naming them."""

    async def add(self, entry_ids: Sequence[str], mark: ArchiveMark) -> int:
        """Moves entries to the archive, with their vectors; returns how many there were.

        Raises:
            InvalidInputError: one follows from a fact or an episode.
        """
        ...

    async def restore(self, entry_ids: Sequence[str]) -> tuple[str, ...]:
        """Moves entries back; returns the ids of those that were archived."""
        ...

    async def select(self, entry_ids: Collection[str], *, lock: bool = False) -> dict[str, Entry]:
        """The archived entries of these ids; with `lock`, nobody else writes them until the transaction ends."""
        ...

    async def select_merged(self, entry_ids: Collection[str]) -> tuple[str, ...]:
        """The ids of archived entries that were merged into these."""
        ...

    async def select_marks(self, entry_ids: Collection[str]) -> dict[str, ArchiveMark]:
        """When and why the entries of these ids were archived that are."""
        ...

    async def list_archived(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ArchivedEntry, ...], str | None]:
        """Archived entries, the one archived last first, and the cursor of the next page."""
        ...

    async def list_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """The ids of archived entries that begin so, in their order."""
        ...

    async def count(self) -> dict[ArchiveReason, int]:
        """How many entries are archived for each reason."""
        ...

    async def change(self, entries: Sequence[Entry]) -> None:
        """Writes archived entries anew, of which a part was forgotten; they lose their vectors."""
        ...

    async def remove(self, entry_ids: Collection[str]) -> int:
        """Removes entries from the archive for good; returns how many there were."""
        ...


class AccessStore(Protocol):
    """How often entries were retrieved."""

    async def count(self, counts: Mapping[str, int], *, wait: bool = False) -> frozenset[str]:
        """Counts accesses of entries at this moment; returns those that others have locked and it skips, unless it may `wait`."""
        ...


class IngestStateStore(Protocol):
    """How far the ingestion of each resource is."""

    async def receive(self, messages: Sequence[IncomingMessage]) -> ReceivedMessages:
        """Stores messages as resources to extract facts from; returns those that are new, as they are stored.

        One whose resource is kept already is learned from as that says; one that was received before changes nothing.

        Raises:
            InvalidInputError: a message cannot be stored.
        """
        ...

    async def take(
        self, state: IngestState, *, limit: int, until: int | None = None
    ) -> tuple[IncomingMessage, ...]:
        """The oldest in a state, up to a number, locked; what another transaction has locked is left to it."""
        ...

    async def store_extracted(self, messages: Sequence[IncomingMessage], *, extractor: str) -> None:
        """Stores the claims of each message and the name of the extractor; one that changes no fact is done then."""
        ...

    async def lock(self) -> None:
        """Waits until no other transaction that has called it extracts or learns from messages of the agent."""
        ...

    async def lock_messages(self, places: Collection[Place]) -> None:
        """Has nobody else write the states of messages until the transaction ends."""
        ...

    async def list_around(
        self, messages: Sequence[IncomingMessage], *, before: int = 0, after: int = 0
    ) -> tuple[IncomingMessage, ...]:
        """So many messages around each of these in its session, by date and source id; neither these nor forgotten ones."""
        ...

    async def repeat(
        self, messages: Sequence[IncomingMessage], *, state: Literal["received", "extracted"]
    ) -> int:
        """Has messages that were extracted, or learned from, go on from an earlier state; returns how many."""
        ...

    async def mark_learned(self, messages: Sequence[IncomingMessage]) -> None:
        """Marks messages whose entries and facts are stored."""
        ...

    async def park(self, message: IncomingMessage, *, reason: str) -> None:
        """Sets one aside that cannot be learned from, or not be embedded, with the reason; the others go on."""
        ...

    async def retry(self, messages: Sequence[IncomingMessage]) -> int:
        """Lets parked ones be learned from again, from where they were; returns how many were parked."""
        ...

    async def drop(self, places: Collection[Place]) -> int:
        """Gives up messages that are not learned from; returns how many were not. The resources stay."""
        ...

    async def find(
        self, session_id: str, source_id: str, *, lock: bool = False
    ) -> IncomingMessage | None:
        """The ingest state of a resource, None without one; with `lock`, nobody else moves it on until the transaction ends."""
        ...

    async def list_by_state(
        self, state: IngestState, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[IncomingMessage, ...], str | None]:
        """Messages in a state, the oldest first, and the cursor of the next page."""
        ...

    async def count(self) -> IngestCounts:
        """How many there are in each state."""
        ...

    async def find_last_learned(self) -> datetime | None:
        """When a message of the agent was last learned from; None if none was."""
        ...

    async def is_pending(self) -> bool:
        """Whether there are messages that are to be extracted, or learned from."""
        ...


class EventStore(Protocol):
    """The outbox: events for subscribers, each written in the transaction of its change.

    Numbers come to be seen in their order, so whoever goes on after the last one misses none.
    """

    async def list_events(
        self, *, after: int | None = None, kinds: Sequence[EventKind] = (), limit: int = 100
    ) -> tuple[StoredEvent, ...]:
        """Events after a number, or from the first that is stored, the oldest first.

        Raises:
            EventsTrimmedError: some after that number are no longer stored.
            InvalidInputError: there has been no event of that number yet.
        """
        ...

    async def last_number(self) -> int:
        """The number of the last event, also if it is no longer stored; 0 before the first."""
        ...

    async def trim(self, before: datetime, *, limit: int = 10_000) -> int:
        """Removes the oldest events, those from before a moment; returns how many, `limit` at most."""
        ...


class ResourceStore(Protocol):
    """Raw messages, append-only."""

    async def append(self, resources: Sequence[Resource]) -> int:
        """Keeps those that are new by session and source id; returns how many were."""
        ...

    async def select_readers(
        self, places: Collection[Place]
    ) -> dict[Place, tuple[str, ...] | None]:
        """The readers of those that are there; None is everybody."""
        ...

    async def list_by_session(
        self, session_id: str, *, limit: int = 1000, cursor: str | None = None
    ) -> tuple[tuple[Resource, ...], str | None]:
        """The messages of a session in the order of their time."""
        ...

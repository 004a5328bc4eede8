"""The ports: what the rules need from the world, as protocols.

Stores and model clients implement them, activities receive them; neither side imports the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.access.ports import ApiKeyStore, AuditStore
    from mnestic.memory.agents import AgentSummary, WaitingAgent
    from mnestic.memory.contract.ports import ContractStore
    from mnestic.memory.forgetting.export_ports import ExportStore
    from mnestic.memory.forgetting.ports import ForgettingStore, SuppressionListStore
    from mnestic.memory.jobs.contexts import PinnedEpisodes
    from mnestic.memory.jobs.long_term.document_store import DocumentStore
    from mnestic.memory.jobs.ports import (
        EpisodeStore,
        PlanStore,
        RecordStore,
        SnapshotStore,
        ToolResultStore,
        WaitStore,
        WorkingMemoryStore,
    )
    from mnestic.memory.jobs.recalls import Recalled, RecallQuery
    from mnestic.memory.knowledge.extraction import Extraction, ExtractionInput
    from mnestic.memory.knowledge.ports import (
        AccessStore,
        ArchiveStore,
        EntryStore,
        EventStore,
        FactStore,
        IngestStateStore,
        ResourceStore,
    )
    from mnestic.memory.knowledge.resources import Resource
    from mnestic.memory.knowledge.world.categories import CategoryStore
    from mnestic.memory.knowledge.world.period_summaries import PeriodSummaryStore
    from mnestic.memory.maintenance.embeddings import EmbeddingStore
    from mnestic.memory.maintenance.ports import MaintenanceReportStore, MaintenanceStore
    from mnestic.memory.models.messages import ChatMessage, ChatReply, Embeddings, Summary
    from mnestic.memory.models.ports import UsageStore
    from mnestic.memory.operations import LedgerEntry, Operation
    from mnestic.memory.retrieval.caches import CacheCounts, CacheScope, RetrievalCaches
    from mnestic.memory.retrieval.ports import RetrievalLogStore, SearchStore, SettingStore
    from mnestic.memory.scope import Scope
    from mnestic.memory.sharing.ports import ChannelStore, ReaderDefaultStore, SharedMemoryStore


class Transaction(Protocol):
    """One transaction over one agent's memory: all of its reads and writes, or none."""

    @property
    def working(self) -> WorkingMemoryStore: ...  # noqa: D102 - the type says it
    @property
    def records(self) -> RecordStore: ...  # noqa: D102
    @property
    def documents(self) -> DocumentStore: ...  # noqa: D102
    @property
    def contracts(self) -> ContractStore: ...  # noqa: D102
    @property
    def channels(self) -> ChannelStore: ...  # noqa: D102
    @property
    def shared_memory(self) -> SharedMemoryStore: ...  # noqa: D102
    @property
    def reader_defaults(self) -> ReaderDefaultStore: ...  # noqa: D102
    @property
    def facts(self) -> FactStore: ...  # noqa: D102
    @property
    def entries(self) -> EntryStore: ...  # noqa: D102
    @property
    def archive(self) -> ArchiveStore: ...  # noqa: D102
    @property
    def accesses(self) -> AccessStore: ...  # noqa: D102
    @property
    def ingest_states(self) -> IngestStateStore: ...  # noqa: D102
    @property
    def events(self) -> EventStore: ...  # noqa: D102
    @property
    def episodes(self) -> EpisodeStore: ...  # noqa: D102
    @property
    def snapshots(self) -> SnapshotStore: ...  # noqa: D102
    @property
    def waits(self) -> WaitStore: ...  # noqa: D102
    @property
    def resources(self) -> ResourceStore: ...  # noqa: D102
    @property
    def plans(self) -> PlanStore: ...  # noqa: D102
    @property
    def usage(self) -> UsageStore: ...  # noqa: D102
    @property
    def search(self) -> SearchStore: ...  # noqa: D102
    @property
    def settings(self) -> SettingStore: ...  # noqa: D102
    @property
    def retrieval_log(self) -> RetrievalLogStore: ...  # noqa: D102
    @property
    def forgetting(self) -> ForgettingStore: ...  # noqa: D102
    @property
    def suppression_list(self) -> SuppressionListStore: ...  # noqa: D102
    @property
    def exports(self) -> ExportStore: ...  # noqa: D102
    @property
    def tool_results(self) -> ToolResultStore: ...  # noqa: D102
    @property
    def categories(self) -> CategoryStore: ...  # noqa: D102
    @property
    def summaries(self) -> PeriodSummaryStore: ...  # noqa: D102
    @property
    def maintenance(self) -> MaintenanceStore: ...  # noqa: D102
    @property
    def maintenance_reports(self) -> MaintenanceReportStore: ...  # noqa: D102
    @property
    def embeddings(self) -> EmbeddingStore: ...  # noqa: D102
    @property
    def api_keys(self) -> ApiKeyStore: ...  # noqa: D102
    @property
    def audit(self) -> AuditStore: ...  # noqa: D102
    @property
    def caches(self) -> RetrievalCaches: ...  # noqa: D102

    def cache_scope(self, database: str) -> CacheScope:
        """Under which this agent's is cached, as it is in a database."""
        ...

    async def keep_to(self, readers: Sequence[str] | None) -> None:
        """From now on the transaction sees and writes what was said for these readers alone, or with None for everybody."""
        ...

    async def within_readers_of(self, message: Resource) -> AbstractContextManager[None]:
        """A block in which the transaction sees and writes what has the readers that a message will have."""
        ...

    async def now(self) -> datetime:
        """The database's time at the beginning of the transaction, aware."""
        ...

    async def clock(self) -> datetime:
        """The database's time at this moment, aware: no earlier than what others committed and was read before it."""
        ...

    async def revision(self) -> int:
        """How many transactions have written this agent's memory, this one included."""
        ...

    async def replay(self, operation: Operation, request_hash: str) -> Mapping[str, Any] | None:
        """Enters an operation into the ledger; returns its stored result if it was done before.

        Waits for a transaction that is at the same operation right now.

        Raises:
            IdempotencyConflictError: the key was used for another request.
        """
        ...

    async def find_result(
        self, operation: Operation, request_hash: str
    ) -> Mapping[str, Any] | None:
        """The stored result of an operation that was done before, or None; enters nothing.

        Raises:
            IdempotencyConflictError: the key was used for another request.
        """
        ...

    async def list_operations(
        self, job_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[LedgerEntry, ...], str | None]:
        """The operations of a job in the order they were done, and the cursor of the next page."""
        ...

    def note(self, action: str, target: str, *, reason: str | None = None) -> None:
        """Adds a row to the audit log for what the stores do not note by themselves."""
        ...

    def end_with_next(self) -> None:
        """Has a transaction that only reads end with what it asks next, in the same round trip; what follows begins another.

        Its audit rows have to be noted before: what is refused afterwards leaves none of its own.
        """
        ...

    def discard(self) -> None:
        """Has the transaction leave nothing behind, as if it had failed; `note` and the ledger included."""
        ...

    async def complete(self, operation: Operation, result: Mapping[str, Any]) -> None:
        """Keeps the operation's result in the ledger."""
        ...


class Memory(Protocol):
    """An agent's memory. What asks Postgres raises `DatabaseUnavailableError` if it does not answer."""

    def transaction(
        self,
        *,
        tenant_id: str,
        agent_id: str,
        actor: str,
        write: bool,
        consistent: bool = False,
        reader: str | None = None,
    ) -> AbstractAsyncContextManager[Transaction]:
        """A transaction, which begins with its first statement, commits when the block ends, and rolls back when it raises.

        What its beginning may raise comes with that statement, or at the end.

        Args:
            tenant_id: Row-level security shows this tenant's rows only.
            agent_id: The agent whose memory it is.
            actor: Who reads or writes, for the audit log, such as `job/42` or `cli`.
            write: Whether it may write; a write raises the agent's revision.
            consistent: Whether all of its statements see memory as it was at the first of them.
            reader: Who reads: it sees what this reader may read, and without one all.

        Raises:
            DatabaseUnavailableError: Postgres does not answer; nothing was written.
            ConfigurationError: the connection is of a role that may not run as the application.
            SchemaVersionError: the database was never migrated.
            InvalidInputError: the tenant's name is none.
            BackendUnavailableError: all is written, but the backend of a schema does not have it yet.
        """
        ...

    async def find_agent(self, *, tenant_id: str, job_id: str) -> str | None:
        """The agent whose memory a job has written, or None; for jobs that Temporal forgot."""
        ...

    async def list_job_ids(self, prefix: str, *, tenant_id: str, limit: int) -> tuple[str, ...]:
        """The ids of jobs that begin so and have written memory, in their order; also of jobs that Temporal forgot."""
        ...

    async def list_agents_with_met_waits(
        self, *, tenants: Sequence[str], temporal_namespace: str
    ) -> tuple[WaitingAgent, ...]:
        """The agents of some tenants, or of all, with a wait whose condition is met, and whose job was not sent that lately.

        Only waits of jobs in that namespace of Temporal count.
        """
        ...

    def listen(self) -> AbstractAsyncContextManager[Callable[[float], Awaitable[bool]]]:
        """What rests for so many seconds, or until an event is published, for as long as a block; it tells whether one was.

        It rests for the whole time where no connection can listen, as behind a pool of transactions.
        """
        ...

    async def list_waiting_agents(self, *, tenants: Sequence[str]) -> tuple[WaitingAgent, ...]:
        """The agents of these tenants, or of all if none is named, that have messages from which nothing was extracted yet.

        Tenants take turns: the first agent of each, then the second of each.
        """
        ...

    async def list_pending_agents(self, *, tenants: Sequence[str]) -> tuple[WaitingAgent, ...]:
        """The agents of these tenants, or of all if none is named, with records that a backend lacks."""
        ...

    async def flush_records(self, *, tenant_id: str, agent_id: str) -> int:
        """Sends an agent's records to the backends that lack them; returns how many.

        Raises:
            BackendUnavailableError: a backend does not answer; the others have what is theirs.
        """
        ...

    async def list_agents(
        self, *, tenant_id: str, agent_id: str | None, limit: int, cursor: str | None
    ) -> tuple[tuple[AgentSummary, ...], str | None]:
        """The agents of a tenant whose memory was written, by name, or this one; and the cursor of the next page.

        Raises:
            InvalidInputError: the cursor is of another list.
        """
        ...

    async def list_agent_ids(
        self, *, tenant_id: str, after: str | None, limit: int
    ) -> tuple[str, ...]:
        """The agents of a tenant whose memory was written, by name, from the one after `after` on."""
        ...

    def count_accesses(self, entry_ids: Collection[str], *, tenant_id: str, agent_id: str) -> None:
        """Counts an access of each entry; it neither waits nor fails.

        The counts are written a little later, many together, at the latest by `close`; what is not written
        yet is lost with the process. They are no change of memory, and raise no revision.
        """
        ...

    def cache_counts(self, tenant_id: str | None = None) -> CacheCounts:
        """What the caches of this process hold of a tenant or of all, and how often that was of use."""
        ...

    async def check(self) -> None:
        """Connects and compares the schema's version with this code's.

        Raises:
            DatabaseUnavailableError: Postgres does not answer.
            SchemaVersionError: the schema is of another version.
        """
        ...

    async def close(self) -> None:
        """Writes accesses that are pending, and ends all connections."""
        ...


class Retriever(Protocol):
    """Finds what is to be recalled."""

    async def recall(
        self,
        transaction: Transaction,
        query: RecallQuery,
        *,
        scope: Scope,
        job_id: str | None,
        sealed_tail: PinnedEpisodes | None = None,
    ) -> Recalled:
        """What the query asks for, in a stable order.

        With `sealed_tail`, episodes are those of that snapshot, older ones, and the job's own.
        """
        ...


class Summariser(Protocol):
    """Makes many words few."""

    async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
        """A summary of at most `max_chars` characters; empty for no turns. It fails as `ChatModel.reply` does."""
        ...

    @property
    def model(self) -> str | None:
        """The model that it asks; None for a local one."""
        ...


class TokenCounter(Protocol):
    """Counts tokens, without asking anybody."""

    def __call__(self, text: str, /) -> int:
        """How many tokens a text is.

        Raises:
            InvalidInputError: the text is none that UTF-8 can hold.
        """
        ...


class ChatModel(Protocol):
    """Answers messages."""

    async def reply(self, messages: Sequence[ChatMessage], *, max_tokens: int) -> ChatReply:
        """The next message.

        Raises:
            ModelUnavailableError: the model does not answer.
            ModelRefusedError: it refused, or its answer is of no use; says what that took if it is known.
        """
        ...


class Extractor(Protocol):
    """Tells what messages claim."""

    @property
    def name(self) -> str:
        """Which extractor it is, with its version: claims name it."""
        ...

    @property
    def model(self) -> str | None:
        """The model that it asks, whose calls are limited and written down; None for rules."""
        ...

    @property
    def batch(self) -> int:
        """How many turns are best read at once; with a model, by one call."""
        ...

    @property
    def reads_earlier(self) -> bool:
        """Whether turns come with what was said before them, which shows whom their words mean."""
        ...

    async def extract(self, turns: Sequence[ExtractionInput]) -> Extraction:
        """What each turn claims, in the order of the turns.

        The span of a claim holds the turn's own words; `valid_claims` checks it. The text of turns is
        never an instruction. Other turns only show whom its words mean.

        Raises:
            ModelUnavailableError: no answer, or none for now (408, 409, 425, 429, 500 and above).
            ModelMisconfiguredError: the server takes no call of this kind until a setting is changed.
            ModelRefusedError: it takes others, but not this one (declined, filtered, too long), or its
                answer is of no use (cut off, empty, in another shape); fewer turns may fare better.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors, so that what means the same is near."""

    @property
    def name(self) -> str:
        """The name under which vectors are stored: the model and its dimensions."""
        ...

    @property
    def model(self) -> str | None:
        """The model that it asks, whose calls are limited and written down; None for a local one."""
        ...

    @property
    def batch(self) -> int:
        """How many texts are best embedded at once; with a model, by one call."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """The vectors of texts, in their order, one for each, of the configured width.

        An empty text is not sent anywhere and has the vector 0; of one that is longer than the model
        reads, the beginning counts.

        Raises:
            ModelUnavailableError: as of `Extractor.extract`.
            ModelMisconfiguredError: likewise; also for vectors of another width.
            ModelRefusedError: likewise; also for vectors that are too few, too many or no numbers.
        """
        ...


@runtime_checkable
class WordEmbedder(Protocol):
    """An embedder whose vectors are sums of static ones of tokens, so that single words can be compared."""

    def tokenize(self, texts: Sequence[str]) -> Sequence[bytes]:
        """The tokens of each text, in their order, as they are stored with entries."""
        ...

    def compare_words(self, words: Sequence[str], texts: Sequence[bytes]) -> NDArray[np.float32]:
        """How near each word comes to the nearest word of each text.

        Args:
            words: Words, one at least.
            texts: The tokens of each text, as `tokenize` gives them; none is empty, and spaces stand between words.

        Returns:
            Cosines, shape `(words, texts)`.
        """
        ...

    def embed_foreign(
        self, text: str, *, content: str, is_sure: bool = False
    ) -> NDArray[np.float32] | None:
        """The vector of a question in a language that the model hardly knows; None where it knows the language.

        What the vectors of all texts in such languages have in common is taken out, since it would make them
        near each other.

        Args:
            text: The question.
            content: Its words without those that say nothing.
            is_sure: Whether it is known to be in such a language.
        """
        ...

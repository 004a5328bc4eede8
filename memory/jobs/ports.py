"""The ports of the stores of jobs: what one transaction reads and writes, by kind.

All methods work inside the transaction they came from and belong to its tenant and agent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.jobs.episodes import Episode
    from mnestic.memory.jobs.long_term.backends import BackendRecord, RecordPlace, RemoteBackend
    from mnestic.memory.jobs.long_term.filters import QueryFilter
    from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord, RecordRef
    from mnestic.memory.jobs.long_term.schemas import SchemaRules
    from mnestic.memory.jobs.plans import Plan
    from mnestic.memory.jobs.short_term.segments import Segments
    from mnestic.memory.jobs.snapshots import (
        SealedSnapshot,
        SnapshotParts,
        SnapshotRef,
        VerifiedWait,
    )
    from mnestic.memory.jobs.tool_results import ToolResultRef
    from mnestic.memory.jobs.waits import JobWait, MetWait, ResumeReceipt, WaitState
    from mnestic.memory.jobs.working_memory import (
        Message,
        WorkingDocument,
        WorkingMemory,
        WorkingRef,
    )
    from mnestic.memory.sharing.events import ChannelEvent


class WorkingMemoryStore(Protocol):
    """Working memory by session."""

    async def load(self, session_id: str, *, lock: bool = False) -> WorkingMemory:
        """The session's state; an empty one, version 0, if nothing was written.

        With `lock`, nobody else writes this session until the transaction ends.
        """
        ...

    async def find_ref(self, session_id: str, *, lock: bool = False) -> WorkingRef:
        """Which state the session is in, which is not read.

        With `lock`, nobody else writes this session until the transaction ends.
        """
        ...

    async def find_segments(self, session_id: str) -> Segments | None:
        """The session's segments, without the rest of its state; None without any."""
        ...

    async def load_document(self, session_id: str) -> WorkingDocument:
        """The session's state as it is stored, whatever it is."""
        ...

    async def checkpoint(self, session_id: str, snapshot_id: str) -> WorkingDocument:
        """Names the snapshot that is taken of the state; returns it with its new version, locked.

        The state is neither read nor written anew.

        Raises:
            StoredValueError: what is stored is no state.
        """
        ...

    async def save(self, session_id: str, state: WorkingMemory) -> WorkingMemory:
        """Writes a state that was derived from the stored one; returns it with its new version.

        Raises:
            StaleVersionError: `state.version` is not the stored version; holds what is stored.
        """
        ...


class RecordStore(Protocol):
    """Long-term records of the agent, by namespace and key."""

    async def get(self, namespace: str, key: str) -> LongTermRecord:
        """The live record.

        Raises:
            NotFoundError: there is none, or it is deleted or expired.
        """
        ...

    async def find(self, namespace: str, key: str) -> LongTermRecord | None:
        """The live record, or None."""
        ...

    async def set(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> LongTermRecord:
        """Writes a value. `expected_version` 0 means: only if there is no live record.

        If the contract in force for the agent has a schema of that namespace, the value must fit it, and lives as long as it says
        at most.

        Raises:
            StaleVersionError: the stored version is not the expected one; holds the stored record.
            InvalidInputError: the value is None, cannot be stored, or does not fit its schema.
        """
        ...

    async def delete(
        self, namespace: str, key: str, *, expected_version: int | None = None
    ) -> RecordRef:
        """Deletes the live record; the key's version goes on counting.

        Raises:
            NotFoundError: there is none.
            StaleVersionError: the stored version is not the expected one.
        """
        ...

    async def list_by_namespace(
        self,
        namespace: str | None,
        *,
        limit: int = 100,
        cursor: str | None = None,
        until: str | None = None,
        whole: bool = False,
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """Live records in the order of namespace and key, and the cursor of the next page.

        With `until`, those up to that key. With `whole`, those of all namespaces are with versions, conflicts and histories.
        """
        ...

    async def find_rules(self, namespace: str) -> SchemaRules | None:
        """The schema of a namespace in the contract in force for the agent, or None."""
        ...

    async def query(
        self, namespace: str, found: QueryFilter
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """The live records of a namespace that pass a filter, in its order, and the cursor of the next page.

        Raises:
            InvalidInputError: the cursor is of another list.
        """
        ...

    async def expire(self, selector: str, schema_id: str, *, ttl: timedelta) -> int:
        """Ends records of a schema that are older than `ttl`, of all agents whose contract is that of the selector.

        Returns how many end earlier than they did.
        """
        ...

    async def send_again(self, schemas: Collection[str], *, of_all_agents: bool) -> int:
        """Has records of schemas sent to their backends, of the agent or of all of the tenant; returns how many."""
        ...

    async def select(
        self, names: Sequence[tuple[str, str]]
    ) -> tuple[dict[tuple[str, str], LongTermRecord], dict[tuple[str, str], int]]:
        """The live records of these names, and the versions of all their rows, dead ones included."""
        ...

    async def select_again(
        self, reads: Sequence[ReadRecord]
    ) -> tuple[
        tuple[ReadRecord, ...],
        dict[tuple[str, str], LongTermRecord],
        dict[tuple[str, str], int],
    ]:
        """A read set, and its records as they are now, as from `select`.

        Records that are new in a namespace which was read whole join the read set, as not there; of
        one that had more records than were read, only those up to the key that the reading ended at.
        """
        ...

    async def add_reads(self, job_id: str, reads: Sequence[ReadRecord]) -> None:
        """Puts records into a job's read set; what is seen later replaces what was seen earlier."""
        ...

    async def list_reads(
        self, job_id: str, *, pinned: bool = False, lock: bool = False
    ) -> tuple[ReadRecord, ...]:
        """A job's read set, or what is pinned of it, in the order of namespace and key.

        With `lock`, whoever locks it too waits until this transaction ends, also when it is empty.
        """
        ...

    async def remove_reads(self, job_id: str) -> None:
        """Forgets a job's read set, once the job is over."""
        ...


class RecordBackend(Protocol):
    """A store of records beside Mnestic's database. Whatever is sent twice, or late, changes nothing.

    Each method raises `BackendUnavailableError` if it does not answer.
    """

    async def prepare(self) -> None:
        """Makes what the records need, such as a table, if it is not there."""
        ...

    async def write(self, records: Sequence[BackendRecord]) -> tuple[int, ...]:
        """Stores records, and removes those without a value; one whose stored version is later stays as it is.

        Returns the latest version of each that it knows: that which was sent, or a later one.
        """
        ...

    async def find(self, place: RecordPlace) -> BackendRecord | None:
        """A record that is neither removed nor expired, or None."""
        ...

    async def close(self) -> None:
        """Ends its connections."""
        ...


class RecordBackends(Protocol):
    """Opens backends, each once."""

    async def open(self, backend: RemoteBackend) -> RecordBackend:
        """A backend, which connects with its first use.

        Raises:
            ConfigurationError: a variable of its address is not set, the address is malformed, or a package is missing.
        """
        ...

    async def close(self) -> None:
        """Closes all that were opened."""
        ...


class EpisodeStore(Protocol):
    """Episodes of the agent, newest first."""

    async def append(self, episode: Episode, *, said: Sequence[Message] = ()) -> Episode:
        """Keeps an episode, which has the readers of its session.

        Args:
            episode: It.
            said: Messages of its session that this transaction has not saved yet.

        Raises:
            AlreadyExistsError: an episode of that id is stored already.
            InvalidInputError: it is of another agent or cannot be stored.
        """
        ...

    async def list_by_agent(
        self, *, limit: int = 20, cursor: str | None = None
    ) -> tuple[tuple[Episode, ...], str | None]:
        """Episodes of the agent, and the cursor of the next page."""
        ...

    async def list_by_session(
        self, session_id: str, *, limit: int = 20, cursor: str | None = None
    ) -> tuple[tuple[Episode, ...], str | None]:
        """Episodes of one session."""
        ...

    async def list_by_job(
        self, job_id: str, *, limit: int = 20, cursor: str | None = None
    ) -> tuple[tuple[Episode, ...], str | None]:
        """Episodes of one job."""
        ...


class SnapshotStore(Protocol):
    """Immutable memory snapshots."""

    async def put(self, snapshot_id: str, parts: SnapshotParts, *, job_id: str) -> SnapshotRef:
        """Seals a snapshot and keeps it.

        Raises:
            AlreadyExistsError: a snapshot of that id is stored already.
        """
        ...

    async def get(self, snapshot_id: str, *, sha256: str) -> SealedSnapshot:
        """Verifies the stored bytes against the hash that the caller was given.

        The rest of a redacted snapshot is verified by a hash of its own.

        Raises:
            NotFoundError: there is no such snapshot.
            SnapshotCorruptedError: the bytes are not those that were written.
            SchemaVersionError: a newer version wrote them.
            StoredValueError: what was sealed is no memory.
        """
        ...

    async def verify_open(self, *, after: str, limit: int) -> tuple[VerifiedWait, ...]:
        """Open waits of the tenant, by id from the one after `after` on, and whether the snapshot of each is whole."""
        ...


class WaitStore(Protocol):
    """The waits of jobs."""

    async def open(self, wait: JobWait, *, temporal_namespace: str | None = None) -> None:
        """Keeps a new wait, of a job in that namespace of Temporal.

        Raises:
            AlreadyExistsError: the wait is stored already.
            JobEndedError: the job has ended.
        """
        ...

    async def get(self, wait_id: str) -> JobWait:
        """A wait.

        Raises:
            NotFoundError: there is none of that id.
        """
        ...

    async def close(
        self, wait_id: str, state: WaitState, *, receipt: ResumeReceipt | None
    ) -> JobWait:
        """Ends a wait that is open; closing it again with the same state changes nothing.

        Raises:
            NotFoundError: there is none of that id.
            StaleVersionError: it was ended in another way.
            AlreadyExistsError: the receipt's request has resumed another wait of the job.
        """
        ...

    async def extend(self, wait_id: str, deadline: datetime) -> JobWait:
        """Moves the deadline of a wait that is open.

        Raises:
            NotFoundError: there is none of that id.
            StaleVersionError: it is over.
        """
        ...

    async def cancel_open(self, job_id: str) -> int:
        """Ends the waits of a job that are still open, as cancelled; returns how many there were."""
        ...

    async def find_event(self, wait_id: str) -> ChannelEvent | None:
        """The event that a wait has got, or None."""
        ...

    async def claim_met(self, temporal_namespace: str) -> tuple[MetWait, ...]:
        """The waits of the agent whose jobs are to be sent that their condition is met; each again after twice the time, a minute at first.

        Only those of jobs in that namespace of Temporal.
        """
        ...

    async def find_receipt(self, job_id: str, request_id: str) -> ResumeReceipt | None:
        """The receipt that a resume of this job got, or None."""
        ...

    async def list_by_job(
        self, job_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[JobWait, ...], str | None]:
        """The waits of a job in the order they were opened."""
        ...

    async def list_latest(self, job_id: str, *, limit: int = 100) -> tuple[JobWait, ...]:
        """The latest waits of a job, in the order they were opened."""
        ...


class PlanStore(Protocol):
    """The plans that jobs were started with, by the hash that their waits name."""

    async def put(self, plan: Plan) -> None:
        """Stores a plan, if it is not stored already."""
        ...

    async def find(self, decision_id: str) -> Plan | None:
        """The plan of that hash, or None."""
        ...


class ToolResultStore(Protocol):
    """Results of tools that are too large to travel with a job."""

    async def put(self, result_id: str, result: Any, *, job_id: str, node: str) -> ToolResultRef:
        """Keeps a result.

        Raises:
            AlreadyExistsError: a result of that id is stored already.
            InvalidInputError: it cannot be stored.
        """
        ...

    async def get(self, ref: ToolResultRef) -> Any:
        """The result, verified against the hash of its reference.

        Raises:
            NotFoundError: there is none.
            StoredValueError: it is not what was stored.
        """
        ...

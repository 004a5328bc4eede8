"""The unit of work that all stores of one transaction share: connection, owner, audit trail."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any, Protocol

from psycopg import AsyncConnection, Error
from pydantic import TypeAdapter

from mnestic.memory.access.audit import refusal
from mnestic.memory.canonical import storable
from mnestic.memory.errors import InvalidInputError, NotFoundError, RefusedError
from mnestic.memory.jobs.long_term.backends import RemoteBackend
from mnestic.memory.knowledge.events import MemoryEvent
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.scope import agent_of
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.stores.postgres.connections import Rows, run_together
from mnestic.stores.postgres.queries import NamedQuery, Query, packed, read_query
from mnestic.stores.postgres.sqlstates import Meaning, bad_input, meaning_of
from mnestic.stores.postgres.transaction_setup import COMMIT, ROLLBACK, begin_statements

Owner = tuple[str, str]  # tenant and agent


class Refresh(Protocol):
    """Takes a record from its backend if that is due; returns whether it changed."""

    def __call__(
        self, unit: "UnitOfWork", schema_id: str, key: str, *, version: int | None
    ) -> Awaitable[bool]:
        """See `record_sync.RecordSync.refresh`."""
        ...


_NOW, _CLOCK = read_query("unit_of_work.now"), read_query("unit_of_work.clock")
_RAISE_REVISION = read_query("unit_of_work.raise_revision")
_SET_AUDIENCE = read_query("unit_of_work.set_audience")
_ADD_AUDIENCE = read_query("unit_of_work.add_audience")
_FIND_AUDIENCE = read_query("unit_of_work.find_audience")
_AUDIENCE_OF_MESSAGE = read_query("unit_of_work.audience_of_message")
_NOBODY = -1  # the audience of what no reader may read
_AUDIT, _FINISH_WRITE = read_query("add_audit_rows"), read_query("finish_write")
# The first part of a write's action, where it changes what searches read.
_KNOWLEDGE = frozenset({"entry", "claim", "fact", "predicate", "setting"})
_EVENTS = TypeAdapter(list[MemoryEvent])


class Statements(Protocol):
    """Statements about one corpus: an agent's memory, or a collection."""

    async def fetch(self, query: NamedQuery, **values: Any) -> Rows:
        """See `UnitOfWork.fetch`."""
        ...

    async def fetch_one(self, query: NamedQuery, **values: Any) -> Any | None:
        """See `UnitOfWork.fetch_one`."""
        ...

    async def write(self, query: NamedQuery, **values: Any) -> int:
        """See `UnitOfWork.write`."""
        ...


class UnitOfWork:
    """One transaction of one actor on one agent's memory; it begins with its first statement."""

    def __init__(
        self,
        connection: AsyncConnection[Any],
        *,
        tenant_id: str,
        agent_id: str,
        actor: str,
        write: bool,
        consistent: bool = False,
        refresh: "Refresh | None" = None,
        reader: str | None = None,
    ) -> None:
        self.connection = connection
        self.tenant_id = tenant_id
        self.agent_id = agent_id
        self.operation_key: str | None = None
        self.actor = actor
        self.may_write = write
        self._is_consistent = consistent
        self.reader = reader
        self.audience: int | None = None
        """The audience whose rows alone it sees and writes, 0 for everybody's; without one it sees all."""
        self.refresh = None if consistent else refresh
        """Takes a record from the backend of its schema before it is read, where that is due."""
        self._is_begun = self._is_over = self._is_discarded = False
        self._ends_with_next = False
        self._wrote = self._knows_more = self._has_new_graph = False
        self._trail: list[tuple[str, str, str | None]] = []
        self._attempt: tuple[str, str] | None = None
        self._access: tuple[str, str] | None = None
        self._events: list[MemoryEvent] = []
        self._revision: int | None = None
        self._ahead: list[tuple[Query, Rows]] = []
        self._at_end: list[Query] = []
        self._before_commit: dict[Callable[[], Awaitable[None]], None] = {}
        self.flushed_schemas: set[str] = set()
        """Schemas whose backends have to have what was written before anybody is told that it is."""
        self.announced: list[tuple[RemoteBackend, Sequence[ChannelEvent]]] = []
        """Events that backends publish as well, once the transaction has committed."""
        self.is_replay = False
        """Whether an earlier attempt wrote, and may have ended before backends had all of it."""

    @property
    def owner(self) -> dict[str, str]:
        """The columns that every row of this agent has."""
        return {"tenant_id": self.tenant_id, "agent_id": self.agent_id}

    @property
    def account(self) -> dict[str, str]:
        """The owner of what is counted and written down: the agent, also where the corpus of a collection is written."""
        return {"tenant_id": self.tenant_id, "agent_id": agent_of(self.agent_id)}

    async def fetch(self, query: NamedQuery, **values: Any) -> Rows:
        """The rows of a query about this agent; `tenant_id` and `agent_id` are among its values."""
        (rows,) = await self.rows_of(query.bind(self.owner | values))
        return rows

    async def fetch_one(self, query: NamedQuery, **values: Any) -> Any | None:
        """The first row of a query about this agent, or None."""
        rows = await self.fetch(query, **values)
        return rows[0] if rows else None

    async def write(self, query: NamedQuery, **values: Any) -> int:
        """Runs a query about this agent; returns how many rows it wrote."""
        return (await self.fetch(query, **values)).touched

    async def rows_of(self, *queries: Query) -> list[Rows]:
        """Runs statements that do not wait for each other, in one round trip; returns the rows of each.

        Raises:
            InvalidInputError: Postgres or UTF-8 cannot hold one of the values.
        """
        if self._ends_with_next:
            return await self._end_with(queries)
        return await self._together(queries, opening=self._opening())

    async def _together(self, queries: Sequence[Query], *, opening: Sequence[Query]) -> list[Rows]:
        ahead, self._ahead = self._ahead, []
        together = [*(query for query, _ in ahead), *queries]
        with self._running():
            self._is_begun = True
            found = await run_together(self.connection, together, opening=opening)
        for (_, rows), result in zip(ahead, found, strict=False):
            rows.extend(result)
            rows.touched = result.touched
        return found[len(ahead) :]

    def end_with_next(self) -> None:
        """See the port. It goes on as before if it writes, sees the database at one moment, or is kept to an audience."""
        may_end = not (self.may_write or self._is_consistent) and self.audience is None
        self._ends_with_next = may_end and not self._is_discarded

    async def _end_with(self, queries: Sequence[Query]) -> list[Rows]:
        """Runs statements, and ends with them.

        If it begins with them too, it needs neither BEGIN nor COMMIT: the statements of a pipeline are one transaction.
        """
        last, opening = self._closing(), self._opening()
        last, opening = ([*last, COMMIT], ()) if self._is_begun else (last, opening[1:])
        found = await self._together([*queries, *last], opening=opening)
        self._is_begun = self._ends_with_next = False
        self._trail, self._at_end, self._access, self._attempt = [], [], None, None
        return found[: len(queries)]

    def send_ahead(self, query: Query) -> Rows:
        """Has a statement go ahead of those of the next round trip, which fills the rows that are returned.

        What it refuses is told by that round trip.
        """
        rows = Rows()
        self._ahead.append((query, rows))
        return rows

    @contextmanager
    def within(self, audience: int | None) -> Iterator[None]:
        """While what follows sees and writes the rows of one audience alone; of None it sees all."""
        before = self.audience
        self._see(audience)
        try:
            yield
        finally:
            self._see(before)

    async def within_readers_of(self, message: Resource) -> AbstractContextManager[None]:
        """While what follows sees and writes the rows of the audience of a message, kept or to be kept."""
        values = message.model_dump(include={"session_id", "source_id", "channel", "readers"})
        values["readers"] = None if message.readers is None else [*message.readers]
        (row,) = await self.fetch(_AUDIENCE_OF_MESSAGE, **values)
        return self.within(row.audience)

    async def keep_to(self, readers: Sequence[str] | None) -> None:
        """From now on it sees and writes what was said for these readers alone, or for everybody."""
        audience = 0
        if readers is not None:
            if self.may_write:
                await self.write(_ADD_AUDIENCE, readers=[*readers])
            row = await self.fetch_one(_FIND_AUDIENCE, readers=[*readers])
            audience = _NOBODY if row is None else row.id
        self._see(audience)

    def confine(self, audience: int) -> None:
        """Has a transaction that writes about something of an audience see and write nothing else from now on."""
        if self.may_write and self.audience is None:
            self._see(audience)

    def _see(self, audience: int | None) -> None:
        assert self.reader is None, "who reads for a reader sees nothing else"
        if audience != self.audience:
            self.audience = audience
            self.send_ahead(
                _SET_AUDIENCE.bind({"audience": "" if audience is None else str(audience)})
            )

    async def until_sent(self, rows: Rows) -> None:
        """Sends a statement that goes ahead, if no round trip took it yet."""
        if any(rows is waiting for _, waiting in self._ahead):
            await self.rows_of()

    def read(self, action: str, target: str, *, reason: str | None = None) -> None:
        """Notes a read for the audit log, or what was denied, for which reason."""
        self._attempt = None
        self._trail.append((action, target, reason))

    def attempt(self, action: str, target: str) -> None:
        """Notes what is about to be done: if it is refused before it is noted as done, the audit log says so."""
        self._attempt = (action, target)

    def begin_access(self, action: str, target: str, *, operation_key: str | None) -> None:
        """Notes the access that the transaction is for: if it is refused, its row stands for all others."""
        self._access = (action, target)
        self.operation_key = operation_key or self.operation_key

    def complete_access(self, *, reason: str | None = None) -> None:
        """Notes that the access was done, or why it was refused."""
        assert self._access is not None, "an access ends that was not begun"
        self.read(*self._access, reason=reason)

    @property
    def attempts(self) -> tuple[tuple[str, str], ...]:
        """All that was read, written or attempted: action and target; or the access that it was for."""
        if self._access is not None:
            return (self._access,)
        done = [(action, target) for action, target, _ in self._trail]
        attempted = [] if self._attempt is None else [self._attempt]
        return tuple(dict.fromkeys((*done, *attempted)))

    async def note_refused(self, undone: "UnitOfWork", error: RefusedError) -> None:
        """Leaves audit rows of a transaction that was undone, because what was attempted in it was refused."""
        reason = refusal(type(error))
        self.operation_key = undone.operation_key
        attempts = undone.attempts
        if not attempts and isinstance(
            error, NotFoundError
        ):  # what is not there was read all the same
            attempts = ((f"{error.what.replace(' ', '_')}.get", error.name),)
        self._trail = [(action, storable(target), reason) for action, target in attempts]
        if self._trail:
            await self.finish()

    def wrote(self, action: str, target: str, *, reason: str | None = None) -> None:
        """Notes a write for the audit log, and that the agent's memory has a new revision."""
        assert self.may_write, f"{action} in a transaction that only reads"
        self._wrote = True
        of = action.partition(".")[0]
        self._knows_more |= of in _KNOWLEDGE
        self._attempt = None
        self._trail.append((action, target, reason))

    def changed(self) -> None:
        """Notes that what searches read has changed, by what is no write of its own."""
        self._knows_more = True

    def changed_graph(self) -> None:
        """Notes that nodes or edges have changed, so that the graph has a new revision."""
        self._has_new_graph = True

    def publish(self, *events: MemoryEvent) -> None:
        """Publishes events of memory to subscribers, as part of this transaction."""
        self._events += events

    async def now(self) -> datetime:
        """The time at which the transaction began, by the database's clock."""
        (row,) = await self.fetch(_NOW)
        moment: datetime = row.moment
        return moment

    async def clock(self) -> datetime:
        """The time at this moment, by the database's clock."""
        (row,) = await self.fetch(_CLOCK)
        moment: datetime = row.moment
        return moment

    async def revision(self) -> int:
        """Raises the agent's revision, once a transaction.

        It is the last lock that a transaction takes, so writers of one agent cannot lock each other out.
        """
        if self._revision is None:
            await self._follow_writes()
            (raised,) = await self.fetch(_RAISE_REVISION, **self.account)
            self._revision = int(raised.revision)
        return self._revision

    def at_end(self, query: Query) -> None:
        """Has a statement, whose result nobody reads, run at the end of the transaction."""
        self._at_end.append(query)

    def before_commit(self, work: Callable[[], Awaitable[None]]) -> None:
        """Has work done once, before the transaction ends: what follows from all that it has written."""
        self._before_commit[work] = None

    async def _follow_writes(self) -> None:
        """Does what follows from the writes, before the last lock is taken."""
        while self._before_commit:
            work, _ = self._before_commit.popitem()
            await work()

    def discard(self) -> None:
        """Has the end of the transaction undo all that it has written."""
        self._is_discarded = True

    async def finish(self) -> None:
        """Does what follows from the writes, writes what every transaction leaves behind, and commits."""
        if self._is_discarded:
            self._ahead.clear()
            await self.rows_of(ROLLBACK)
            return
        await self._follow_writes()
        last = self._closing()
        if self._is_begun or self._ahead or last:
            self._ends_with_next = False
            await self.rows_of(*last, COMMIT)

    def _closing(self) -> list[Query]:
        """What every transaction leaves behind."""
        last = [*self._at_end]
        if self._wrote or self._knows_more or self._has_new_graph or self._events:
            last.append(_FINISH_WRITE.bind(self._audited() | self._counted()))
        elif self._trail:
            last.append(_AUDIT.bind(self._audited()))
        return last

    def _counted(self) -> dict[str, Any]:
        """By how much the agent's counts rise, and the events."""
        return {
            "revisions": int(self._wrote and self._revision is None),
            "knowledge": int(self._knows_more),
            "graph": int(self._has_new_graph),
            "event_count": len(self._events),
            "events": _EVENTS.dump_json(self._events).decode(),
        }

    def _audited(self) -> dict[str, str]:
        """The rows of the audit log, of all that has been noted for it."""
        rows = [
            {
                "actor": self.actor,
                "action": action,
                "target": target,
                "operation_key": self.operation_key,
                "reason": reason,
            }
            for action, target, reason in self._trail
        ]
        return packed(self.account, rows, what="the audit log")

    def _opening(self) -> tuple[Query, ...]:
        """What goes before the first statements."""
        if self._is_begun:
            return ()
        return begin_statements(
            self.tenant_id,
            write=self.may_write,
            consistent=self._is_consistent,
            agent_id=self.agent_id,
            reader=self.reader,
        )

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Tells what Postgres refuses in words of ours; after an error, which may have undone role and tenant, it ends."""
        assert not self._is_over, "a transaction goes on after an error"
        try:
            with _refusals():
                yield
        except BaseException:
            self._is_over = True
            raise


class CorpusStatements:
    """Statements about another corpus of the agent, such as a collection, in the transaction of a unit."""

    def __init__(self, unit: UnitOfWork, corpus: str) -> None:
        self._unit, self._corpus = unit, corpus

    async def fetch(self, query: NamedQuery, **values: Any) -> Rows:
        """See `UnitOfWork.fetch`."""
        return await self._unit.fetch(query, **{**values, "agent_id": self._corpus})

    async def fetch_one(self, query: NamedQuery, **values: Any) -> Any | None:
        """See `UnitOfWork.fetch_one`."""
        return await self._unit.fetch_one(query, **{**values, "agent_id": self._corpus})

    async def write(self, query: NamedQuery, **values: Any) -> int:
        """See `UnitOfWork.write`."""
        return await self._unit.write(query, **{**values, "agent_id": self._corpus})


@contextmanager
def _refusals() -> Iterator[None]:
    """Tells what Postgres refuses in words of ours."""
    try:
        yield
    except Error as error:
        if meaning_of(error) is not Meaning.BAD_INPUT:
            raise
        raise bad_input(error) from error
    except UnicodeEncodeError as error:
        why = "holds half of a surrogate pair, which is not text"
        raise InvalidInputError(what="a name or a value", why=why) from error

"""The unit of work that all stores of one transaction share: connection, owner, audit trail."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import (
    ARRAY,
    CursorResult,
    Executable,
    Row,
    Text,
    bindparam,
    func,
    select,
    text,
    tuple_,
)
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.signals import Signal
from mnestic.stores.postgres.bulk import insert_rows, packed
from mnestic.stores.postgres.connections import (
    Asked,
    commit,
    end,
    pipelined,
    read_together,
    written,
)
from mnestic.stores.postgres.opening import opening, opening_again
from mnestic.stores.postgres.sqlstates import Meaning, bad_input, meaning_of
from mnestic.stores.postgres.tables import AuditRow, RevisionRow, table

Rows = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Owner = tuple[str, str]  # tenant and agent
NOTHING: Asked = (text(""), {})  # asks nothing, and has no rows
REVISION = table(RevisionRow)
AUDIT = table(AuditRow)

# Built once: building a statement takes as long as running a small one.
_NOW = select(func.now())
_CLOCK = select(func.clock_timestamp())
_RAISE_REVISION = (
    upsert(REVISION)
    .values(revision=1, updated_at=func.now())
    .on_conflict_do_update(
        index_elements=["tenant_id", "agent_id"],
        set_={"revision": REVISION.c.revision + 1, "updated_at": func.now()},
    )
)
_READ_REVISION = _RAISE_REVISION.returning(REVISION.c.revision)
_INSERT_AUDIT = insert_rows(
    AUDIT, "actor", "action", "target", "operation_key", "reason", now=["at"]
)
# The row that counts is locked until the transaction commits, so a number is seen after all before it.
_SEND = text("""
WITH counted AS (
    UPDATE mnestic.agent_revision SET signals = signals + :count
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id
    RETURNING signals - :count AS before
)
INSERT INTO mnestic.signal
       (tenant_id, agent_id, number, kind, target, ids, subject, predicate, details, at)
SELECT :tenant_id, :agent_id, before + place, kind, target, ids, subject, predicate, details, now()
  FROM counted, ROWS FROM (
       jsonb_to_recordset(CAST(:signals AS jsonb))
       AS (kind text, target text, ids jsonb, subject text, predicate text, details jsonb)
     ) WITH ORDINALITY AS told (kind, target, ids, subject, predicate, details, place)
""")
# The first part of a write's action, where it changes what searches read.
_KNOWLEDGE = frozenset({"entry", "claim", "fact", "predicate", "setting"})
_OF_OTHERS = frozenset({"entry", "setting", "learning", "resource"})  # than claims and facts
# After the revision, whose lock it has.
_COUNT_KNOWLEDGE = """
UPDATE mnestic.agent_revision SET knowledge = knowledge + 1
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
RETURNING knowledge
"""
_MOST_NAMED = 300  # entries
_COMMIT: Asked = ("COMMIT", {})
_SIGNALS = TypeAdapter(list[Signal])


@dataclass(frozen=True, slots=True)
class Change:
    """A change of what an agent knows: its number, which entries are others now, and which are new.

    None: any may be. `is_of_facts`: claims or facts may be others.
    """

    owner: Owner
    knowledge: int
    numbers: Sequence[int] | None
    added: Sequence[int] | None
    is_of_facts: bool = True


class Unit:
    """One transaction of one actor on one agent's memory; it begins with its first statement."""

    def __init__(
        self, connection: AsyncConnection, *, tenant_id: str, agent_id: str, actor: str, write: bool
    ) -> None:
        self.connection = connection
        self.tenant_id = tenant_id
        self.agent_id = agent_id
        self.operation_key: str | None = None
        self.actor = actor
        self.may_write = write
        self._opening: Asked | None = opening(tenant_id, write=write)
        self._is_over = self._has_ended = False
        self.accesses: dict[int, tuple[int, datetime]] = {}  # of entries by number, as counted anew
        self._wrote = False
        self._knows_more = self._is_of_facts = False
        self._changed: set[int] | None = set()
        self._added: set[int] = set()
        self._trail: list[tuple[str, str, str | None]] = []
        self._signals: list[Signal] = []
        self._revision: int | None = None
        self._at_end: list[tuple[Executable, Rows]] = []

    @property
    def owner(self) -> dict[str, str]:
        """The columns that every row of this agent has."""
        return {"tenant_id": self.tenant_id, "agent_id": self.agent_id}

    @property
    def here(self) -> dict[str, str]:
        """The values of `is_owned`."""
        return {"in_tenant": self.tenant_id, "in_agent": self.agent_id}

    def owned(self, target: Any) -> Any:
        """The condition that a row is this agent's; row-level security is the wall behind it."""
        return (target.c.tenant_id == self.tenant_id) & (target.c.agent_id == self.agent_id)

    async def rows(self, statement: Executable, values: Rows | None = None) -> Sequence[Row[Any]]:
        """Runs a statement and returns its rows."""
        return (await self._execute(statement, values)).all()

    async def row(
        self, statement: Executable, values: Mapping[str, Any] | None = None
    ) -> Row[Any] | None:
        """Runs a statement and returns its first row, or None."""
        return (await self._execute(statement, values)).first()

    async def rows_of(
        self, *asked: Asked, is_noted: bool = False, is_last: bool = False
    ) -> list[Sequence[Any]]:
        """Runs statements that do not wait for each other, in one round trip; returns the rows of each.

        Args:
            asked: The statements, with their values.
            is_noted: Whether the audit log is written behind them, and not at the end: who has work until they are
                answered does not wait for it.
            is_last: Whether nothing else is likely to be asked: then the audit log is written behind them as well, and a
                transaction that only reads is committed. If something is asked all the same, another one begins; it has
                none of the settings that statements of the first have made.

        Raises:
            InvalidInputError: Postgres or UTF-8 cannot hold one of the values.
        """
        statements = [one for one in asked if one is not NOTHING]
        if not statements:
            return [() for _ in asked]
        with self._asking():
            noted: list[Asked] = [self._audited()] if (is_noted or is_last) and self._trail else []
            ends = is_last and not (self.may_write or self.connection.in_transaction())
            if ends:
                noted.append(_COMMIT)
            found = iter(
                await read_together(
                    self.connection, statements, opening=self._take_opening(), noted=noted
                )
            )
        if ends:
            self._opening, self._has_ended = opening_again(self.tenant_id), True
        return [() if one is NOTHING else next(found) for one in asked]

    async def run(self, statement: Executable, rows: Rows | None = None) -> int:
        """Runs a statement, with one row of values or for each of many; returns how many it touched."""
        counting = statement.execution_options(preserve_rowcount=True)  # else inserts say -1
        return (await self._execute(counting, rows)).rowcount

    def read(self, action: str, target: str) -> None:
        """Notes a read for the audit log."""
        self._trail.append((action, target, None))

    def wrote(self, action: str, target: str, *, reason: str | None = None) -> None:
        """Notes a write for the audit log, and that the agent's memory has a new revision."""
        assert self.may_write, f"{action} in a transaction that only reads"
        self._wrote = True
        of = action.partition(".")[0]
        self._knows_more |= of in _KNOWLEDGE
        self._is_of_facts |= of not in _OF_OTHERS
        self._trail.append((action, target, reason))

    def changed(self, numbers: Iterable[int] | None) -> None:
        """Notes entries, by number, that are others now than they were, or gone; None: any may be."""
        self._knows_more = True
        if numbers is None:
            self._changed = None
        elif self._changed is not None:
            self._changed.update(numbers)

    def added(self, numbers: Iterable[int]) -> None:
        """Notes entries, by number, that are new."""
        self._added.update(numbers)

    def tell(self, *signals: Signal) -> None:
        """Has subscribers told, in this transaction, of what it wrote."""
        self._signals += signals

    async def now(self) -> datetime:
        """The time at which the transaction began, by the database's clock."""
        moment: datetime = (await self._execute(_NOW)).scalar_one()
        return moment

    async def clock(self) -> datetime:
        """The time at this moment, by the database's clock."""
        moment: datetime = (await self._execute(_CLOCK)).scalar_one()
        return moment

    async def revision(self) -> int:
        """Raises the agent's revision, once a transaction.

        It is the last lock that a transaction takes, so writers of one agent cannot lock each other out.
        """
        if self._revision is None:
            raised = await self._execute(_READ_REVISION, self.owner)
            self._revision = raised.scalar_one()
        return self._revision

    def at_end(self, statement: Executable, values: Rows) -> None:
        """Has a statement, whose result nobody reads, run at the end of the transaction."""
        self._at_end.append((statement, values))

    async def finish(self) -> Change | None:
        """Writes what every transaction leaves behind: revision, signals, audit rows; and commits.

        Returns what it changed of what the agent knows, now that it is committed.
        """
        if self._has_ended and self._opening is not None and not self._trail:
            return None  # nothing was asked since it was committed
        await self._open()
        last = self._last()
        with self._asking():
            if not (last or self._trail or self._knows_more):
                await commit(self.connection)
                return None
            async with pipelined(self.connection) as driver:
                for statement, values in last:
                    await self.connection.execute(statement, values)
                if self._trail:
                    await driver.execute(*self._audited())
                counting = driver.cursor()
                if self._knows_more:
                    await counting.execute(_COUNT_KNOWLEDGE, self.owner)
                await end(self.connection, driver)
        counted = await counting.fetchone() if self._knows_more else None
        if counted is None:
            return None
        return Change(
            (self.tenant_id, self.agent_id),
            counted[0],
            numbers=_named(self._changed),
            added=_named(self._added),
            is_of_facts=self._is_of_facts,
        )

    def _last(self) -> list[tuple[Executable, Rows]]:
        """What is left to be written, beside the audit log."""
        last = [*self._at_end]
        if self._wrote and self._revision is None:
            last.append((_RAISE_REVISION, self.owner))
        if self._signals:
            last.append((_SEND, self._told_signals()))
        return last

    def _told_signals(self) -> Rows:
        told = _SIGNALS.dump_json(self._signals).decode()
        return {**self.owner, "count": len(self._signals), "signals": told}

    def _audited(self) -> tuple[str, dict[str, str]]:
        """What writes into the audit log all that has been noted for it."""
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
        self._trail.clear()
        return written(_INSERT_AUDIT), packed(self.owner, rows, what="the audit log")

    async def _execute(self, statement: Executable, rows: Rows | None = None) -> CursorResult[Any]:
        """Runs a statement.

        Raises:
            InvalidInputError: Postgres or UTF-8 cannot hold one of its values.
        """
        await self._open()
        with self._asking():
            return await self.connection.execute(statement, rows)

    async def _open(self) -> None:
        """Begins the transaction, unless a statement has done so."""
        if (first := self._take_opening()) is not None:
            with self._asking():
                await read_together(self.connection, (), opening=first)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Tells what Postgres refuses in words of ours; after an error, which may have undone role and tenant, it ends."""
        assert not self._is_over, "a transaction goes on after an error"
        try:
            with _told():
                yield
        except BaseException:
            self._is_over = True
            raise

    def _take_opening(self) -> Asked | None:
        first, self._opening = self._opening, None
        return first


def _named(numbers: Collection[int] | None) -> tuple[int, ...] | None:
    return None if numbers is None or len(numbers) > _MOST_NAMED else tuple(sorted(numbers))


@contextmanager
def _told() -> Iterator[None]:
    """Tells what Postgres refuses of a statement's values in words of ours."""
    try:
        yield
    except DBAPIError as error:
        if meaning_of(error) is not Meaning.BAD_INPUT:
            raise
        raise bad_input(error) from error
    except UnicodeEncodeError as error:
        why = "holds half of a surrogate pair, which is not text"
        raise InvalidInputError(what="a name or a value", why=why) from error


def is_owned(target: Any) -> Any:
    """The condition that a row is of the agent that `Unit.here` names, for statements built once."""
    of_tenant = target.c.tenant_id == bindparam("in_tenant")
    return of_tenant & (target.c.agent_id == bindparam("in_agent"))


def among(names: Iterable[Sequence[str]], *columns: Any) -> Any:
    """The condition that columns are one of these tuples of texts, however many there are."""
    parts = [list(part) for part in zip(*names, strict=True)] or [[] for _ in columns]
    return among_arrays([bindparam(None, part, type_=ARRAY(Text)) for part in parts], *columns)


def among_arrays(arrays: Sequence[Any], *columns: Any) -> Any:
    """The condition that columns are one of the tuples that arrays of texts hold, an array a column."""
    named = func.unnest(*arrays).table_valued(*(f"part_{place}" for place in range(len(columns))))
    return tuple_(*columns).in_(select(*named.render_derived().c))

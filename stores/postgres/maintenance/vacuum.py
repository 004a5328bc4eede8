"""VACUUM and ANALYZE of all tables of the database, and REINDEX CONCURRENTLY of indexes that are bloated.

It is of the whole database: the owner of the tables does it, and once a day at most, whichever tenant's maintenance
comes first. No lock that it takes stops a reader or a writer.
"""

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from mnestic.memory.maintenance.policies import VacuumPolicy
from mnestic.memory.maintenance.ports import RebuiltIndex, Vacuumed
from mnestic.stores.postgres.maintenance.owner_sessions import Owner, owner_session, sees_all
from mnestic.stores.postgres.queries import fetch_rows, read_query
from mnestic.stores.postgres.sqlstates import reason_of

_LOCK = 0x6D6E7661  # "mnva": one at a time in a database
_MIB = 2**20
_STATEMENT_MINUTES = 60  # a statement that takes longer is given up until the next run
# What does not succeed within its time, or without waiting for others, is left for the next run.
_NOT_NOW = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.QueryCanceled,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.DiskFull,
)
_LIMITS = read_query("vacuum.set_limits")
_DUE = read_query("vacuum.list_due")
_LEFT_OVER = read_query("vacuum.list_left_over")
_BLOATED = read_query("bloated_indexes")
_TRY_LOCK, _UNLOCK = read_query("vacuum.try_lock"), read_query("vacuum.unlock")
_SIZE = read_query("vacuum.find_size")
_VACUUM = sql.SQL("VACUUM (SKIP_LOCKED, TRUNCATE FALSE) {}")
_ANALYZE = sql.SQL("ANALYZE (SKIP_LOCKED) {}")
_DROP_INDEX = sql.SQL("DROP INDEX CONCURRENTLY {}")
_REBUILD = sql.SQL("REINDEX INDEX CONCURRENTLY {}")


def vacuum_database(admin_url: str, policy: VacuumPolicy, *, dry_run: bool) -> Vacuumed:
    """Vacuums and analyses the tables, and rebuilds bloated indexes; what was vacuumed within a day is left alone.

    If it ends half way, what is done stays; the next call drops the index that was being built, and goes on.

    Args:
        admin_url: Of the owner of the tables.
        policy: It says which indexes are bloated, and how long a statement waits for others.
        dry_run: Whether nothing is to be changed; bloat is estimated by the statistics that there are.

    Raises:
        DatabaseUnavailableError: Postgres does not answer, or cannot do it now.
        SchemaVersionError: the tables are not there.
        ConfigurationError: the address is none, the role may not do it, or a pooler is in between.
    """
    with owner_session(admin_url) as owner:
        (row,) = fetch_rows(owner, _TRY_LOCK, lock=_LOCK)
        if not row.locked:
            return Vacuumed(problems=("another run vacuums the database right now",))
        limits = {"minutes": _STATEMENT_MINUTES, "seconds": policy.wait_seconds}
        fetch_rows(owner, _LIMITS, **limits)
        try:
            return _Vacuuming(owner, policy, dry_run=dry_run).run()
        finally:  # a closed connection may hold it a little longer
            fetch_rows(owner, _UNLOCK, lock=_LOCK)


class _Vacuuming:
    """One run over the database, in a session of the owner."""

    def __init__(self, owner: Owner, policy: VacuumPolicy, *, dry_run: bool) -> None:
        self._owner, self._policy, self._dry_run = owner, policy, dry_run
        self._problems: list[str] = []

    def run(self) -> Vacuumed:
        """Does it; returns what was done, or would be."""
        left_over = [row.name for row in fetch_rows(self._owner, _LEFT_OVER)]
        dropped = [name for name in left_over if self._try(_DROP_INDEX, name)]
        due = [row.name for row in fetch_rows(self._owner, _DUE)]
        tables = [name for name in due if self._vacuum(name)]
        rebuilt = [index for row in self._bloated() if (index := self._rebuild(row))]
        return Vacuumed(
            tables=tuple(tables),
            dropped=tuple(dropped),
            rebuilt=tuple(rebuilt),
            problems=tuple(self._problems),
        )

    def _vacuum(self, table: str) -> bool:
        """Vacuums a table that nobody else vacuums right now.

        It gives no pages back at its end, for which it would need a lock that stops readers. ANALYZE is a statement of its own,
        since within VACUUM it does not count the rows of indexes.
        """
        return self._try(_VACUUM, table) and self._try(_ANALYZE, table)

    def _bloated(self) -> Sequence[Any]:
        if not sees_all(self._owner):
            why = "the owner needs BYPASSRLS to see the statistics that bloat is estimated by"
            self._problems.append(f"no index was rebuilt: {why}")
            return ()
        policy = self._policy
        limits = {"bloat": policy.rebuild_above_bloat, "least": policy.rebuild_from_mib * _MIB}
        return fetch_rows(self._owner, _BLOATED, **limits)

    def _rebuild(self, row: Any) -> RebuiltIndex | None:
        if self._dry_run:
            return RebuiltIndex(row.name, before=row.size, after=row.needed)
        if not self._try(_REBUILD, row.name):
            return None
        after = sum(found.size for found in fetch_rows(self._owner, _SIZE, name=row.name))
        return RebuiltIndex(row.name, before=row.size, after=after)

    def _try(self, statement: sql.SQL, name: str) -> bool:
        """Whether a statement about a table or an index has succeeded, or would be tried; if not, why is a problem."""
        if self._dry_run:
            return True
        try:
            self._owner.execute(statement.format(sql.Identifier("mnestic", name)))
        except _NOT_NOW as error:
            self._problems.append(f"{statement.as_string().format(name)}: {reason_of(error)}")
            return False
        return True

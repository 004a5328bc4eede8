"""VACUUM and ANALYZE of all tables of the database, and REINDEX CONCURRENTLY of indexes that are bloated.

It stands apart from the maintenance of agents because it is of the whole database: the owner of the tables does it, and once a
day at most, whichever tenant's maintenance comes first. No lock that it takes stops a reader or a writer.
"""

from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from mnestic.memory.maintenance.policies import VacuumPolicy
from mnestic.memory.maintenance.ports import RebuiltIndex, Vacuumed
from mnestic.stores.postgres.maintenance.owner_sessions import Owner, owner_session, sees_all
from mnestic.stores.postgres.sqlstates import reason_of

_LOCK = 0x6D6E7661  # "mnva": one at a time in a database
_MIB = 2**20
# What does not succeed within its time, or without waiting for others, is left for the next run.
_NOT_NOW = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.QueryCanceled,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.DiskFull,
)
_LIMITS = """
SELECT set_config('statement_timeout', %(minutes)s || 'min', false) AS statement,
       set_config('lock_timeout', %(seconds)s || 's', false) AS lock, set_config('vacuum_cost_delay', '2ms', false) AS delay
"""
_DUE = """
SELECT c.relname AS name FROM pg_class AS c JOIN pg_stat_all_tables AS s ON s.relid = c.oid
 WHERE c.relnamespace = 'mnestic'::regnamespace AND c.relkind = 'r'
   AND (s.last_vacuum IS NULL OR s.last_vacuum < now() - interval '20 hours')
 ORDER BY c.relname COLLATE "C"
"""
# An interrupted REINDEX CONCURRENTLY leaves its new index, or the old one, which every write still pays for.
_LEFT_OVER = """
SELECT c.relname AS name FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE c.relnamespace = 'mnestic'::regnamespace AND NOT i.indisvalid AND c.relname ~ '_cc(new|old)[0-9]*$'
 ORDER BY c.relname COLLATE "C"
"""
# The size of a B-tree beside the one that its rows need: per row a header of 8 bytes and the columns, together a multiple of 8,
# and a pointer of 4 bytes; per page 40 bytes of headers, and as much free as its fillfactor leaves. Equal keys, which Postgres stores
# once, need less, so the estimate is too low rather than too high. Indexes of a column without statistics are left out.
# Source: https://wiki.postgresql.org/wiki/Index_Maintenance, https://github.com/ioguix/pgsql-bloat-estimation
_BLOATED = """
WITH btree AS (
    SELECT c.oid, c.relname AS name, i.indrelid, c.reltuples AS rows, pg_relation_size(c.oid) AS size,
           COALESCE((SELECT CAST(split_part(option, '=', 2) AS float8) / 100 FROM unnest(c.reloptions) AS option
                      WHERE starts_with(option, 'fillfactor=')), 0.9) AS filled
      FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam
     WHERE c.relnamespace = 'mnestic'::regnamespace AND m.amname = 'btree' AND i.indisvalid AND c.reltuples > 0
),
widths AS (
    SELECT b.oid, 8 * ceil((8 + sum(s.avg_width * (1 - s.null_frac))) / 8) + 4 AS row
      FROM btree AS b JOIN pg_index AS i ON i.indexrelid = b.oid JOIN pg_class AS c ON c.oid = i.indrelid
      JOIN pg_attribute AS a ON a.attrelid = b.oid
      LEFT JOIN pg_attribute AS t ON t.attrelid = i.indrelid AND t.attnum = i.indkey[a.attnum - 1] AND t.attnum <> 0
      LEFT JOIN pg_stats AS s ON s.schemaname = 'mnestic' AND NOT s.inherited
       AND s.tablename = CASE WHEN t.attnum IS NULL THEN b.name ELSE c.relname END
       AND s.attname = COALESCE(t.attname, a.attname)
     GROUP BY b.oid HAVING bool_and(s.avg_width IS NOT NULL)
),
needs AS (
    SELECT b.name, b.size,
           CAST(page.bytes * (1 + ceil(b.rows * w.row / ((page.bytes - 40) * b.filled))) AS bigint) AS needed
      FROM btree AS b JOIN widths AS w ON w.oid = b.oid
      CROSS JOIN (SELECT CAST(current_setting('block_size') AS float8) AS bytes) AS page
)
SELECT name, size, needed FROM needs WHERE size >= %(least)s AND size * (1 - %(bloat)s) > needed
 ORDER BY size DESC, name COLLATE "C"
"""
_SIZE = "SELECT pg_relation_size(oid) AS size FROM pg_class WHERE relnamespace = 'mnestic'::regnamespace AND relname = %s"


def vacuum_database(admin_url: str, policy: VacuumPolicy, *, dry_run: bool) -> Vacuumed:
    """Vacuums and analyses the tables, and rebuilds bloated indexes; what was vacuumed within a day is left alone.

    If it ends half way, what is done stays; the next call drops the index that was being built, and goes on.

    Args:
        admin_url: Of the owner of the tables.
        policy: It says which indexes are bloated, and how long one statement may take.
        dry_run: Whether nothing is to be changed; bloat is estimated by the statistics that there are.

    Raises:
        DatabaseUnavailableError: Postgres does not answer, or cannot do it now.
        SchemaVersionError: the tables are not there.
        ConfigurationError: the address is none, the role may not do it, or a pooler is in between.
    """
    with owner_session(admin_url) as owner:
        row = owner.execute("SELECT pg_try_advisory_lock(%s) AS locked", [_LOCK]).fetchone()
        if row is None or not row.locked:
            return Vacuumed(problems=("another run vacuums the database right now",))
        limits = {"minutes": policy.statement_minutes, "seconds": policy.wait_seconds}
        owner.execute(_LIMITS, {name: str(number) for name, number in limits.items()})
        try:
            return _Vacuuming(owner, policy, dry_run=dry_run).run()
        finally:  # a closed connection may hold it a little longer
            owner.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


class _Vacuuming:
    """One run over the database, in a session of the owner."""

    def __init__(self, owner: Owner, policy: VacuumPolicy, *, dry_run: bool) -> None:
        self._owner, self._policy, self._dry_run = owner, policy, dry_run
        self._problems: list[str] = []

    def run(self) -> Vacuumed:
        """Does it; returns what was done, or would be."""
        left_over = [row.name for row in self._owner.execute(_LEFT_OVER).fetchall()]
        dropped = [name for name in left_over if self._try("DROP INDEX CONCURRENTLY {}", name)]
        due = [row.name for row in self._owner.execute(_DUE).fetchall()]
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
        vacuum = "VACUUM (SKIP_LOCKED, TRUNCATE FALSE) {}"
        return self._try(vacuum, table) and self._try("ANALYZE (SKIP_LOCKED) {}", table)

    def _bloated(self) -> Sequence[Any]:
        if not sees_all(self._owner):
            why = "the owner needs BYPASSRLS to see the statistics that bloat is estimated by"
            self._problems.append(f"no index was rebuilt: {why}")
            return ()
        policy = self._policy
        limits = {"bloat": policy.rebuild_above_bloat, "least": policy.rebuild_from_mib * _MIB}
        return self._owner.execute(_BLOATED, limits).fetchall()

    def _rebuild(self, row: Any) -> RebuiltIndex | None:
        if self._dry_run:
            return RebuiltIndex(row.name, before=row.size, after=row.needed)
        if not self._try("REINDEX INDEX CONCURRENTLY {}", row.name):
            return None
        after = self._owner.execute(_SIZE, [row.name]).fetchone()
        return RebuiltIndex(row.name, before=row.size, after=0 if after is None else after.size)

    def _try(self, statement: LiteralString, name: str) -> bool:
        """Whether a statement about a table or an index has succeeded, or would be tried; if not, why is a problem."""
        if self._dry_run:
            return True
        try:
            self._owner.execute(sql.SQL(statement).format(sql.Identifier("mnestic", name)))
        except _NOT_NOW as error:
            self._problems.append(f"{statement.format(name)}: {reason_of(error)}")
            return False
        return True

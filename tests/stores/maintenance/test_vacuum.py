"""VACUUM of the database: what is vacuumed, which indexes are rebuilt, and that nobody waits for it."""

from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.maintenance.policies import VacuumPolicy
from mnestic.stores.postgres.maintenance.vacuum import vacuum_database

POLICY = VacuumPolicy(rebuild_from_mib=0, wait_seconds=1)
BLOAT = """
CREATE TABLE mnestic.sample (id integer PRIMARY KEY, name text NOT NULL);
CREATE INDEX sample_by_name ON mnestic.sample (name);
CREATE INDEX sample_of_few ON mnestic.sample (id) WHERE id < 2000;
CREATE INDEX sample_by_half ON mnestic.sample ((id / 2));
INSERT INTO mnestic.sample SELECT n, 'name ' || n FROM generate_series(1, 20000) AS n;
DELETE FROM mnestic.sample WHERE id % 20 <> 0;
"""
SIZES = "SELECT indexrelname, pg_relation_size(indexrelid) FROM pg_stat_all_indexes WHERE relname = 'sample'"
VACUUMED = "SELECT relname FROM pg_stat_all_tables WHERE schemaname = 'mnestic' AND last_vacuum IS NOT NULL"
INVALID = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"


@pytest.fixture
def own_url(own_url: str) -> str:
    """A database of these tests alone, in which a table has lost most of its rows."""
    with psycopg.connect(own_url, autocommit=True) as owner:
        owner.execute(BLOAT)
    return own_url


def rows(url: str, query: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as owner:
        return owner.execute(query).fetchall()


def test_tables_are_vacuumed_and_bloated_indexes_rebuilt_once(own_url: str) -> None:
    before = dict(rows(own_url, SIZES))

    done = vacuum_database(own_url, POLICY, dry_run=False)
    again = vacuum_database(own_url, POLICY, dry_run=False)

    after = dict(rows(own_url, SIZES))
    sizes = {one.name: (one.before, one.after) for one in done.rebuilt}
    assert {"sample", "entry", "fact"} <= set(done.tables)
    assert sizes == {name: (before[name], after[name]) for name in before}
    assert all(has < had / 2 for had, has in sizes.values())
    assert (done.dropped, done.problems) == ((), ())
    assert again == type(again)()


def test_a_dry_run_says_what_would_be_done_and_does_nothing(own_url: str) -> None:
    with psycopg.connect(own_url, autocommit=True) as owner:
        owner.execute("ANALYZE mnestic.sample")
    before = dict(rows(own_url, SIZES))

    would = vacuum_database(own_url, POLICY, dry_run=True)

    assert "sample" in would.tables
    assert "sample_by_name" in {one.name for one in would.rebuilt}
    assert all(one.after < one.before == before[one.name] for one in would.rebuilt)
    assert dict(rows(own_url, SIZES)) == before
    assert rows(own_url, VACUUMED) == []


def test_small_and_slightly_bloated_indexes_stay(own_url: str) -> None:
    small = vacuum_database(own_url, VacuumPolicy(rebuild_from_mib=2), dry_run=False)
    tolerant = POLICY.model_copy(update={"rebuild_above_bloat": 0.99})
    slight = vacuum_database(own_url, tolerant, dry_run=False)

    assert (small.rebuilt, slight.rebuilt) == ((), ())


def test_nobody_waits_and_what_an_interrupted_rebuild_left_goes(own_url: str) -> None:
    with psycopg.connect(own_url, autocommit=True) as owner:
        owner.execute("DROP INDEX mnestic.sample_of_few, mnestic.sample_by_half")
    with psycopg.connect(own_url) as writer:
        writer.execute("INSERT INTO mnestic.sample VALUES (-1, 'open')")
        held_up = vacuum_database(own_url, POLICY, dry_run=False)
        with psycopg.connect(own_url, autocommit=True) as other:
            other.execute("SET statement_timeout = '5s'")
            other.execute("INSERT INTO mnestic.sample VALUES (-2, 'beside it')")
        left = {name for (name,) in rows(own_url, INVALID)}

    done = vacuum_database(own_url, POLICY, dry_run=False)

    assert held_up.rebuilt == ()
    assert len(held_up.problems) == 2
    assert all("REINDEX" in problem and "lock timeout" in problem for problem in held_up.problems)
    assert left == {f"mnestic.{name}" for name in done.dropped}
    assert len(done.dropped) == len(done.rebuilt) == 2
    assert rows(own_url, INVALID) == []


def test_one_run_at_a_time_vacuums(own_url: str) -> None:
    with psycopg.connect(own_url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [0x6D6E7661])

        done = vacuum_database(own_url, POLICY, dry_run=False)

    assert done.tables == ()
    assert done.problems == ("another run vacuums the database right now",)


def test_who_does_not_own_the_tables_is_refused(own_url: str) -> None:
    application = own_url.replace("postgres@", "mnestic_app@")

    with pytest.raises(ConfigurationError, match="does not own the tables"):
        vacuum_database(application, POLICY, dry_run=False)

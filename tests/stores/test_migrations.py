"""The migrations: which there are, how they run, and what becomes of the rows that are there."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib.resources import as_file, files
from typing import Any

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg.types.json import Jsonb
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.predicates import default_predicate
from mnestic.memory.knowledge.resolution import resolve
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.migration import upgrade
from mnestic.stores.postgres.schema import SCHEMA_VERSION, driver_url, migrate
from tests.stores.migration_samples import NOON, insert, moved_in
from tests.stores.search_samples import read_words

STATE_OF_0_1_0 = """
INSERT INTO mnestic.working_memory (tenant_id, agent_id, session_id, version, state, updated_at)
VALUES ('t1', 'ada', 's1', 3, %s, now())
"""

LESSONS = {
    "received": None,
    "extracted": None,
    "learned": None,
    "parked": "no words",
    "dropped": None,
}
EXTRACTED = {
    "kind": "affirmed",
    "subject": "Mara",
    "predicate": "lives_in",
    "object": "Ghent",
    "confidence": 0.9,
    "span": {"start": 0, "end": 16},
}


def test_the_code_needs_the_latest_migration() -> None:
    with as_file(files("mnestic.stores.postgres") / "migrations") as folder:
        config = Config()
        config.set_main_option("script_location", str(folder))

        head = ScriptDirectory.from_config(config).get_current_head()

    assert head == SCHEMA_VERSION


def test_a_migration_stands_alone() -> None:
    """What the code does today may change; what a landed migration does may not."""
    with as_file(files("mnestic.stores.postgres") / "migrations" / "versions") as folder:
        ours = [
            path.name
            for path in folder.glob("*.py")
            if re.search(r"^\s*(?:from|import) mnestic\b", path.read_text("utf-8"), re.MULTILINE)
        ]

    assert ours == []


def test_migrating_again_changes_nothing(admin_url: str) -> None:
    versions = [migrate(admin_url), migrate(admin_url)]

    assert versions == [SCHEMA_VERSION] * 2


def test_two_migrations_at_once_make_one_schema(empty_url: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        versions = list(pool.map(migrate, [empty_url, empty_url]))

    assert versions == [SCHEMA_VERSION] * 2
    with psycopg.connect(empty_url) as connection:
        rows = connection.execute("SELECT version_num FROM mnestic.alembic_version").fetchall()
    assert rows == [(SCHEMA_VERSION,)]


async def test_working_memory_of_0_1_0_becomes_what_a_snapshot_takes_over(empty_url: str) -> None:
    state = WorkingMemory(version=3, last_checkpoint="n1", variables={"b": 1.5, "a": "é"})
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0001")
    with psycopg.connect(empty_url) as connection:
        connection.execute(STATE_OF_0_1_0, [state.model_dump_json()])

    migrate(empty_url)

    memory = PostgresMemory(empty_url)
    async with memory.transaction(
        tenant_id="t1", agent_id="ada", actor="test", write=False
    ) as transaction:
        document = await transaction.working.load_document("s1")
        found = await transaction.working.load("s1")
    await memory.close()
    assert document == state.document()
    assert found == state
    with psycopg.connect(empty_url) as connection:
        walled = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE relname = 'working_memory'"
        ).fetchone()
    assert walled == (True,)


def insert_messages_of_0003(connection: psycopg.Connection[Any]) -> None:
    """A message in each state, and an entry for each, related to the one before; three have vectors."""
    for number, (state, reason) in enumerate(LESSONS.items()):
        at = NOON + timedelta(minutes=number)
        place = {"session_id": "s", "source_id": state}
        said = place | {"channel": "c", "speaker": "Mara", "content": "I live in Ghent.", "at": at}
        learning = {
            "state": state,
            "reason": reason,
            "entry_type": "interaction",
            "kind": "message",
            "extractor": "rules-1" if state in {"extracted", "learned"} else None,
            "extracted": [EXTRACTED] if state == "extracted" else None,
            "updated_at": at,
        }
        entry = {
            "id": f"e{number}",
            "entry_type": "interaction",
            "status": "active",
            "summary": "I live in Ghent.",
            "related": [f"e{number - 1}"] if number else [],
            **{name: [] for name in ("subjects", "keywords", "tags", "aliases", "times", "facts")},
            "importance": 0.5,
            "critical": False,
            "access_count": 0,
            "language": "english",
            "created_at": at,
            "updated_at": at,
        }
        insert(connection, "resource", said | {"created_at": at})
        insert(connection, "learning", place | learning)
        insert(connection, "entry", said | entry)
    insert(connection, "corpus", {"entries": 5, "lexemes": 15})
    connection.execute(
        "INSERT INTO mnestic.embedding (tenant_id, agent_id, model, entry_number, dimensions, vector) "
        "SELECT 't1', 'ada', 'some-model', number, 2, '[1,0]' FROM mnestic.entry WHERE number < 4"
    )


def insert_facts_of_0003(connection: psycopg.Connection[Any]) -> None:
    """Mara moved from Genk to Bruges."""
    claims = [moved_in("Genk", days=-9), moved_in("Bruges", days=-3)]
    for claim in claims:
        row = claim.model_dump(mode="json") | {"subject_key": "mara", "recorded_at": NOON}
        insert(connection, "claim", row)
    predicate = default_predicate("lives_in")
    for fact in resolve(claims, owner="t1/ada", predicate=predicate):
        keys = {"subject_key": "mara", "object_key": fact.object.casefold()}
        columns = fact.model_dump(
            mode="json", exclude={"decayed_confidence", "promotion", "used_at"}
        )
        row = columns | keys | {"created_at": NOON, "updated_at": NOON}
        insert(connection, "fact", row)


async def test_what_was_learned_by_0003_is_known_and_learning_goes_on(empty_url: str) -> None:
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0003")
    with psycopg.connect(empty_url) as owner:
        insert_messages_of_0003(owner)
        insert_facts_of_0003(owner)

    migrate(empty_url)

    memory = PostgresMemory(empty_url.replace("postgres@", "mnestic_app@"))
    scope = {"tenant_id": "t1", "agent_id": "ada", "actor": "test"}
    async with memory.transaction(**scope, write=True) as transaction:
        counted = await transaction.ingest_states.count()
        (received,) = await transaction.ingest_states.take("received", limit=9)
        (extracted,) = await transaction.ingest_states.take("extracted", limit=9)
        (parked,), _ = await transaction.ingest_states.list_by_state("parked")
        bare = await transaction.entries.list_unembedded("some-model", limit=9)
        related, _ = await transaction.entries.list_entries(EntryQuery(related="e0"))
        before, _ = await transaction.facts.list_facts()
        changes = await transaction.facts.claim(extracted.claims(workflow_run=None))
        taught = await transaction.facts.list_from(("s", "learned"))
    async with memory.transaction(**scope, write=False) as transaction:
        signals = await transaction.events.list_events()
        other = await transaction.entries.list_unembedded("other-model", limit=9)
    await memory.close()

    assert set(counted.model_dump(exclude={"without_extractor"}).values()) == {1}
    assert (received.turn.content, received.corrects) == ("I live in Ghent.", None)
    assert parked.reason == "no words"
    assert [entry.id for entry in bare[:2]] == ["e3", "e4"]
    assert [entry.content for entry in bare[2:]] == ["Mara lives in Bruges."]
    assert len(other) == 5  # a message states what was learned now
    assert [entry.id for entry in related] == ["e1"]
    assert [fact.object for fact in before] == ["Bruges"]
    assert {change.fact.object: change.fact.status for change in changes} == {
        "Bruges": "archived",
        "Ghent": "active",
    }
    assert {fact.object for fact in taught} == {"Genk", "Bruges"}
    assert {signal.kind for signal in signals} >= {"memory.conflict", "memory.stored"}


CURLY = "“Ghent”—the café’s 東京都"  # noqa: RUF001


def insert_words_of_0003(connection: psycopg.Connection[Any]) -> None:
    """The postings of the entries, as 0003 made them; one entry has punctuation that is not ASCII."""
    connection.execute("UPDATE mnestic.entry SET content = %s WHERE id = 'e1'", [CURLY])
    connection.execute("""
        INSERT INTO mnestic.posting
        SELECT e.tenant_id, e.agent_id, w.lexeme, e.number, cardinality(w.positions), e.lexemes
          FROM mnestic.entry AS e, unnest(to_tsvector('english', e.content)) AS w
    """)
    connection.execute("""
        INSERT INTO mnestic.lexeme
        SELECT tenant_id, agent_id, lexeme, count(*) FROM mnestic.posting GROUP BY 1, 2, 3
    """)


def test_messages_forgotten_before_0007_lose_their_channels(empty_url: str) -> None:
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0006")
    said = {"session_id": "s", "speaker": "", "content": "", "at": NOON, "created_at": NOON}
    with psycopg.connect(empty_url) as owner:
        for channel, forgotten in (("falcon", NOON), ("mail", None)):
            place = {"source_id": channel, "channel": channel, "forgotten_at": forgotten}
            insert(owner, "resource", said | place)

    migrate(empty_url)

    with psycopg.connect(empty_url) as owner:
        left = owner.execute("SELECT channel FROM mnestic.resource ORDER BY source_id").fetchall()
        assert left == [("",), ("mail",)]
        with pytest.raises(psycopg.errors.RaiseException, match="immutable"):
            owner.execute("UPDATE mnestic.resource SET channel = 'x'")


async def test_words_of_0003_are_read_as_they_are_now(empty_url: str) -> None:
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0003")
    with psycopg.connect(empty_url) as owner:
        insert_messages_of_0003(owner)
        insert_words_of_0003(owner)

    migrate(empty_url)

    memory = PostgresMemory(empty_url.replace("postgres@", "mnestic_app@"))
    scope = {"tenant_id": "t1", "agent_id": "ada", "actor": "test"}
    async with memory.transaction(**scope, write=True) as transaction:
        ghent = await read_words(transaction, "Ghent", "東京")
        await transaction.entries.remove(["e1"])
    await memory.close()
    assert {one.lexemes: one.is_known for one in ghent.query_lexemes} == {
        ("ghent",): True,
        ("東京",): True,
    }
    with psycopg.connect(empty_url) as owner:
        left = owner.execute("SELECT lexeme, count(*) FROM mnestic.posting GROUP BY 1").fetchall()
        counted = owner.execute("SELECT lexeme, entries FROM mnestic.lexeme WHERE entries > 0")
        assert sorted(counted.fetchall()) == sorted(left) == [("ghent", 4), ("live", 4)]
        corpus = owner.execute("SELECT entries, lexemes, languages FROM mnestic.corpus").fetchall()
    assert corpus == [(4, 8, ["english"])]


def test_weights_of_a_sum_that_is_no_more_go_with_0034(empty_url: str) -> None:
    stored = {"semantic": 0.9, "pool": 50}
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0033")
    with psycopg.connect(empty_url) as connection:
        for agent_id, preset in (("ada", "mnestic"), ("leo", "leonidas")):
            for name, value in (("retrieval_preset", preset), ("retrieval_policy", stored)):
                connection.execute(
                    "INSERT INTO mnestic.setting VALUES ('t1', %s, %s, %s, now())",
                    [agent_id, name, Jsonb(value)],
                )

    migrate(empty_url)

    with psycopg.connect(empty_url) as connection:
        rows = connection.execute(
            "SELECT agent_id, value FROM mnestic.setting WHERE name = 'retrieval_policy'"
        ).fetchall()
    assert dict(rows) == {"ada": {"pool": 50}, "leo": stored}


async def test_tenants_that_were_there_are_registered(empty_url: str) -> None:
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0036")
    with psycopg.connect(empty_url) as connection:
        connection.execute(
            "INSERT INTO mnestic.agent_revision (tenant_id, agent_id, revision, updated_at)"
            " VALUES ('t1', 'ada', 1, now()), ('t1', 'bea', 1, now()), ('t2', 'ada', 1, now())"
        )
        connection.execute(
            "INSERT INTO mnestic.ingest_state (tenant_id, agent_id, session_id, source_id, state, entry_type, kind, updated_at)"
            " VALUES ('t2', 'ada', 's', 'm', 'received', 'conversation', 'message', now())"
        )

    migrate(empty_url)

    memory = PostgresMemory(empty_url)
    assert await memory.list_waiting_agents(tenants=()) == (("t2", "ada"),)
    await memory.close()

"""The migrations: which there are, how they run, and what becomes of the rows that are there."""

import re
from collections.abc import AsyncIterator
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

from mnestic.memory.errors import SchemaVersionError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.entry_features import EntryFeatures
from mnestic.memory.knowledge.predicates import default_predicate
from mnestic.memory.knowledge.resolution import resolve
from mnestic.memory.retrieval.agent_settings import AgentSettings, settings_of
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.migration import upgrade
from mnestic.stores.postgres.schema import SCHEMA_VERSION, migrate
from tests.stores.migration_samples import NOON, insert, moved_in
from tests.stores.search_samples import read_words

DAY = timedelta(days=1)
EPISODE = {
    "id": "j1",
    "session_id": "s",
    "summary": "The boat was ordered.",
    "payload": {},
    "created_at": NOON,
}
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


def at_version(url: str, version: str) -> str:
    """The address of an empty database, once it has the schema of a version."""
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=NullPool
    )
    with engine.begin() as connection:
        upgrade(connection, to=version)
    return url


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


def test_two_migrations_at_once_make_one_schema(empty_url: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        versions = list(pool.map(migrate, [empty_url, empty_url]))

    assert [*versions, migrate(empty_url)] == [SCHEMA_VERSION] * 3
    with psycopg.connect(empty_url) as connection:
        rows = connection.execute("SELECT version_num FROM mnestic.alembic_version").fetchall()
    assert rows == [(SCHEMA_VERSION,)]


@pytest.mark.parametrize(
    ("version", "commits"),
    [("0030", "94ce7fb4, then 5d321d58 of Mnestic"), ("0039", "5d321d58 of Mnestic")],
)
def test_a_schema_between_releases_is_refused_with_a_way_out(
    empty_url: str, version: str, commits: str
) -> None:
    with psycopg.connect(at_version(empty_url, "0006")) as connection:
        connection.execute("UPDATE mnestic.alembic_version SET version_num = %s", [version])

    with pytest.raises(SchemaVersionError, match=f"{version}.*migrate it with commit {commits}"):
        migrate(empty_url)


def insert_messages_of_0_2_0(connection: psycopg.Connection[Any]) -> None:
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
    insert(connection, "corpus", {"entries": 5, "lexemes": 15, "languages": "{english}"})
    connection.execute(
        "INSERT INTO mnestic.entry_term (tenant_id, agent_id, kind, term, entry_number) "
        "SELECT tenant_id, agent_id, 'related', related ->> 0, number FROM mnestic.entry WHERE related <> '[]'"
    )
    connection.execute(
        "INSERT INTO mnestic.embedding (tenant_id, agent_id, model, entry_number, dimensions, vector) "
        "SELECT 't1', 'ada', 'some-model', number, 2, '[1,0]' FROM mnestic.entry WHERE number < 4"
    )
    insert(connection, "embedding_model", {"model": "some-model", "entries": 3, "complete_to": 3})


def insert_facts_of_0_2_0(connection: psycopg.Connection[Any]) -> None:
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


CURLY = "“Ghent”—the café’s 東京都"  # noqa: RUF001


def insert_words_of_0_2_0(connection: psycopg.Connection[Any]) -> None:
    """The postings of the entries, as 0.2.0 made them; one entry has punctuation that is not ASCII."""
    connection.execute("UPDATE mnestic.entry SET content = %s WHERE id = 'e1'", [CURLY])
    connection.execute("UPDATE mnestic.entry SET content = 'Who lives in Ghent?' WHERE id = 'e4'")
    connection.execute("""
        INSERT INTO mnestic.posting
        SELECT e.tenant_id, e.agent_id, w.lexeme, e.number, cardinality(w.positions), e.lexemes
          FROM mnestic.entry AS e, unnest(to_tsvector('english', mnestic.words_apart(e.content))) AS w
    """)
    connection.execute("""
        INSERT INTO mnestic.lexeme
        SELECT tenant_id, agent_id, lexeme, count(*) FROM mnestic.posting GROUP BY 1, 2, 3
    """)


def test_messages_forgotten_by_0_2_0_lose_their_channels(empty_url: str) -> None:
    at_version(empty_url, "0006")
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


OF_ADA = {"tenant_id": "t1", "agent_id": "ada", "actor": "test", "write": True}


@pytest.fixture
async def of_0_2_0(empty_url: str) -> AsyncIterator[PostgresMemory]:
    """Memory of this version, in a database that 0.2.0 has filled."""
    with psycopg.connect(at_version(empty_url, "0006")) as owner:
        insert_messages_of_0_2_0(owner)
        insert_words_of_0_2_0(owner)
        insert_facts_of_0_2_0(owner)
        insert(owner, "episode", EPISODE)
        insert(owner, "agent_revision", {"revision": 1, "updated_at": NOON})
    migrate(empty_url)
    memory = PostgresMemory(empty_url.replace("postgres@", "mnestic_app@"))
    yield memory
    await memory.close()


async def test_what_was_learned_by_0_2_0_is_known_and_learning_goes_on(
    of_0_2_0: PostgresMemory,
) -> None:
    waiting = await of_0_2_0.list_waiting_agents(tenants=())
    async with of_0_2_0.transaction(**OF_ADA) as transaction:  # type: ignore[arg-type]
        counted = await transaction.ingest_states.count()
        (received,) = await transaction.ingest_states.take("received", limit=9)
        (extracted,) = await transaction.ingest_states.take("extracted", limit=9)
        (parked,), _ = await transaction.ingest_states.list_by_state("parked")
        related, _ = await transaction.entries.list_entries(EntryQuery(related="e0"))
        before, _ = await transaction.facts.list_facts()
        changes = await transaction.facts.claim(extracted.claims(workflow_run=None))
        taught = await transaction.facts.list_from(("s", "learned"))
    async with of_0_2_0.transaction(**OF_ADA) as transaction:  # type: ignore[arg-type]
        signals = await transaction.events.list_events()

    assert waiting == (("t1", "ada"),)
    assert set(counted.model_dump(exclude={"without_extractor"}).values()) == {1}
    assert (received.turn.content, received.corrects) == ("I live in Ghent.", None)
    assert parked.reason == "no words"
    assert [entry.id for entry in related] == ["e1"]
    assert [fact.object for fact in before] == ["Bruges"]
    assert {change.fact.object: change.fact.status for change in changes} == {
        "Bruges": "archived",
        "Ghent": "active",
    }
    assert {fact.object for fact in taught} == {"Genk", "Bruges"}
    assert {signal.kind for signal in signals} >= {"memory.conflict", "memory.stored"}


async def test_what_0_2_0_stored_is_in_the_indexes_of_today(
    of_0_2_0: PostgresMemory, empty_url: str
) -> None:
    async with of_0_2_0.transaction(**OF_ADA) as transaction:  # type: ignore[arg-type]
        bare = await transaction.entries.list_unembedded("some-model", limit=9)
        derived, _ = await transaction.entries.list_entries(EntryQuery(kinds=("fact", "episode")))
        words = await read_words(transaction, "Ghent", "東京", "boat")
        then = await transaction.facts.graph.list_edges(["mara"], at=NOON - 5 * DAY, limit=9)
        now = await transaction.facts.graph.list_edges(["mara"], at=None, limit=9)
        mended = await transaction.facts.graph.rebuild()
        await transaction.entries.remove(["e1"])

    sentences = {"Mara lives in Bruges.", "The boat was ordered."}
    assert {entry.content for entry in derived} == sentences
    assert [entry.id for entry in bare[:2]] == ["e3", "e4"]
    assert {entry.content for entry in bare[2:]} == sentences
    assert all(one.is_known for one in words.query_lexemes)
    assert [[one.target_name for one in edges] for edges in (then, now)] == [["Genk"], ["Bruges"]]
    assert mended == 0
    with psycopg.connect(empty_url) as owner:
        features = owner.execute("SELECT features FROM mnestic.entry WHERE id = 'e4'").fetchall()
        posted = owner.execute("SELECT lexeme, cardinality(postings) FROM mnestic.posting")
        lexemes = posted.fetchall()
        open_tables = owner.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'mnestic'::regnamespace "
            "AND relrowsecurity AND NOT relforcerowsecurity"
        ).fetchall()
    assert {("ghent", 4), ("boat", 1)} <= {*lexemes}
    assert (features, open_tables) == ([(EntryFeatures.ASKS,)], [])


def test_weights_of_a_sum_that_is_no_more_go(empty_url: str) -> None:
    stored = {"semantic": 0.9, "pool": 50, "least_cosine": 0.2}
    too_near = {"least_cosine": 0.8, "full_cosine": 0.9}
    at_version(empty_url, "0006")
    with psycopg.connect(empty_url) as connection:
        for agent_id, preset in (("ada", "mnestic"), ("leo", "leonidas")):
            for name, value in (("retrieval_preset", preset), ("retrieval_policy", stored)):
                connection.execute(
                    "INSERT INTO mnestic.setting VALUES ('t1', %s, %s, %s, now())",
                    [agent_id, name, Jsonb(value)],
                )
        connection.execute(
            "INSERT INTO mnestic.setting VALUES ('t1', 'eve', 'retrieval_policy', %s, now())",
            [Jsonb(too_near)],
        )

    migrate(empty_url)

    with psycopg.connect(empty_url) as connection:
        rows = connection.execute(
            "SELECT agent_id, value FROM mnestic.setting WHERE name = 'retrieval_policy'"
        ).fetchall()
    weights = dict(rows)
    assert weights["ada"] == {"pool": 50, "least_cosine": 0.2}
    assert weights["leo"] == stored
    assert settings_of({"retrieval_policy": weights["eve"]}) == AgentSettings()


def test_contexts_of_messages_are_of_the_same_messages(empty_url: str) -> None:
    contexts = {"a": None, "b": [], "c": [7, 8, 9, 12]}
    begun = {"session_id": "s", "state": "learned", "entry_type": "context", "kind": "message"}
    at_version(empty_url, "0043")
    with psycopg.connect(empty_url) as owner:
        for source, context in contexts.items():
            row = {"source_id": source, "updated_at": NOON}
            insert(owner, "ingest_state", begun | row)
            owner.execute(
                "UPDATE mnestic.ingest_state SET context = %s WHERE source_id = %s",
                [context, source],
            )

    migrate(empty_url)

    with psycopg.connect(empty_url) as owner:
        rows = owner.execute("SELECT source_id, CAST(context AS text) FROM mnestic.ingest_state")
        assert dict(rows) == {"a": None, "b": "{}", "c": "{[7,10),[12,13)}"}

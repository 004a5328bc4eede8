"""What becomes of entries, facts and episodes that older versions wrote."""

from datetime import UTC, datetime
from typing import Any

import psycopg
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.entry_features import EntryFeatures
from mnestic.memory.knowledge.predicates import default_predicate
from mnestic.memory.knowledge.resolution import resolve
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.migration import upgrade
from mnestic.stores.postgres.schema import driver_url, migrate
from tests.stores.migration_samples import NOON, insert, moved_in
from tests.stores.search_samples import read_words


def insert_entry_of_0010(connection: psycopg.Connection[Any], number: int) -> None:
    """One third of them asks something, and the first names a time."""
    today = {"words": "today", "start": NOON.isoformat(), "end": NOON.isoformat()}
    entry = {
        "id": f"e{number}",
        "entry_type": "interaction",
        "status": "active",
        "content": "I live in Ghent." if number % 3 else "Where do you live?",
        "summary": "",
        **{name: [] for name in ("subjects", "keywords", "tags", "aliases", "related")},
        "times": [today] if number == 1 else [],
        "importance": 0.5,
        "critical": False,
        "access_count": 0,
        "language": "english",
        **dict.fromkeys(("at", "created_at", "updated_at"), NOON),
    }
    insert(connection, "entry", entry)


def test_entries_of_0010_get_their_marks(empty_url: str) -> None:
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0010")
    with psycopg.connect(empty_url) as owner:
        for number in range(450):  # beyond a batch of the migration
            insert_entry_of_0010(owner, number)

    migrate(empty_url)

    with psycopg.connect(empty_url) as owner:
        marked = owner.execute("SELECT features, count(*) FROM mnestic.entry GROUP BY 1").fetchall()
        walled = owner.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE oid = 'mnestic.entry'::regclass"
        ).fetchone()
    assert dict(marked) == {0: 299, EntryFeatures.ASKS: 150, EntryFeatures.NAMES_TIME: 1}
    assert walled == (True,)


_LATER_COLUMNS = {"decayed_confidence", "promotion", "used_at"}  # of facts


def insert_what_can_answer_of_0015(connection: psycopg.Connection[Any]) -> None:
    """A fact of a message, two by hand of whom one ends, one that was replaced, and an episode."""
    insert_entry_of_0015(connection)
    by_hand = {"source": ClaimSource(extractor="person")}
    then = {"valid_to": datetime(2999, 1, 1, tzinfo=UTC)}
    nuts = {"predicate": "allergic_to", **by_hand}
    claims = {
        "lives_in": [
            moved_in("Ghent", days=0).model_copy(update={"subject": "Tom"}),
            moved_in("Genk", days=-2).model_copy(update=by_hand),
            moved_in("Oslo", days=0).model_copy(update=by_hand | then),
        ],
        "allergic_to": [moved_in("nuts", days=0).model_copy(update=nuts)],
    }
    for name, each in claims.items():
        for claim in each:
            row = claim.model_dump(mode="json", exclude={"session_id", "source_id"})
            keys = {"subject_key": claim.subject.casefold(), "recorded_at": NOON}
            insert(connection, "claim", row | keys)
        for subject in ("Tom", "Mara"):
            about = [claim for claim in each if claim.subject == subject]
            for fact in resolve(about, owner="t1/ada", predicate=default_predicate(name)):
                keys = {"subject_key": subject.casefold(), "object_key": fact.object.casefold()}
                times = {"created_at": NOON, "updated_at": NOON}
                row = fact.model_dump(mode="json", exclude=_LATER_COLUMNS)
                insert(connection, "fact", row | keys | times)
    episode = {"id": "job-1", "session_id": "s", "summary": "The boat was ordered.", "payload": {}}
    insert(connection, "episode", episode | {"created_at": NOON})
    insert(connection, "agent_revision", {"revision": 1, "updated_at": NOON})


def insert_entry_of_0015(connection: psycopg.Connection[Any]) -> None:
    """The entry of the message behind what Tom claims."""
    names = ("subjects", "keywords", "tags", "aliases", "related", "times")
    entry = {
        "id": "said",
        "entry_type": "interaction",
        "status": "active",
        "content": "I live in Ghent.",
        "summary": "",
        "session_id": "s",
        "source_id": "learned",
        **{name: [] for name in names},
        "importance": 0.5,
        "critical": False,
        "access_count": 0,
        "language": "english",
        "features": 0,
        **dict.fromkeys(("at", "created_at", "updated_at"), NOON),
    }
    insert(connection, "entry", entry)
    insert(connection, "corpus", {"entries": 1, "lexemes": 2, "languages": "{english}"})


async def test_facts_and_episodes_of_0015_are_entries_of_the_index(empty_url: str) -> None:
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0015")
    with psycopg.connect(empty_url) as owner:
        insert_what_can_answer_of_0015(owner)

    migrate(empty_url)

    memory = PostgresMemory(empty_url.replace("postgres@", "mnestic_app@"))
    scope = {"tenant_id": "t1", "agent_id": "ada", "actor": "test"}
    async with memory.transaction(**scope, write=True) as transaction:
        entries, _ = await transaction.entries.list_entries(EntryQuery(kinds=("fact", "episode")))
        about, _ = await transaction.entries.list_entries(
            EntryQuery(kinds=("fact",), subject="mara")
        )
        numbers = await transaction.entries.count()
        bare = await transaction.entries.list_unembedded("some-model", limit=9)
        words = await read_words(transaction, "oslo", "boat")
        active, _ = await transaction.facts.list_facts(subject="Mara")
        await transaction.facts.claim(
            [moved_in("Rome", days=9)]  # which replaces Oslo
        )
    async with memory.transaction(**scope, write=False) as transaction:
        after, _ = await transaction.entries.list_entries(EntryQuery(kinds=("fact",)))
    await memory.close()

    sentences = {"Mara lives in Oslo until 2999-01-01.", "Mara is allergic to nuts."}
    assert {entry.content for entry in entries} == {*sentences, "The boat was ordered."}
    assert {entry.content for entry in about} == sentences
    assert {entry.id for entry in about} == {fact.id for fact in active}
    assert (numbers.total, numbers.by_kind) == (1, {"message": 1, "fact": 2, "episode": 1})
    assert len(bare) == 4
    assert all(one.is_known for one in words.query_lexemes)
    assert {entry.content for entry in after} == {
        "Mara is allergic to nuts.",
        "Mara lives in Rome.",
    }
    with psycopg.connect(empty_url) as owner:
        open_tables = owner.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'mnestic'::regnamespace "
            "AND relrowsecurity AND NOT relforcerowsecurity"
        ).fetchall()
    assert open_tables == []


def insert_facts_of_0027(connection: psycopg.Connection[Any], claims: list[Claim]) -> None:
    """Claims about where Mara lives, and what follows from them."""
    for claim in claims:
        row = claim.model_dump(mode="json", exclude={"session_id", "source_id"})
        insert(connection, "claim", row | {"subject_key": "mara", "recorded_at": NOON})
    for fact in resolve(claims, owner="t1/ada", predicate=default_predicate("lives_in")):
        keys = {"subject_key": "mara", "object_key": fact.object.casefold()}
        times = {"created_at": NOON, "updated_at": NOON}
        insert(connection, "fact", fact.model_dump(mode="json") | keys | times)


async def test_facts_of_0027_get_their_edges(empty_url: str) -> None:
    engine = create_engine(driver_url(empty_url), poolclass=NullPool)
    with engine.begin() as connection:
        upgrade(connection, to="0027")
    claims = [moved_in("Ghent", days=0), moved_in("Porto", days=9)]
    claims.append(moved_in("Porto", days=10).model_copy(update={"id": "again"}))
    with psycopg.connect(empty_url) as owner:
        insert_facts_of_0027(owner, claims)

    migrate(empty_url)

    memory = PostgresMemory(empty_url.replace("postgres@", "mnestic_app@"))
    async with memory.transaction(
        tenant_id="t1", agent_id="ada", actor="test", write=True
    ) as transaction:
        then = await transaction.facts.graph.list_edges(["mara"], at=NOON, limit=9)
        now = await transaction.facts.graph.list_edges(["mara"], at=None, limit=9)
        mended = await transaction.facts.graph.rebuild()
    await memory.close()
    assert [one.target_name for one in then] == ["Ghent"]
    assert [one.target_name for one in now] == ["Porto"]
    assert now[0].edge.weight > then[0].edge.weight
    assert mended == 0
    with psycopg.connect(empty_url) as owner:
        walls = owner.execute(
            "SELECT count(*) FROM pg_class WHERE relname IN ('fact', 'claim', 'graph_edge') AND relforcerowsecurity"
        ).fetchone()
    assert walls == (3,)

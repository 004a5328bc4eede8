"""Forgetting in the store: what is never changed is changed by a forgetting that goes on, and by nobody else."""

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from mnestic.activities.forgetting.topic_rows import COPIES, KNOWLEDGE, SHARED, TRACES
from mnestic.memory.errors import NotFoundError
from mnestic.memory.forgetting.redaction import TABLES
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from tests.stores.declared_tables import declared_tables

ID = "f1"
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
CALLS = [
    "mnestic.forget_messages({id}, {agent}, ARRAY['s1'], ARRAY['1'])",
    "mnestic.cut_messages({id}, {agent}, ARRAY['s1'], ARRAY['1'], ARRAY['x'])",
    "mnestic.forget_claims({id}, {agent}, ARRAY['c1'])",
    "mnestic.redact_channel({id}, {agent}, 's1', '1', 'x')",
    "mnestic.redact_snapshot({id}, {agent}, 'n1', '{{}}')",
    "mnestic.redact_audit({id}, {agent}, 1, 'x', NULL)",
]
WORDLESS = {
    *(
        "agent_revision",
        "api_key",
        "contract",
        "corpus",
        "embedding",
        "embedding_model",
        "entry_term",
    ),
    *("forgetting", "graph_edge", "llm_usage", "maintenance_run", "posting"),
    *("event_count", "namespace_grant", "reader_default", "reader_set", "subscription"),
    *("supersession", "tenant"),
}


async def begin(memory: Memory, settings: Settings) -> None:
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.forgetting.begin(ID, "Paris", entries=("e1",))


async def finish(memory: Memory, settings: Settings, forgetting_id: str = ID) -> Any:
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        return await transaction.forgetting.finish(forgetting_id)


def call(settings: Settings, statement: str, *, agent: str = "ada") -> None:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value()) as connection:
        connection.execute("SELECT set_config('mnestic.tenant_id', %s, true)", [settings.tenant_id])
        connection.execute("SELECT " + statement.format(id=f"'{ID}'", agent=f"'{agent}'"))  # type: ignore[arg-type]


async def test_only_a_forgetting_that_goes_on_may_call_them(
    memory: Memory, settings: Settings
) -> None:
    def refuse(*, agent: str = "ada") -> None:
        for statement in CALLS:
            with pytest.raises(psycopg.errors.RaiseException, match="no forgetting f1 goes on"):
                call(settings, statement, agent=agent)

    refuse()
    await begin(memory, settings)
    for statement in CALLS:
        call(settings, statement)
    refuse(agent="bob")
    await finish(memory, settings)
    refuse()


async def test_while_one_goes_on_nobody_else_changes_a_row(
    memory: Memory, settings: Settings, owner: psycopg.Connection[Any]
) -> None:
    await begin(memory, settings)

    with pytest.raises(psycopg.errors.RaiseException, match="immutable"):
        owner.execute("UPDATE mnestic.audit_log SET actor = 'nobody'")


async def test_a_message_is_only_blanked_out(memory: Memory, settings: Settings) -> None:
    said = Resource(
        session_id="s1", source_id="1", channel="c", speaker="Mara", content="Hi. Tea.", at=AT
    )
    asked = {"tenant_id": settings.tenant_id, "agent_id": "ada", "actor": "test"}
    async with memory.transaction(**asked, write=True) as transaction:
        await transaction.resources.append([said])
    await begin(memory, settings)

    async with memory.transaction(**asked, write=True) as transaction:
        longer = await transaction.forgetting.cut_messages(ID, {("s1", "1"): "Something else."})
        cut = await transaction.forgetting.cut_messages(ID, {("s1", "1"): "    Tea."})
        left = await transaction.forgetting.contents_of([("s1", "1"), ("s1", "2")])

    assert (longer, cut, left) == (0, 1, {("s1", "1"): "    Tea."})


async def test_the_tombstone_has_counts_and_no_word(memory: Memory, settings: Settings) -> None:
    await begin(memory, settings)
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.forgetting.count(ID, {"entry": 2, "fact": 0})
        await transaction.forgetting.count(ID, {"entry": 1, "claim": 4})

    done = await finish(memory, settings)
    again = await finish(memory, settings)

    assert done == again
    assert (done.topic, done.entries, done.purged) == (None, None, {"entry": 3, "claim": 4})
    assert done.finished_at is not None
    with pytest.raises(NotFoundError):
        await finish(memory, settings, "f2")


def test_every_table_that_can_hold_words_is_gone_through() -> None:
    assert declared_tables() == TABLES | WORDLESS, (
        "say of a new table whether words of a topic can stand in it"
    )


def test_forgetting_a_topic_goes_through_each_table_in_which_words_stand() -> None:
    followed = {"fact"}  # by its claims

    assert {*COPIES, *KNOWLEDGE, *TRACES, *SHARED} == TABLES - followed

"""No notification makes an answer stale: whoever may connect to the database may send any, on any channel."""

import json
import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql

from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory

QUESTION = "When does the ferry leave?"
CHANNEL = "mnestic_knowledge"  # on which versions up to 0.2 told each other what had changed
_AGENT = "ada"
Forge = Callable[[str, int], list[str]]

FORGED: dict[str, Forge] = {
    "the next revision": lambda tenant, number: [
        json.dumps([tenant, _AGENT, number + 1, [], [], False])
    ],
    "a lower revision": lambda tenant, number: [
        json.dumps([tenant, _AGENT, number - 1, [], [], False])
    ],
    "a far revision": lambda tenant, number: [json.dumps([tenant, _AGENT, number + 999, None, []])],
    "another owner": lambda _, number: [json.dumps(["other", "bob", number + 1, [], [], False])],
    "junk": lambda tenant, _: ["", "x", "[]", "{}", "9" * 7999, f'["{tenant}", "ada", "one"]'],
    "a flood": lambda tenant, number: [
        json.dumps([tenant, _AGENT, number + one, [], [], False]) for one in range(2000)
    ],
}


@pytest.fixture
def stranger(admin_url: str) -> Iterator[psycopg.Connection]:
    """A connection of a role that may do nothing but connect."""
    name = f"stranger_{uuid.uuid4().hex[:12]}"
    role = sql.Identifier(name)
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        with psycopg.connect(admin_url.replace("postgres@", f"{name}@"), autocommit=True) as mine:
            yield mine
        owner.execute(sql.SQL("DROP ROLE {}").format(role))


@pytest.fixture
def here(memory: PostgresMemory, settings: Settings) -> MemoryClient:
    """A process that keeps what it reads."""
    return MemoryClient(memory, tenant_id=settings.tenant_id, agent_id=_AGENT)


@pytest.fixture
def there(forgetful: PostgresMemory, settings: Settings) -> MemoryClient:
    """A process that keeps nothing."""
    return MemoryClient(forgetful, tenant_id=settings.tenant_id, agent_id=_AGENT)


async def ask(client: MemoryClient) -> list[str]:
    """What a question is answered with."""
    return [one.entry.content for one in (await client.retrieve(QUESTION)).results]


@pytest.mark.parametrize("forged", FORGED)
async def test_answers_stay_right_whatever_a_stranger_notifies(
    here: MemoryClient,
    there: MemoryClient,
    settings: Settings,
    admin_url: str,
    stranger: psycopg.Connection,
    forged: str,
) -> None:
    ferry = (await here.add("The ferry to Texel leaves at nine.")).id
    await here.add("The boiler was serviced in March.")
    assert await ask(here) == await ask(here) == ["The ferry to Texel leaves at nine."]

    with psycopg.connect(admin_url, autocommit=True) as witness:
        witness.execute(f"LISTEN {CHANNEL}")
        number = witness.execute(
            "SELECT knowledge_revision FROM mnestic.agent_revision WHERE tenant_id = %s",
            [settings.tenant_id],
        ).fetchone()
        assert number is not None
        payloads = FORGED[forged](settings.tenant_id, number[0])
        stranger.execute(
            "SELECT pg_notify(%s, told) FROM unnest(CAST(%s AS text[])) AS told",
            [CHANNEL, payloads],
        )
        heard = list(witness.notifies(timeout=30, stop_after=len(payloads)))
    assert len(heard) >= len(payloads)
    await ask(here)
    await there.entries.change(ferry, content="The ferry to Texel leaves at noon.")

    answer = await ask(here)
    assert answer == await ask(there) == ["The ferry to Texel leaves at noon."]


async def test_no_process_listens_to_what_anybody_may_say(
    here: MemoryClient, there: MemoryClient, admin_url: str
) -> None:
    ferry = (await here.add("The ferry to Texel leaves at nine.")).id
    for _ in range(3):
        await ask(here)
    await there.entries.change(ferry, tags=["pier"])
    await ask(here)

    with psycopg.connect(admin_url, autocommit=True) as owner:
        listening = owner.execute(
            "SELECT query FROM pg_stat_activity"
            " WHERE datname = current_database() AND query ILIKE 'listen%'"
        ).fetchall()

    assert listening == []

"""What activities need: a scope, a way to look at memory, models, and the steps of learning by them."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import psycopg
import pytest
from openai import AsyncOpenAI
from psycopg import sql

from mnestic.activities.clients.openai_compatible import openai_client
from mnestic.activities.clients.openai_embedder import OpenAIEmbedder
from mnestic.activities.clients.openai_extractor import OpenAIExtractor
from mnestic.activities.knowledge.ingestion import IngestActivities
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import PRICES, Call, Steps


@pytest.fixture
def scope(settings: Settings) -> Scope:
    """The scope of this test's job."""
    return Scope(tenant_id=settings.tenant_id, agent_id="ada", session_id="s1")


@pytest.fixture
def operation() -> Callable[..., Operation]:
    """Makes the operations of job `j1`."""

    def make(step: int, name: str = "remember", *, job_id: str | None = "j1") -> Operation:
        return Operation(key=f"j1/0/{step}/{name}", name=name, job_id=job_id)

    return make


@pytest.fixture
def begin(memory: Memory, scope: Scope) -> Callable[[], Any]:
    """Begins a transaction on the agent's memory."""

    def begin() -> Any:
        return memory.transaction(
            tenant_id=scope.tenant_id, agent_id=scope.agent_id, actor="test", write=True
        )

    return begin


@pytest.fixture
def working(begin: Callable[[], Any]) -> Callable[[], Any]:
    """Reads the session's working memory."""

    async def read() -> WorkingMemory:
        async with begin() as transaction:
            state: WorkingMemory = await transaction.working.load("s1")
        return state

    return read


@pytest.fixture
def calls(admin_url: str, settings: Settings) -> Callable[[], list[tuple[Any, ...]]]:
    """The calls of models that were written down, oldest first."""

    def read() -> list[tuple[Any, ...]]:
        with psycopg.connect(admin_url) as connection:
            return connection.execute(
                "SELECT operation_key, purpose, model, input_tokens, output_tokens, cost_usd "
                "FROM mnestic.llm_usage WHERE tenant_id = %s AND agent_id = 'ada' "
                "AND session_id = 's1' AND job_id = 'j1' ORDER BY id",
                [settings.tenant_id],
            ).fetchall()

    return read


@pytest.fixture
def counts(admin_url: str, settings: Settings) -> Callable[[], dict[str, int]]:
    """How many rows of this tenant each table has; the audit log and its like are left out."""
    tables = (
        "working_memory",
        "long_term_record",
        "job_read",
        "episode",
        "memory_snapshot",
        "job_wait",
        "operation",
        "llm_usage",
    )

    def read() -> dict[str, int]:
        found = {}
        with psycopg.connect(admin_url) as connection:
            for table in tables:
                query = sql.SQL("SELECT count(*) FROM mnestic.{} WHERE tenant_id = %s")
                row = connection.execute(
                    query.format(sql.Identifier(table)), [settings.tenant_id]
                ).fetchone()
                assert row is not None
                found[table] = int(row[0])
        return {table: number for table, number in found.items() if number}

    return read


@pytest.fixture
async def openai(chat_server: Any) -> AsyncIterator[AsyncOpenAI]:
    async with openai_client(api_key="sk-x", base_url=chat_server.base_url) as client:
        yield client


@pytest.fixture
def ada(memory: Memory, settings: Settings) -> MemoryClient:
    """The agent's memory from outside."""
    return MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada")


@pytest.fixture
def steps(memory: Memory, settings: Settings, openai: AsyncOpenAI) -> Callable[..., Steps]:
    """Makes the steps, with models on the loopback server unless others are given."""

    def make(**fields: Any) -> Steps:
        chosen = {
            "extractor": OpenAIExtractor(openai, model="reader"),
            "embedders": Embedders(OpenAIEmbedder(openai, model="vectors", dimensions=2)),
            "prices": PRICES,
        } | fields
        return Steps(IngestActivities(memory, **chosen), settings)

    return make


@pytest.fixture
def usage(admin_url: str, settings: Settings) -> Callable[[], list[Call]]:
    """The calls of models that were written down, oldest first."""

    def look() -> list[Call]:
        with psycopg.connect(admin_url) as connection:
            return connection.execute(
                "SELECT purpose, model, input_tokens, output_tokens, cost_usd::float, session_id "
                "FROM mnestic.llm_usage WHERE tenant_id = %s ORDER BY id",
                [settings.tenant_id],
            ).fetchall()

    return look

"""What activities need: a scope, a way to look at memory, models, and the steps of learning by them."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.openai_compatible import openai_client
from mnestic.activities.clients.openai_embedder import OpenAIEmbedder
from mnestic.activities.clients.openai_extractor import OpenAIExtractor
from mnestic.activities.knowledge.ingestion import IngestActivities
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import (
    PRICES,
    Call,
    Execute,
    Learn,
    Steps,
    english_steps,
)


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
def working(begin: Callable[[], Any]) -> Callable[[], Any]:
    """Reads the session's working memory."""

    async def read() -> WorkingMemory:
        async with begin() as transaction:
            state: WorkingMemory = await transaction.working.load("s1")
        return state

    return read


@pytest.fixture
def calls(execute: Execute) -> Callable[[], list[Any]]:
    """The calls of models that job `j1` made, oldest first."""
    return lambda: execute(
        "SELECT operation_key, purpose, model, input_tokens, output_tokens, cost_usd "
        "FROM mnestic.llm_usage WHERE tenant_id = %s AND agent_id = 'ada' "
        "AND session_id = 's1' AND job_id = 'j1' ORDER BY id"
    )


@pytest.fixture
def counts(execute: Execute) -> Callable[[], dict[str, int]]:
    """How many rows of this tenant each table of jobs has, if it has any; the audit log is left out."""
    tables = (
        *("working_memory", "long_term_record", "job_read", "episode"),
        *("memory_snapshot", "job_wait", "operation", "llm_usage"),
    )
    count = "SELECT count(*) FROM mnestic.{} WHERE tenant_id = %s HAVING count(*) > 0"
    return lambda: {table: number for table in tables for (number,) in execute(count.format(table))}


@pytest.fixture
async def openai(chat_server: Any) -> AsyncIterator[AsyncOpenAI]:
    async with openai_client(api_key="sk-x", base_url=chat_server.base_url) as client:
        yield client


@pytest.fixture
def ada(memory: Memory, settings: Settings) -> MemoryClient:
    """The agent's memory from outside."""
    return MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"))


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
def learn(memory: Memory, settings: Settings, ada: MemoryClient) -> Learn:
    """Ingests messages, if any, and learns from all that the agent was told, with the parser of English."""
    steps = english_steps(memory, settings)

    async def learn(*messages: Resource) -> None:
        await ada.ingest(messages)
        await steps.extract()
        await steps.learn()

    return learn


@pytest.fixture
def usage(execute: Execute) -> Callable[[], list[Call]]:
    """The calls of models that were written down, oldest first."""
    return lambda: execute(
        "SELECT purpose, model, input_tokens, output_tokens, cost_usd::float, session_id "
        "FROM mnestic.llm_usage WHERE tenant_id = %s ORDER BY id"
    )

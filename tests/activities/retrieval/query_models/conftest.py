"""Models that a question asks, on a loopback server, and an agent whose entries wait for their vectors."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from openai import AsyncOpenAI

from mnestic.activities.callers import Caller
from mnestic.activities.clients.openai_embedder import OpenAIEmbedder
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import PRICES, vectors

QUESTION = "Where does Mara live?"


ANSWER = "Mara lives in Turin, near the river."


@pytest.fixture
def memory(unembedded: Memory) -> Memory:
    """Entries get their vectors by learning."""
    return unembedded


@pytest.fixture
def models(openai: AsyncOpenAI, chat_server: Any) -> Callable[..., QueryModels]:
    """Makes models whose vectors come from the loopback server."""
    chat_server.answers = vectors

    def make(closing: timedelta = timedelta(minutes=1), **limits: Any) -> QueryModels:
        embedder = OpenAIEmbedder(openai, model="vectors", dimensions=2)
        return QueryModels(
            Embedders(embedder), limits=ModelCallLimits(**limits), prices=PRICES, closing=closing
        )

    return make


@pytest.fixture
def client(memory: Memory, settings: Settings) -> Callable[[QueryModels], MemoryClient]:
    """The agent's memory, asked through models."""
    return lambda models: MemoryClient(
        memory, tenant_id=settings.tenant_id, agent_id="ada", models=models
    )


@pytest.fixture
def caller(memory: Memory, settings: Settings) -> Caller:
    return Caller(memory=memory, tenant_id=settings.tenant_id, agent_id="ada", actor="test")

"""A client of an agent with a vault of notes, and limits of the test's choice."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.notes.folder import FolderVault


@pytest.fixture
def make(memory: Memory, settings: Settings) -> Callable[..., MemoryClient]:
    """Makes the agent's client, with a vault and limits of the test's choice."""

    def build(**fields: Any) -> MemoryClient:
        auto = AutoRetriever(
            models=QueryModels(Embedders(TokenVectorEmbedder())),
            count_tokens=count_tokens,
            notes_tenant_id=settings.tenant_id,
            **fields,
        )
        return MemoryClient(
            client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"), auto=auto
        )

    return build


@pytest.fixture
def vault(tmp_path: Path) -> FolderVault:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Mara.md").write_text("Mara has moved twice. #mnestic", encoding="utf-8")
    return FolderVault(folder)

"""Two tenants: one that owns a memory, and one that tries to reach it."""

import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.security.tenants import Victim, remember_everything, running_worker


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def victim(
    new_settings: Callable[[Path], Settings],
    admin_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Victim:
    """A tenant whose agent `ada` has something in every store. Nothing of it may change, so tests share it."""
    settings = new_settings(tmp_path_factory.mktemp("victim"))
    queue = f"shared-{uuid.uuid4().hex[:8]}"  # by its name no tenant is known
    return await remember_everything(settings.model_copy(update={"task_queue": queue}), admin_url)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def theirs(victim: Victim) -> AsyncIterator[MnesticClient]:
    """A client of the victim, in this process."""
    async with await MnesticClient.connect(victim.settings) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_worker(theirs: MnesticClient) -> AsyncIterator[None]:
    """A worker on the task queue of all tenants of the module."""
    async with running_worker(theirs):
        yield

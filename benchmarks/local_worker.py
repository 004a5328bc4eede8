"""A worker in the benchmark's own process, with the models that the settings choose."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.memory_wiring import writing_embedder
from mnestic.starter.wiring import open_memory
from mnestic.worker import activities_of, make_worker, open_models


@asynccontextmanager
async def local_worker(client: MnesticClient) -> AsyncIterator[None]:
    """A worker that runs for as long as a block."""
    memory = open_memory(client.endpoints, embedder=writing_embedder(client.settings))
    try:
        async with open_models(client.settings) as models:
            activities = activities_of(memory, **models)
            async with make_worker(client.temporal, client.settings, activities=activities):
                yield
    finally:
        await memory.close()

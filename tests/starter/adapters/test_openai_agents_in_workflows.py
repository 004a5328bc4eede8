"""The example of an agent that Temporal's plugin runs: our session and our wait in it, a script as its model."""

import asyncio
import importlib
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from agents import set_tracing_disabled
from temporalio.client import Client
from temporalio.openai_agents import OpenAIAgentsPlugin
from temporalio.openai_agents.testing import TestModelProvider
from temporalio.worker import Replayer, Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.waits import JobWait
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import find_endpoints
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from mnestic.workflows.plugin import MnesticPlugin
from tests.starter.adapters.scripted_model import Script, reply

set_tracing_disabled(True)


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "examples"))
    return importlib.import_module("openai_agents")


async def until_waiting(client: MnesticClient) -> JobWait:
    async with asyncio.timeout(30):
        while True:
            with suppress(NotFoundError):  # until its first wait
                if wait := await client.find_open_wait("desk"):
                    return wait
            await asyncio.sleep(0.05)


async def test_an_agent_waits_for_a_person_with_its_memory(
    client: MnesticClient,
    memory: PostgresMemory,
    settings: Settings,
    example: ModuleType,
) -> None:
    script = Script(reply("A table at seven?"), reply("A table at eight."))
    activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    plugins: list[Any] = [
        OpenAIAgentsPlugin(model_provider=TestModelProvider(script)),
        MnesticPlugin(activities=activities),
    ]
    endpoints = find_endpoints(settings)
    temporal = await Client.connect(endpoints.temporal_address, plugins=plugins)
    ada = client.memory("desk")
    await ada.add("Mara eats no meat.")
    async with Worker(temporal, task_queue=settings.task_queue, workflows=[example.Desk]):
        handle = await temporal.start_workflow(
            example.Desk.run,
            args=[settings.tenant_id, "Book a table for Mara, who eats no meat."],
            id=job_workflow_id(settings.tenant_id, "desk"),
            task_queue=settings.task_queue,
        )
        wait = await until_waiting(client)
        await client.resume_job("desk", "Not before eight.", wait_id=wait.wait_id)
        assert await handle.result() == "A table at eight."

    assert "Mara eats no meat." in script.inputs[0][0]["content"]
    items = await ada.history.read("mara")
    said = [item["content"] for item in items if item["role"] == "user"]
    assert [item["role"] for item in items] == ["user", "assistant"] * 2
    assert said[1] == "The reviewer says: Not before eight."
    replayer = Replayer(workflows=[example.Desk], plugins=plugins)
    await replayer.replay_workflow(await handle.fetch_history())

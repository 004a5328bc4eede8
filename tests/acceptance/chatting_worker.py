"""A worker of an agent of the OpenAI Agents SDK, which repeats what it hears; run as a process, so that it can be killed."""

import asyncio
from datetime import timedelta
from typing import Any

from agents import Agent, ModelResponse, Runner, set_tracing_disabled
from temporalio import workflow
from temporalio.client import Client
from temporalio.openai_agents import ModelActivityParameters, OpenAIAgentsPlugin
from temporalio.openai_agents.testing import ResponseBuilders, TestModel, TestModelProvider
from temporalio.worker import Worker

from mnestic import AgentMemory
from mnestic.memory.scope import Scope
from mnestic.starter.adapters.openai_agents import MnesticSession
from mnestic.starter.settings import load_settings
from mnestic.starter.wiring import find_endpoints
from mnestic.worker import worker_plugin


@workflow.defn
class Chat:
    """One turn for each answer to its wait."""

    @workflow.init
    def __init__(self, scope: Scope, _: int) -> None:
        self.memory = AgentMemory(job_id=scope.session_id, scope=scope)

    @workflow.run
    async def run(self, _: Scope, turns: int) -> int:
        """Returns how many items the session has for the agent, which is asked in the end."""
        session = MnesticSession.in_workflow(self.memory)
        for _ in range(turns):
            heard = await self.memory.wait("turn", timeout=timedelta(weeks=3), payload_type=str)
            await Runner.run(Agent("ada"), heard.payload or "", session=session)
        await self.memory.end("completed")
        return len(await session.get_items())


class Echo(TestModel):
    """Repeats the last words of the input."""

    def __init__(self) -> None:
        super().__init__(lambda: ResponseBuilders.output_message(""))

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        """The last words."""
        items = named["input"] if "input" in named else given[1]
        last = items if isinstance(items, str) else items[-1]["content"]
        return ResponseBuilders.output_message(f"You said {last}.")


async def main() -> None:
    """Works until it is killed."""
    set_tracing_disabled(True)
    settings = load_settings()
    soon = ModelActivityParameters(start_to_close_timeout=timedelta(seconds=3))
    async with worker_plugin(settings) as plugin:
        agents = OpenAIAgentsPlugin(model_params=soon, model_provider=TestModelProvider(Echo()))
        address = find_endpoints(settings).temporal_address
        client = await Client.connect(address, plugins=[agents, plugin])
        worker = Worker(client, task_queue=settings.task_queue, workflows=[Chat])
        async with worker:
            print("ready", flush=True)  # noqa: T201 - for who starts it
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())

"""An agent of the OpenAI Agents SDK, on Temporal, that waits up to three weeks for a person and knows what it has learned.

Beside `mnestic up`, with `pip install "mnestic[openai-agents]" temporalio-openai-agents` and OPENAI_API_KEY:

    python openai_agents.py                          # runs a worker
    python openai_agents.py "Book me a table for two in Porto."
    mnestic job resume desk --payload '"Not before eight."'
"""

import asyncio
import sys
from datetime import timedelta

from agents import Agent, RunConfig, Runner
from temporalio import workflow
from temporalio.client import Client
from temporalio.openai_agents import OpenAIAgentsPlugin
from temporalio.worker import Worker

from mnestic import AgentMemory
from mnestic.memory.names import job_workflow_id
from mnestic.memory.scope import Scope
from mnestic.starter.adapters.openai_agents import MnesticSession
from mnestic.starter.settings import load_settings
from mnestic.starter.wiring import find_endpoints
from mnestic.worker import worker_plugin

QUEUE = "desk"


@workflow.defn
class Desk:
    """Drafts an answer, has a person look at it, and finishes it."""

    @workflow.init
    def __init__(self, tenant_id: str, _: str) -> None:
        scope = Scope(tenant_id=tenant_id, agent_id="desk", session_id="mara")
        self.memory = AgentMemory(job_id="desk", scope=scope)

    @workflow.run
    async def run(self, _: str, question: str) -> str:
        """Returns the last answer."""
        session = MnesticSession.in_workflow(self.memory, user="Mara")
        config = RunConfig(call_model_input_filter=session.memory_context())
        agent = Agent("desk", instructions="You arrange things.")
        draft = await Runner.run(agent, question, session=session, run_config=config)
        answer = await self.memory.wait(
            "review", timeout=timedelta(weeks=3), ask=draft.final_output, payload_type=str
        )
        said = f"The reviewer says: {answer.payload or 'nothing'}"
        final = await Runner.run(agent, said, session=session, run_config=config)
        await self.memory.end("completed")
        return str(final.final_output)


async def main(question: str | None) -> None:
    """Runs a worker, or asks."""
    settings = load_settings()
    async with worker_plugin(settings) as plugin:
        plugins = [OpenAIAgentsPlugin(), plugin]
        client = await Client.connect(find_endpoints(settings).temporal_address, plugins=plugins)
        if question is None:
            await Worker(client, task_queue=QUEUE, workflows=[Desk]).run()
        given, job = [settings.tenant_id, question], job_workflow_id(settings.tenant_id, "desk")
        print(await client.execute_workflow(Desk.run, args=given, id=job, task_queue=QUEUE))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if sys.argv[1:] else None))

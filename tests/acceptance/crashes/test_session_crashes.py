"""Workers killed again and again during a conversation of an agent: no item is lost, doubled or out of order."""

import asyncio
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.names import job_workflow_id
from mnestic.memory.scope import Scope
from mnestic.starter.settings import Settings
from tests.acceptance.conftest import environment_of

pytestmark = pytest.mark.nightly

KILLS, CHATS, TURNS = 20, 8, 4
WORKER = Path(__file__).parents[1] / "chatting_worker.py"


async def test_sessions_have_each_item_once_and_in_order_though_workers_are_killed(
    settings: Settings, senders: Callable[..., Any], processes: Any
) -> None:
    chance, chats = random.Random(52), [f"chat-{number}" for number in range(CHATS)]

    def start() -> Any:
        return processes.start(sys.executable, WORKER, env=environment_of(settings))

    async with senders(settings) as both:
        client = both.clients[0]

        async def talk(chat: str) -> int:
            """One turn for each wait; gives how many items the agent is given in the end."""
            scope = Scope(tenant_id=settings.tenant_id, agent_id="ada", session_id=chat)
            handle = await client.temporal.start_workflow(
                "Chat",
                args=[scope, TURNS],
                id=job_workflow_id(settings.tenant_id, chat),
                task_queue=settings.task_queue,
                result_type=int,
            )
            for turn in range(1, 1 + TURNS):
                await both.until_parked(chat, waits=turn)
                await client.resume_job(chat, f"turn {turn}", wait_id=f"{chat}/w{turn}")
            return await handle.result()

        talking = asyncio.gather(*map(talk, chats))
        worker = start()
        for _ in range(KILLS):
            await asyncio.to_thread(worker.until, lambda of=worker: "ready" in of.out, what="ready")
            await asyncio.sleep(chance.random())  # a moment of its work by chance
            worker.stop(signal.SIGKILL)
            worker = start()
        assert await talking == [2 * TURNS] * CHATS
        sessions = [await client.memory("ada").history.read(chat) for chat in chats]

    turns = [(f"turn {turn}", f"You said turn {turn}.") for turn in range(1, 1 + TURNS)]
    for items in sessions:
        said = [item["content"] for item in items]
        texts = [one if isinstance(one, str) else one[0]["text"] for one in said]
        assert texts == [text for turn in turns for text in turn]

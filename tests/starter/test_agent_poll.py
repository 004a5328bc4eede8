"""The poll of a worker goes on whatever fails."""

import asyncio
from datetime import timedelta

from mnestic.memory.agents import WaitingAgent
from mnestic.starter.polls.agent_poll import agent_poll


async def test_a_rest_that_fails_ends_no_poll() -> None:
    looks, second = 0, asyncio.Event()

    async def list_agents() -> tuple[WaitingAgent, ...]:
        nonlocal looks
        looks += 1
        if looks == 2:
            second.set()
        return ()

    async def rest(seconds: float) -> None:
        if looks == 1:
            raise OSError(f"no socket is left for {seconds} s")
        await asyncio.Event().wait()

    async def start(waiting: WaitingAgent) -> None:
        raise AssertionError(waiting)

    every = timedelta(milliseconds=1)
    async with (
        asyncio.timeout(10),
        agent_poll(list_agents, start, what="events", every=every, rest=rest),
    ):
        await second.wait()

    assert looks == 2

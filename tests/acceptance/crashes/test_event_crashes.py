"""Workers killed again and again while jobs wait for events: no event is lost, and none resumes a wait twice."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.settings import Settings

pytestmark = pytest.mark.nightly

KILLS, JOBS = 20, 10
CONTRACT = {
    "Memory": {
        "shared": {
            "enabled": True,
            "pubsub": {"enabled": True, "channels": [{"channel": "orders"}]},
        }
    }
}
PLAN = """
name: follow
nodes:
  - id: hold
    kind: wait
    key: order
    timeout: 21d
    event: {channel: orders, where: {job: "${job.id}"}}
    on: {event: note, timeout: end}
  - id: note
    kind: remember
    message: {role: assistant, content: "${results.hold.payload.payload.step}"}
    next: {on: "${results.hold.payload.payload.last}", cases: {"yes": end}, otherwise: hold}
"""


async def test_jobs_get_each_of_their_events_once_though_workers_are_killed(
    settings: Settings,
    senders: Callable[..., Any],
    start_worker: Callable[..., Any],
    admin_url: str,
) -> None:
    chance = random.Random(48)
    async with senders(settings) as both:
        client = both.clients[0]
        await client.contracts().apply("*", CONTRACT)
        contract = await client.contract("crawler")
        jobs = [
            await client.start_job(
                parse_plan(PLAN, source="follow"),
                agent_id="ada",
                session_id=f"s{n}",
                job_id=f"j{n}",
            )
            for n in range(JOBS)
        ]

        async def tell(job_id: str) -> None:
            """Publishes the next step of a job once it waits, until its last."""
            for step in range(1, 1 + steps):
                await both.until_parked(job_id, waits=step)
                last = "yes" if step == steps else "no"
                await contract.publish(
                    "orders", {"job": job_id, "step": f"{job_id}/{step}", "last": last}
                )

        steps = 4
        worker = start_worker(settings)
        telling = asyncio.gather(*map(tell, jobs))
        for _ in range(KILLS):
            await asyncio.to_thread(
                worker.until, lambda of=worker: "worker ready" in of.err, what="a worker"
            )
            await asyncio.sleep(chance.random())  # a moment of its work by chance
            worker.stop(signal.SIGKILL)
            worker = start_worker(settings)
        await telling
        for job_id in jobs:
            assert (await client.wait_for_result(job_id)).results["hold"]["outcome"] == "event"

        for n, job_id in enumerate(jobs):
            state = await client.memory("ada").working_memory.get(f"s{n}")
            texts = [message.content for message in state.messages]
            assert texts == [f"{job_id}/{step}" for step in range(1, 1 + steps)]
    with psycopg.connect(admin_url) as connection:
        rows = connection.execute(
            "SELECT event_number, state FROM mnestic.job_wait WHERE tenant_id = %s",
            [settings.tenant_id],
        ).fetchall()
    assert Counter(state for _, state in rows) == {"resumed": JOBS * steps}
    assert len({number for number, _ in rows}) == JOBS * steps

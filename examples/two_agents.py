"""Two agents, one of which waits for the other: a job is parked until a crawler publishes what it is looking for.

Beside `mnestic up`:

    python two_agents.py
"""

import asyncio

from mnestic import MnesticClient
from mnestic.memory.jobs.plans import Plan

CHANNELS = [{"channel": "site", "pattern": "site.problem.*"}]
CONTRACT = {
    "Memory": {"shared": {"enabled": True, "pubsub": {"enabled": True, "channels": CHANNELS}}}
}
PLAN = {
    "name": "mend",
    "nodes": [
        {
            "id": "hold",
            "kind": "wait",
            "key": "problem",
            "timeout": "21d",
            "event": {"channel": "site.problem.*", "where": {"severity": "high"}},
            "on": {"event": "note", "timeout": "end"},
        },
        {
            "id": "note",
            "kind": "remember",
            "message": {
                "role": "assistant",
                "content": "I mend ${results.hold.payload.payload.page}, as ${results.hold.payload.agent_id} says.",
            },
            "next": "end",
        },
    ],
}


async def main() -> None:
    """Starts the job, lets the other agent publish, and shows what the job did."""
    async with await MnesticClient.connect() as client:
        await client.contracts().apply("web.*", CONTRACT)
        job_id = await client.start_job(
            Plan.model_validate(PLAN), agent_id="web.mender", session_id="monday"
        )

        while (await client.describe_job(job_id)).state != "waiting":  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.1)  # an event counts once the job waits
        print("web.mender waits")

        crawler = await client.contract("web.crawler")
        await crawler.publish("site.problem.title", {"severity": "low", "page": "/about"})
        await crawler.publish("site.problem.price", {"severity": "high", "page": "/pricing"})

        result = await client.wait_for_result(job_id)
        hold = result.results["hold"]
        print(f"It was woken by an event: {hold['payload']['channel']}")
        state = await client.memory("web.mender").working_memory.get("monday")
        print(state.messages[-1].content)


if __name__ == "__main__":
    asyncio.run(main())

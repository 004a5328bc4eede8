"""Run a job that waits for a person, and be that person.

Beside `mnestic up`:

    python approval_job.py order-17 1900

The plan is `order.yaml`. While the job waits, this program may end, and so may the worker: run it again with the
same order to decide later. `mnestic job show order-17` shows the wait.
"""

import asyncio
import sys
from pathlib import Path

from mnestic import MnesticClient
from mnestic.memory.errors import AlreadyExistsError
from mnestic.memory.jobs.waits import JobWait
from mnestic.starter.jobs.plans import read_plan

PLAN = Path(__file__).with_name("order.yaml")


async def main(order: str, amount: int) -> None:
    """Starts the job, or finds it, and takes the decision to it."""
    async with await MnesticClient.connect() as client:
        try:
            await client.start_job(
                read_plan(PLAN),
                agent_id="buyer",
                session_id=order,
                inputs={"order": order, "amount": amount},
                job_id=order,
            )
        except AlreadyExistsError:
            print(f"Job {order} was started before.")
        wait = await open_wait(client, order)
        print(f"{wait.ask} Type approved or rejected: ", end="", flush=True)
        outcome = (await asyncio.to_thread(sys.stdin.readline)).strip()
        await client.resume_job(order, {"by": "Ana"}, outcome=outcome, wait_id=wait.wait_id)
        await client.wait_for_result(order)
        record = await client.memory("buyer").records.get("orders", order)
        print(f"\nRemembered of {order}: {record.value}")


async def open_wait(client: MnesticClient, job_id: str) -> JobWait:
    """The job's wait, once the job has reached it."""
    while (wait := await client.find_open_wait(job_id)) is None:
        if (state := (await client.describe_job(job_id)).state) not in ("running", "waiting"):
            sys.exit(f"Job {job_id} is {state}.")
        await asyncio.sleep(0.1)
    return wait


if __name__ == "__main__":
    match sys.argv[1:]:
        case [order, amount] if amount.isdecimal():
            asyncio.run(main(order, int(amount)))
        case _:
            sys.exit("usage: python approval_job.py ORDER AMOUNT")

"""Waiting until a job is in a state, which nobody tells."""

import asyncio

from mnestic.starter.client.mnestic_client import MnesticClient


async def until_state(
    client: MnesticClient, job_id: str, state: str = "waiting", *, limit_s: float = 30
) -> None:
    """Waits until a job is in a state, unless it ends in another."""
    async with asyncio.timeout(limit_s):
        while (job := await client.describe_job(job_id)).state != state:
            assert job.closed_at is None, f"job {job_id} ended as {job.state}"
            await asyncio.sleep(0.1)  # each question costs the servers

"""Clients that send until they are told, and all that a job has left in the database."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg

from mnestic.memory.errors import ResumeRefusedError, UnavailableError
from mnestic.memory.jobs.waits import ResumeReceipt
from mnestic.starter.client.mnestic_client import MnesticClient

STORY_LIMIT_S = 600.0  # for one step of a job whose worker or servers go and come
KEPT = Path(__file__).with_name("kept.sql").read_text("utf-8")
Kept = tuple[str | None, ...]


class Senders:
    """Two clients that send each request both, and write down what they were told."""

    def __init__(self, one: MnesticClient, other: MnesticClient) -> None:
        self.clients = (one, other)
        self.settings = one.settings
        self.receipts: dict[str, ResumeReceipt] = {}
        self.in_vain = 0  # requests that got no receipt, and were sent again

    async def send(
        self, job_id: str, text: str, *, last: bool = False, request_id: str | None = None
    ) -> ResumeReceipt:
        """Sends a text from both clients at once, by each until it has the receipt."""
        name = request_id or f"{job_id}/{text}"
        payload = {"text": text, "last": last}
        one, other = await asyncio.gather(
            *(self._until_told(client, job_id, payload, request_id=name) for client in self.clients)
        )
        assert one == other, "two clients were told different things of one request"
        assert one.request_id == name
        self.receipts[name] = one
        return one

    async def until_parked(self, job_id: str, *, waits: int) -> None:
        """Waits until the job is at its n-th wait."""

        async def parked() -> bool:
            job = await self.clients[0].describe_job(job_id)
            assert job.closed_at is None, f"job {job_id} ended as {job.state}"
            return job.state == "waiting" and len(job.waits) == waits

        await self.until(parked)

    async def until(self, ready: Callable[[], Awaitable[Any]]) -> None:
        """Asks until the answer is true, also while servers are away."""
        async with asyncio.timeout(STORY_LIMIT_S):
            async for _ in _tries():
                with suppress(UnavailableError):
                    if await ready():
                        return

    async def kept(self) -> Counter[Kept]:
        """What is in the database of this tenant's memory."""
        url = self.settings.database_url
        assert url is not None
        async with await psycopg.AsyncConnection.connect(url.get_secret_value()) as connection:
            await connection.execute(
                "SELECT set_config('role', 'mnestic_app', true), "
                "set_config('mnestic.tenant_id', %s, true)",
                (self.settings.tenant_id,),
            )
            rows = await (await connection.execute(KEPT)).fetchall()
        return Counter(tuple(identity) for (identity,) in rows)

    async def _until_told(
        self, client: MnesticClient, job_id: str, payload: Any, *, request_id: str
    ) -> ResumeReceipt:
        async with asyncio.timeout(STORY_LIMIT_S):
            async for _ in _tries():
                try:
                    receipt = await client.resume_job(
                        job_id, payload, request_id=request_id, limit=timedelta(seconds=5)
                    )
                except (UnavailableError, ResumeRefusedError):  # it was not taken yet
                    receipt = None
                if receipt is not None:
                    return receipt
                self.in_vain += 1
        raise AssertionError("the tries never end")


async def _tries() -> AsyncIterator[None]:
    """Tries without end, soon at first, then each second, so that many of them may wait at once."""
    pause_s = 0.02
    while True:
        yield
        await asyncio.sleep(pause_s)
        pause_s = min(1.0, 1.5 * pause_s)

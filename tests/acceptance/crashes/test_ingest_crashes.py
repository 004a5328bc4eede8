"""A worker killed at random while an agent learns from a thousand messages: each is learned from once."""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmarks.messages import messages
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.acceptance.knowledge import admin_url, in_database, read_knowledge

pytestmark = pytest.mark.acceptance

AGENT = "ada"
MESSAGES = 1_000
AT_ONCE = 200
LIMIT_S = 600.0
# How many steps were taken so far: each message is read, learned from, and given a vector.
STEPS = """
SELECT (SELECT count(*) FILTER (WHERE state <> 'received') + count(*) FILTER (WHERE state = 'learned')
          FROM mnestic.ingest_state WHERE tenant_id = %(tenant)s)
     + (SELECT count(*) FROM mnestic.embedding WHERE tenant_id = %(tenant)s)
"""


@pytest.fixture(scope="module")
def said() -> list[Resource]:
    """Messages, in half of which somebody tells, corrects or takes back something of himself."""
    return list(messages(MESSAGES, seed=5, telling=0.5))


@pytest.fixture
def two_databases(
    new_settings: Callable[[Path], Settings],
    new_database: Callable[[], AbstractContextManager[str]],
    tmp_path: Path,
) -> Iterator[tuple[Settings, Settings]]:
    """One tenant in two databases, so that what is made of the same messages has the same ids."""
    one = new_settings(tmp_path / "data")
    with new_database() as url:
        yield one, in_database(one, url, queue="-other")


async def receive(client: MnesticClient, said: list[Resource]) -> None:
    for first in range(0, len(said), AT_ONCE):
        await client.memory(AGENT).ingest(said[first : first + AT_ONCE])


async def until_step(settings: Settings, step: int) -> None:
    """Waits until so many steps were taken."""
    async with asyncio.timeout(LIMIT_S):
        url = admin_url(settings)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            while True:
                found = await connection.execute(STEPS, {"tenant": settings.tenant_id})
                ((taken,),) = await found.fetchall()
                if taken >= step:
                    return
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("kills", [6, pytest.param(20, marks=pytest.mark.nightly)])
async def test_a_worker_killed_again_and_again_learns_what_one_learns_that_is_left_alone(
    two_databases: tuple[Settings, Settings],
    said: list[Resource],
    start_worker: Callable[..., Any],
    kills: int,
) -> None:
    seed = int(os.environ.get("SEED") or random.randrange(2**32))
    print(f"SEED={seed}")  # noqa: T201 - the same seed kills at the same steps
    chance = random.Random(seed)
    steps = sorted(chance.sample(range(3 * MESSAGES - AT_ONCE), kills))
    alone, killed = two_databases

    async with await MnesticClient.connect(alone) as client:
        await receive(client, said)  # before the first worker is up, as below
        ingest = await start_ingest(client, agent_id=AGENT)
        worker = start_worker(alone)
        await ingest.result()
        await asyncio.to_thread(worker.stop)
    codes = []
    async with await MnesticClient.connect(killed) as client:
        await receive(client, said)
        ingest = await start_ingest(client, agent_id=AGENT)
        for step in steps:
            worker = start_worker(killed)
            await until_step(killed, step)
            await asyncio.sleep(chance.uniform(0, 0.3))
            codes.append((await asyncio.to_thread(worker.stop, signal.SIGKILL)).code)
        worker = start_worker(killed)
        await ingest.result()
        await asyncio.to_thread(worker.stop)
        count = await client.memory(AGENT).messages.count()

    wanted = await asyncio.to_thread(read_knowledge, alone)
    found = await asyncio.to_thread(read_knowledge, killed)
    assert codes == [-signal.SIGKILL] * kills
    assert (count.learned, count.waiting, count.parked) == (MESSAGES, 0, 0)
    assert [found[name].total() for name in ("resource", "entry", "embedding")] == [MESSAGES] * 3
    assert {name for name in found if found[name]} >= {"claim", "fact", "posting", "entry_term"}
    for name, rows in wanted.items():
        assert (rows - found[name], found[name] - rows) == (Counter(), Counter()), name

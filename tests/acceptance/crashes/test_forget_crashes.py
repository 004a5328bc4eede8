"""A worker killed while a topic is forgotten: another goes on, and nothing is counted twice."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.acceptance.knowledge import admin_url, in_database
from tests.word_scan import scan_tables

pytestmark = pytest.mark.acceptance

AGENT = "ada"
MESSAGES = 2_000
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(number: int) -> Resource:
    city = "Paris" if number % 3 else "Rome"
    return Resource(
        session_id=f"s{number % 7}",
        source_id=str(number),
        channel="mail",
        speaker=f"Person {number}",
        content=f"I live in {city}. I have {number} books.",
        at=AT + timedelta(minutes=number),
    )


@pytest.fixture(scope="module")
async def learned(
    new_settings: Callable[[Path], Settings],
    new_database: Callable[..., AbstractContextManager[str]],
    start_worker: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Settings]:
    """A database in which an agent knows what it was told, with nobody connected."""
    with new_database() as url:
        settings = in_database(new_settings(tmp_path_factory.mktemp("learned") / "data"), url)
        async with await MnesticClient.connect(settings) as client:
            await client.memory(AGENT).ingest([said(number) for number in range(MESSAGES)])
            learner = start_worker(settings)
            await (await start_ingest(client, agent_id=AGENT)).result()
            await asyncio.to_thread(learner.stop)
        yield settings


@pytest.fixture
def settings(
    learned: Settings,
    new_database: Callable[..., AbstractContextManager[str]],
    request: pytest.FixtureRequest,
) -> Iterator[Settings]:
    """Settings of a copy of that database."""
    name = conninfo_to_dict(admin_url(learned))["dbname"]
    with new_database(of=name) as url:
        yield in_database(learned, url, queue=f"-{request.node.callspec.id}")


@pytest.mark.parametrize(
    ("point", "passing"),
    [
        ("before_purge_commit", 25),
        ("after_purge_commit", 1),
        pytest.param("before_purge_commit", 5, marks=pytest.mark.nightly),
        pytest.param("before_purge_commit", 40, marks=pytest.mark.nightly),
        pytest.param("after_purge_commit", 2, marks=pytest.mark.nightly),
    ],
)
async def test_a_topic_is_forgotten_whole_though_the_worker_is_killed(
    settings: Settings, start_worker: Callable[..., Any], point: str, passing: int
) -> None:
    async with await MnesticClient.connect(settings) as client:
        memory = client.memory(AGENT)
        shown = await memory.preview_forget("Paris")
        handle = await memory.forgetting.start("Paris", confirm=shown.token)

        killed = start_worker(settings, point, str(passing))
        code = await asyncio.to_thread(killed.process.wait, 120)
        worker = start_worker(settings)
        done = await handle.result()
        await asyncio.to_thread(worker.stop)
        left = await memory.forgetting.report("Paris", done, preview=shown)

    url = admin_url(settings)
    assert code == -signal.SIGKILL
    assert scan_tables(url, "paris", tenant=settings.tenant_id, agent=AGENT) == {}
    assert left.left == ()
    parts = ("entry", "resource", "claim", "fact", "embedding", "edge")
    assert [done.purged.get(part) for part in parts] == [shown.purged.get(part) for part in parts]
    assert scan_tables(url, "rome", tenant=settings.tenant_id, agent=AGENT)["entry"] == (
        len(range(0, MESSAGES, 3))
    )

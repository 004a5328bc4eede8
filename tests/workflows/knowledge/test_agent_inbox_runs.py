"""An agent's inbox over time: new runs, rests, storms, a database that is down; nothing is lost or kept twice."""

import asyncio
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import psycopg
import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.testing import TimeSkipper

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.workflows.conftest import Until
from tests.workflows.knowledge.conftest import Inbox

Run = Callable[[], AbstractAsyncContextManager[None]]


@pytest.mark.usefixtures("worker")
async def test_an_id_that_comes_again_is_kept_once_also_in_a_later_run(inbox: Inbox) -> None:
    await inbox.told.interaction("I live in Ghent.", speaker="Mara", source_id="m1")
    await inbox.settled(1)
    first = await inbox.run_id()
    await inbox.handle().signal("poke")

    await inbox.until_moved(first)
    await inbox.told.interaction("I live in Rome.", speaker="Mara", source_id="m1")
    await inbox.told.interaction("I have a cat.", speaker="Mara", source_id="m2")
    report = await inbox.settled(2)

    found = await inbox.entries()
    assert found["m1"].content == "I live in Ghent."
    assert report.kept == 3
    assert ("lives_in", "Ghent") in await inbox.believed("Mara")


@pytest.mark.usefixtures("worker")
async def test_an_inbox_that_is_told_nothing_for_an_hour_ends_and_begins_again(
    client: MnesticClient, inbox: Inbox
) -> None:
    await inbox.told.interaction("Hello.", speaker="Mara", source_id="m1")
    await inbox.settled(1)
    await TimeSkipper(client.temporal).fast_forward(inbox.handle(), timedelta(minutes=61))
    await inbox.until_over(WorkflowExecutionStatus.COMPLETED)
    rested = await inbox.told.status()
    await inbox.told.interaction("Hello.", speaker="Mara", source_id="m1")
    await inbox.told.interaction("Bye.", speaker="Mara", source_id="m2")
    report = await inbox.settled(2)

    assert (rested.running, rested.kept) == (False, 1)
    assert (report.running, report.kept) == (True, 2)
    assert set(await inbox.entries()) == {"m1", "m2"}


@pytest.mark.acceptance
@pytest.mark.usefixtures("worker")
async def test_a_history_that_has_grown_large_is_left_behind_and_nothing_of_it_lost(
    inbox: Inbox,
) -> None:
    told = {"speaker": "Mara", "content": "Hello."}
    await inbox.signal("interaction", told | {"source_id": "m0"}, batch=1)
    first = await inbox.run_id()

    for number in range(1, 6):
        await inbox.handle().signal(
            "interaction", told | {"source_id": f"large{number}", "content": "x" * 1_060_000}
        )
    await inbox.handle().signal("interaction", told | {"source_id": "m1"})
    report = await inbox.settled(7)

    assert await inbox.run_id() != first
    assert (report.kept, report.refused) == (2, 5)
    assert set(await inbox.entries()) == {"m0", "m1"}


async def test_a_storm_of_signals_with_repeats_and_a_restart_leaves_each_once(
    client: MnesticClient, settings: Settings, run_worker: Run, inbox: Inbox
) -> None:
    order = random.Random(5)
    told = [(f"m{n}", f"I met person number {n}.") for n in range(150)] * 2
    order.shuffle(told)

    async with (
        await MnesticClient.connect(settings) as other,
        await MnesticClient.connect(settings) as third,
    ):
        senders = [client, other, third]

        async def tell(sender: int, begin: int, end: int | None) -> None:
            for source_id, content in told[sender::3][begin:end]:
                box = senders[sender].inbox("ada")
                await box.interaction(content, speaker="Mara", source_id=source_id)

        async with run_worker():
            await asyncio.gather(*(tell(sender, 0, 50) for sender in range(3)))
        await asyncio.gather(*(tell(sender, 50, 70) for sender in range(3)))
        async with run_worker():
            await asyncio.gather(*(tell(sender, 70, None) for sender in range(3)))
            report = await inbox.settled(150)

    found = await inbox.entries()
    assert {name: entry.content for name, entry in found.items()} == dict(told)
    assert (report.kept, report.refused, report.learned) == (300, 0, 150)


async def test_signals_that_wait_travel_into_a_new_run_and_are_kept_when_it_is_cancelled(
    run_worker: Run, inbox: Inbox
) -> None:
    told = {"speaker": "Mara", "content": "Hello."}
    for number in range(3):
        name = f"m{number}"
        await inbox.signal("interaction", told | {"source_id": name}, window=timedelta(hours=1))
    await inbox.handle().signal("poke")
    await inbox.signal("interaction", told | {"source_id": "m3"})
    first = await inbox.run_id()

    async with run_worker():
        await inbox.until_moved(first)
        report = await inbox.told.status()
        await inbox.handle().cancel()
        await inbox.until_over(WorkflowExecutionStatus.CANCELED)

    assert (report.pending, report.kept) == (4, 0)
    assert set(await inbox.entries()) == {"m0", "m1", "m2", "m3"}


@pytest.mark.usefixtures("worker")
async def test_while_the_database_refuses_nothing_is_lost(
    admin_url: str, inbox: Inbox, until: Until
) -> None:
    async def failing() -> bool:
        return bool((await inbox.told.status()).failing)

    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute("REVOKE INSERT ON mnestic.resource FROM mnestic_app")
        try:
            await inbox.told.interaction("Hello.", speaker="Mara", source_id="m1")
            await until(failing)
            during = await inbox.told.status()
        finally:
            connection.execute("GRANT INSERT ON mnestic.resource TO mnestic_app")
    await inbox.told.interaction("Hello.", speaker="Mara", source_id="m2")
    report = await inbox.settled(2)

    assert (during.pending, during.kept) == (1, 0)
    assert "mnestic.keep_signals" in during.failing[0]
    assert (report.kept, report.failing) == (2, ())

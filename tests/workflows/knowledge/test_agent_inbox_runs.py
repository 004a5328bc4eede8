"""An agent's inbox over time: new runs, rests, storms, a database that is down; nothing is lost or kept twice."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle
from temporalio.testing import TimeSkipper

from mnestic.memory.knowledge.inbox import InboxReport
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.workflows.knowledge.inbox_memory import believed, entries

Until = Callable[..., Awaitable[Any]]
Run = Callable[[], AbstractAsyncContextManager[None]]
Signal = Callable[..., Awaitable[None]]
Settled = Callable[..., Awaitable[InboxReport]]
Inbox = Callable[[], WorkflowHandle[Any, Any]]


@pytest.mark.usefixtures("worker")
async def test_an_id_that_comes_again_is_kept_once_also_in_a_later_run(
    client: MnesticClient,
    settled: Settled,
    until: Until,
    inbox: Inbox,
) -> None:
    told = client.inbox("ada")
    await told.interaction("I live in Ghent.", speaker="Mara", source_id="m1")
    await settled(1)
    first = (await inbox().describe()).run_id
    await inbox().signal("poke")

    async def moved() -> bool:
        return (await inbox().describe()).run_id != first

    await until(moved)
    await told.interaction("I live in Rome.", speaker="Mara", source_id="m1")
    await told.interaction("I have a cat.", speaker="Mara", source_id="m2")
    report = await settled(2)

    found = await entries(client)
    assert found["m1"].content == "I live in Ghent."
    assert report.kept == 3
    assert ("lives_in", "Ghent") in await believed(client, "Mara")


async def test_an_inbox_that_is_told_nothing_for_an_hour_ends_and_begins_again(
    client: MnesticClient, run_worker: Run, settled: Settled, until: Until, inbox: Inbox
) -> None:
    async def over() -> bool:
        return (await inbox().describe()).status is WorkflowExecutionStatus.COMPLETED

    async with run_worker():
        await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id="m1")
        await settled(1)
        await TimeSkipper(client.temporal).fast_forward(inbox(), timedelta(minutes=61))
        await until(over)
        rested = await client.inbox("ada").status()
        await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id="m1")
        await client.inbox("ada").interaction("Bye.", speaker="Mara", source_id="m2")
        report = await settled(2)

    assert (rested.running, rested.kept) == (False, 1)
    assert (report.running, report.kept) == (True, 2)
    assert set(await entries(client)) == {"m1", "m2"}


@pytest.mark.acceptance
@pytest.mark.usefixtures("worker")
async def test_a_history_that_has_grown_large_is_left_behind_and_nothing_of_it_lost(
    client: MnesticClient, signal: Signal, settled: Settled, inbox: Inbox
) -> None:
    told = {"speaker": "Mara", "content": "Hello."}
    await signal("interaction", told | {"source_id": "m0"}, batch=1)
    first = (await inbox().describe()).run_id

    for number in range(1, 6):
        await inbox().signal(
            "interaction", told | {"source_id": f"large{number}", "content": "x" * 1_060_000}
        )
    await inbox().signal("interaction", told | {"source_id": "m1"})
    report = await settled(7)

    assert (await inbox().describe()).run_id != first
    assert (report.kept, report.refused) == (2, 5)
    assert set(await entries(client)) == {"m0", "m1"}


async def test_what_comes_while_no_worker_is_up_is_kept_later(
    client: MnesticClient, run_worker: Run, settled: Settled
) -> None:
    for number in range(5):
        await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id=f"m{number}")

    async with run_worker():
        await settled(5)

    assert len(await entries(client)) == 5


async def test_a_storm_of_signals_with_repeats_and_a_restart_leaves_each_once(
    client: MnesticClient, settings: Settings, run_worker: Run, settled: Settled
) -> None:
    order = random.Random(5)
    told = [(f"m{n}", f"I met person number {n}.") for n in range(150)] * 2
    order.shuffle(told)

    async def tell(sender: MnesticClient, share: list[tuple[str, str]]) -> None:
        for source_id, content in share:
            await sender.inbox("ada").interaction(content, speaker="Mara", source_id=source_id)

    async with (
        await MnesticClient.connect(settings) as other,
        await MnesticClient.connect(settings) as third,
    ):
        senders = [client, other, third]
        shares = [told[place::3] for place in range(3)]
        async with run_worker():
            await asyncio.gather(
                *(tell(who, share[:50]) for who, share in zip(senders, shares, strict=True))
            )
        await asyncio.gather(
            *(tell(who, share[50:70]) for who, share in zip(senders, shares, strict=True))
        )
        async with run_worker():
            await asyncio.gather(
                *(tell(who, share[70:]) for who, share in zip(senders, shares, strict=True))
            )
            report = await settled(150)

    found = await entries(client)
    assert {name: entry.content for name, entry in found.items()} == dict(told)
    assert (report.kept, report.refused, report.learned) == (300, 0, 150)


async def test_signals_that_wait_travel_into_a_new_run_and_are_kept_when_it_is_cancelled(
    client: MnesticClient, run_worker: Run, signal: Signal, until: Until, inbox: Inbox
) -> None:
    told = {"speaker": "Mara", "content": "Hello."}
    for number in range(3):
        await signal("interaction", told | {"source_id": f"m{number}"}, window=timedelta(hours=1))
    await inbox().signal("poke")
    await signal("interaction", told | {"source_id": "m3"})
    first = (await inbox().describe()).run_id

    async def moved() -> bool:
        return (await inbox().describe()).run_id != first

    async def over() -> bool:
        return (await inbox().describe()).status is WorkflowExecutionStatus.CANCELED

    async with run_worker():
        await until(moved)
        report = await client.inbox("ada").status()
        await inbox().cancel()
        await until(over)

    assert (report.pending, report.kept) == (4, 0)
    assert set(await entries(client)) == {"m0", "m1", "m2", "m3"}


async def test_while_the_database_refuses_nothing_is_lost(
    client: MnesticClient,
    admin_url: str,
    run_worker: Run,
    settled: Settled,
    until: Until,
) -> None:
    async def failing() -> bool:
        return bool((await client.inbox("ada").status()).failing)

    with psycopg.connect(admin_url, autocommit=True) as connection:
        async with run_worker():
            connection.execute("REVOKE INSERT ON mnestic.resource FROM mnestic_app")
            try:
                await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id="m1")
                await until(failing)
                during = await client.inbox("ada").status()
            finally:
                connection.execute("GRANT INSERT ON mnestic.resource TO mnestic_app")
            await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id="m2")
            report = await settled(2)

    assert (during.pending, during.kept) == (1, 0)
    assert "mnestic.keep_signals" in during.failing[0]
    assert (report.kept, report.failing) == (2, ())

"""Heartbeats of a step that takes long."""

import asyncio
import dataclasses
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.heartbeats import heartbeats


async def beats(limit: timedelta | None) -> int:
    """How many heartbeats a step has given by the time it has seen three, or has done some work."""
    environment, told, enough = ActivityEnvironment(), 0, asyncio.Event()
    environment.info = dataclasses.replace(environment.info, heartbeat_timeout=limit)

    def beat(*_: object) -> None:
        nonlocal told
        told += 1
        if told == 3:
            enough.set()

    async def step() -> None:
        async with heartbeats():
            if limit:
                await enough.wait()

    environment.on_heartbeat = beat
    await asyncio.wait_for(environment.run(step), 10)
    return told


async def test_a_step_gives_heartbeats_as_long_as_it_runs() -> None:
    assert await beats(timedelta(milliseconds=40)) == 3


async def test_a_step_that_is_asked_for_none_gives_none() -> None:
    assert await beats(None) == 0


async def test_an_error_of_the_step_ends_its_heartbeats() -> None:
    environment, told = ActivityEnvironment(), 0
    environment.info = dataclasses.replace(
        environment.info, heartbeat_timeout=timedelta(milliseconds=4)
    )

    def beat(*_: object) -> None:
        nonlocal told
        told += 1

    async def step() -> None:
        async with heartbeats():
            raise ValueError("no")

    environment.on_heartbeat = beat
    with pytest.raises(ValueError, match="no"):
        await environment.run(step)
    before = told
    await asyncio.sleep(0.05)

    assert told == before

"""Room for calls of models: slots that all tenants share, and what is left of each one's day."""

import asyncio

import pytest

from mnestic.activities.headroom import Headroom
from mnestic.memory.usage import Budget, UsageTotal

LIMIT_S = 5.0


class Day:
    """What a tenant's day has taken, and how often that was looked up."""

    def __init__(self) -> None:
        self.looked, self._looked = 0, asyncio.Condition()

    async def __call__(self) -> UsageTotal:
        async with self._looked:
            self.looked += 1
            self._looked.notify_all()
        return UsageTotal()

    async def was_looked_up(self, times: int) -> None:
        async with asyncio.timeout(LIMIT_S), self._looked:
            await self._looked.wait_for(lambda: self.looked >= times)


@pytest.fixture
def headroom() -> Headroom:
    """Room for two; how large a call is, is not known yet, so those of one tenant go one by one."""
    return Headroom(concurrency=2, daily=Budget(tokens=10))


async def enter(headroom: Headroom, tenant_id: str, day: Day) -> None:
    async with asyncio.timeout(LIMIT_S), headroom.room(tenant_id, day):
        pass


async def test_who_waits_for_his_day_keeps_nobody_else_from_asking(headroom: Headroom) -> None:
    day = Day()
    async with headroom.room("near", day):
        waiting = [asyncio.create_task(enter(headroom, "near", day)) for _ in range(3)]
        await day.was_looked_up(1 + len(waiting))

        await enter(headroom, "other", Day())
        waited = not any(task.done() for task in waiting)
    await asyncio.gather(*waiting)

    assert waited


async def test_who_gives_up_waiting_for_a_slot_leaves_his_day_to_others(headroom: Headroom) -> None:
    day = Day()
    async with headroom.room("one", Day()), headroom.room("two", Day()):
        waiting = asyncio.create_task(enter(headroom, "near", day))
        await day.was_looked_up(1)
        await asyncio.sleep(0)  # it waits for a slot now
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    await enter(headroom, "near", day)
    assert day.looked == 2

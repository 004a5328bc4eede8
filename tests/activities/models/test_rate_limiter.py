"""Permits for calls of models: so many at once for all tenants, within the daily quota of each."""

import asyncio
from decimal import Decimal

import pytest

from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.memory.models.usage import Budget, ModelCall, UsageTotal

LIMIT_S = 5.0


class Day:
    """What a tenant's day has taken, and how often that was read."""

    def __init__(self) -> None:
        self.tokens, self.usd = 0, Decimal(0)
        self.read, self._read = 0, asyncio.Condition()

    async def __call__(self) -> UsageTotal:
        used = UsageTotal(calls=1, input_tokens=self.tokens, output_tokens=0, cost_usd=self.usd)
        async with self._read:
            self.read += 1
            self._read.notify_all()
        return used

    async def was_read(self, times: int) -> None:
        async with asyncio.timeout(LIMIT_S), self._read:
            await self._read.wait_for(lambda: self.read >= times)


class Calls:
    """Calls of one size, which count how many of them run at once."""

    def __init__(self, limiter: RateLimiter, *, tokens: int = 0, usd: float = 0) -> None:
        self._limiter, self._tokens, self._usd = limiter, tokens, Decimal(str(usd))
        self.running = self.most = 0

    async def __call__(self, tenant_id: str, day: Day, *, daily: Budget) -> None:
        async with asyncio.timeout(LIMIT_S), self._limiter.permit(tenant_id, day):
            if daily.tokens is not None and day.tokens >= daily.tokens:
                return
            if daily.usd is not None and day.usd >= Decimal(str(daily.usd)):
                return
            self.running += 1
            self.most = max(self.most, self.running)
            for _ in range(3):
                await asyncio.sleep(0)
            self.running -= 1
            day.tokens, day.usd = day.tokens + self._tokens, day.usd + self._usd
            self._limiter.record(call(tokens=self._tokens, usd=self._usd))


def call(*, tokens: int, usd: Decimal) -> ModelCall:
    return ModelCall(
        session_id=None,
        job_id=None,
        operation_key=None,
        purpose="extract",
        model="m",
        input_tokens=tokens,
        output_tokens=0,
        cost_usd=usd,
    )


@pytest.fixture
def limiter() -> RateLimiter:
    """Two calls at once; how large one is, is not known yet, so those of one tenant run one by one."""
    return RateLimiter(concurrency=2, daily=Budget(tokens=10))


async def enter(limiter: RateLimiter, tenant_id: str, day: Day) -> None:
    async with asyncio.timeout(LIMIT_S), limiter.permit(tenant_id, day):
        pass


@pytest.mark.parametrize(
    ("daily", "sizes"),
    [(Budget(tokens=100), {"tokens": 9}), (Budget(usd=1.0), {"usd": 0.09})],
    ids=["tokens", "USD"],
)
async def test_only_the_last_call_of_a_day_exceeds_its_quota(
    daily: Budget, sizes: dict[str, int]
) -> None:
    day, calls = Day(), Calls(RateLimiter(concurrency=4, daily=daily), **sizes)

    await asyncio.gather(*(calls("near", day, daily=daily) for _ in range(40)))

    assert (day.tokens, day.usd) in {(108, 0), (0, Decimal("1.08"))}  # the twelfth
    assert calls.most == 4


async def test_no_more_calls_run_at_once_than_a_worker_may_make() -> None:
    limiter, day = RateLimiter(concurrency=3, daily=None), Day()
    calls = Calls(limiter, tokens=5)

    tenants = [f"tenant-{number}" for number in range(12)]
    await asyncio.gather(*(calls(tenant, day, daily=Budget(tokens=999)) for tenant in tenants))

    assert calls.most == 3
    assert day.read == 0  # nothing limits the day


async def test_who_waits_for_his_quota_keeps_nobody_else_from_calling(limiter: RateLimiter) -> None:
    day = Day()
    async with limiter.permit("near", day):
        waiting = [asyncio.create_task(enter(limiter, "near", day)) for _ in range(3)]
        await day.was_read(1)

        await enter(limiter, "other", Day())
        waited = not any(task.done() for task in waiting)
    await asyncio.gather(*waiting)

    assert waited


async def test_who_gives_up_waiting_leaves_his_quota_to_others(limiter: RateLimiter) -> None:
    day = Day()
    async with limiter.permit("one", Day()), limiter.permit("two", Day()):
        for_a_slot = asyncio.create_task(enter(limiter, "near", day))
        for_its_quota = asyncio.create_task(enter(limiter, "near", day))
        await day.was_read(1)  # the second one does so, as the first waits for a slot
        for waiting in (for_its_quota, for_a_slot):
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    await enter(limiter, "near", day)
    assert day.read == 1

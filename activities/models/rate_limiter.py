"""The rate limiter: how many calls of models a process makes at once, and how they share a tenant's daily quota.

What a call takes is known only after it, while others are running.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from weakref import WeakValueDictionary

from mnestic.memory.models.usage import Budget, ModelCall, UsageTotal

ReadUsage = Callable[[], Awaitable[UsageTotal]]


class RateLimiter:
    """Gives permits for calls.

    With a daily quota, a call runs beside others of its tenant only while the rest of the quota is enough for all of
    them, each assumed to be as large as the largest so far. So only the last call of a day can exceed the quota.
    """

    def __init__(self, *, concurrency: int, daily: Budget | None) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._daily = daily
        self._tenants: WeakValueDictionary[str, _TenantCalls] = WeakValueDictionary()
        self._largest: tuple[int, Decimal] | None = None  # tokens, USD

    def record(self, call: ModelCall) -> None:
        """Notes what a call took, while it still has its permit."""
        size = call.input_tokens + call.output_tokens, call.cost_usd or Decimal(0)
        self._largest = max(self._largest or size, size)

    @asynccontextmanager
    async def permit(self, tenant_id: str, used: ReadUsage) -> AsyncIterator[None]:
        """Waits until a call may run. It keeps its permit until its usage is written down.

        Args:
            tenant_id: Whose quota the call takes from.
            used: Reads what the tenant's day has taken so far.
        """
        if self._daily is None:
            async with self._slots:
                yield
            return
        calls = self._tenants.setdefault(tenant_id, _TenantCalls())
        await self._fit(self._daily, calls, used)
        try:
            async with (
                self._slots
            ):  # last: a call that waits for its quota takes no slot from other tenants
                yield
        finally:
            calls.running -= 1
            calls.ended.set()

    async def _fit(self, daily: Budget, calls: "_TenantCalls", used: ReadUsage) -> None:
        """Waits until the quota is enough for one call more, and counts it as running."""
        async with calls.admission:
            while (
                running := calls.running
            ):  # a call that ends during the read may be missing from what it returns
                calls.ended.clear()
                if self._is_enough(daily, await used(), calls=running + 1):
                    break
                await calls.ended.wait()
            calls.running += 1

    def _is_enough(self, daily: Budget, used: UsageTotal, *, calls: int) -> bool:
        if self._largest is None:
            return False
        tokens, usd = self._largest
        if daily.tokens is not None and used.tokens + calls * tokens > daily.tokens:
            return False
        return daily.usd is None or used.cost_usd + calls * usd <= Decimal(str(daily.usd))


class _TenantCalls:
    """The running calls of a tenant; one at a time is admitted beside them."""

    def __init__(self) -> None:
        self.running = 0
        self.admission, self.ended = asyncio.Lock(), asyncio.Event()

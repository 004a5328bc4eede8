"""How many calls of models go side by side: as many as a worker may, and as what is left of a day allows.

It stands alone because what a call takes is known after it, while others are under way.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from decimal import Decimal
from types import TracebackType

from mnestic.memory.usage import Budget, ModelCall, UsageTotal

Used = Callable[[], Awaitable[UsageTotal]]


class Headroom:
    """Room for calls of one worker, shared by all that learning asks.

    With a daily budget a call joins others of its tenant only where what is left would do for all of
    them, each taken to be as large as the largest so far; else it waits for them. So the day's last
    call may go over, and no others beside it.
    """

    def __init__(self, *, concurrency: int, daily: Budget | None) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._daily = daily
        self._under_way: Counter[str] = Counter()
        self._largest: ModelCall | None = None
        self._ends, self._ended = 0, asyncio.Event()

    def tell(self, call: ModelCall) -> None:
        """What a call took, while it still has its room."""
        if self._largest is None or _size(call) > _size(self._largest):
            self._largest = call

    def room(self, tenant_id: str, used: Used) -> "Room":
        """Room for calls of a tenant, each of which enters it; `used` tells what its day has taken."""
        return Room(self, tenant_id, used)

    async def enter(self, tenant_id: str, used: Used) -> None:
        """Waits until there is room for another call."""
        await self._fit_in(tenant_id, used)
        self._under_way[tenant_id] += 1
        try:
            await self._slots.acquire()  # last: who waits for his day keeps nobody else from asking
        except BaseException:
            self._end(tenant_id)
            raise

    def leave(self, tenant_id: str) -> None:
        """Gives the room of a call back, once what it took is written down."""
        self._slots.release()
        self._end(tenant_id)

    async def _fit_in(self, tenant_id: str, used: Used) -> None:
        """Waits until another call fits into what is left of a tenant's day."""
        while self._daily is not None:
            ends = self._ends
            spent = await used()
            if ends != self._ends:
                continue  # another one has ended meanwhile, and may not be in what was spent
            others = self._under_way[tenant_id]
            if not others or self._fits(self._daily, spent, calls=others + 1):
                return
            self._ended.clear()
            await self._ended.wait()

    def _end(self, tenant_id: str) -> None:
        self._under_way[tenant_id] -= 1
        self._ends += 1
        self._ended.set()

    def _fits(self, daily: Budget, spent: UsageTotal, *, calls: int) -> bool:
        if self._largest is None:
            return False
        tokens, usd = _size(self._largest)
        if daily.tokens is not None and spent.tokens + calls * tokens > daily.tokens:
            return False
        return daily.usd is None or spent.cost_usd + calls * usd <= Decimal(str(daily.usd))


class Room:
    """Room for calls of one tenant; as many enter it as there is room for."""

    def __init__(self, headroom: Headroom, tenant_id: str, used: Used) -> None:
        self._headroom, self._tenant_id, self._used = headroom, tenant_id, used

    async def __aenter__(self) -> None:
        """Waits until there is room."""
        await self._headroom.enter(self._tenant_id, self._used)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Gives it back."""
        self._headroom.leave(self._tenant_id)


def _size(call: ModelCall) -> tuple[int, Decimal]:
    return call.input_tokens + call.output_tokens, call.cost_usd or Decimal(0)

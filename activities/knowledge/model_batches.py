"""Rounds: many messages or texts that are sent to a model in batches, and what becomes of refusals.

The rules are the same for whatever is asked: what can be done is done and kept, one that is refused keeps nobody else
waiting, and a server that takes nothing is no reason to give a message up.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, Generic, TypeVar

from mnestic.memory.errors import (
    BudgetExceededError,
    ConfigurationError,
    ExtractionPausedError,
    InvalidInputError,
    UnavailableError,
)
from mnestic.memory.models.errors import ModelMisconfiguredError, ModelRefusedError

Item = TypeVar("Item")
_SUSPICIOUS = 3  # requests refused without an answer, and none answered: it is not the messages
log = logging.getLogger("mnestic.extraction")


class ModelRound(Generic[Item]):
    """One pass over items.

    A batch that is refused is asked for again by halves, until the item is found that is to be given
    up. Once the world is down, a budget is used up or a setting is wrong, nothing more is asked; what
    was asked already is awaited and kept, since it is paid for.
    """

    def __init__(
        self,
        *,
        ask: Callable[[Sequence[Item]], Awaitable[None]],
        give_up: Callable[[Item, str], Awaitable[None]],
        permit: Callable[[], AbstractAsyncContextManager[Any]],
        recheck: timedelta,
        time_limit: timedelta,
    ) -> None:
        """`ask` asks and keeps what comes of it, within a permit; `give_up` keeps why nothing does."""
        self._ask, self._give_up, self._permit = ask, give_up, permit
        self._recheck_s, self._time_limit = recheck.total_seconds(), time_limit
        self._ends = 0.0
        self._size = 0
        self._stopped: UnavailableError | None = None
        self._suspects: list[tuple[Item, str]] = []
        self.answered = 0
        self.given_up = 0

    async def run(self, batches: Sequence[Sequence[Item]]) -> None:
        """Asks for all batches, side by side.

        Raises:
            UnavailableError: the world is down, and the rest has to wait.
            ExtractionPausedError: a budget or a setting keeps everything waiting.
        """
        self._size = sum(map(len, batches))
        self._ends = asyncio.get_running_loop().time() + self._time_limit.total_seconds()
        done = await asyncio.gather(*map(self._take, batches), return_exceptions=True)
        for error in done:
            if error is not None:
                raise error
        if self._stopped is None:
            for item, why in self._suspects:
                await self._refuse(item, why)
        elif not isinstance(self._stopped, ExtractionPausedError) or not self._moved:
            raise self._stopped

    @property
    def _moved(self) -> int:
        return self.answered + self.given_up

    async def _take(self, items: Sequence[Item]) -> None:
        refused = await self._attempt(items)
        if refused is not None:
            await self._halve(items, refused)

    async def _attempt(self, items: Sequence[Item]) -> ModelRefusedError | InvalidInputError | None:
        """Asks once there is a permit, unless nothing more is to be asked by then; returns a refusal."""
        async with self._permit():
            if self._stopped is not None or self._is_late():
                return None
            try:
                await self._ask(items)
            except (BudgetExceededError, ConfigurationError, ModelMisconfiguredError) as error:
                self._hold(str(error))
            except (ModelRefusedError, InvalidInputError) as error:
                return error
            except UnavailableError as error:
                self._stopped = self._stopped or error
            else:
                self.answered += len(items)
            return None

    async def _halve(
        self, items: Sequence[Item], error: ModelRefusedError | InvalidInputError
    ) -> None:
        if len(items) > 1:
            middle = len(items) // 2
            await self._take(items[:middle])
            await self._take(items[middle:])
        elif isinstance(error, InvalidInputError) or error.usage is not None:
            await self._refuse(items[0], str(error))
        else:
            self._suspects.append((items[0], str(error)))
            if self._is_suspicious():
                self._hold(str(error))

    def _is_suspicious(self) -> bool:
        """Whether the server is at fault: it refused several alone, and has answered for none."""
        return (
            self._size > 1
            and not self._moved
            and len(self._suspects) >= min(_SUSPICIOUS, self._size)
        )

    def _is_late(self) -> bool:
        if asyncio.get_running_loop().time() < self._ends:
            return False
        if not self._moved:
            self._hold("no answer has come in time")
        return True

    def _hold(self, why: str) -> None:
        if self._stopped is None:
            log.error("extraction is paused", extra={"why": why})
            self._stopped = ExtractionPausedError(why=why, retry_after_s=self._recheck_s)

    async def _refuse(self, item: Item, why: str) -> None:
        await self._give_up(item, why)
        self.given_up += 1

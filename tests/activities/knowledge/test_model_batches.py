"""Many items, told to a model a batch at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from mnestic.activities.knowledge.model_batches import ModelRound
from mnestic.memory.errors import (
    BudgetExceededError,
    ConfigurationError,
    DatabaseUnavailableError,
    ExtractionPausedError,
    InvalidInputError,
)
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)
from mnestic.memory.models.messages import TokenUsage

PAID = TokenUsage(input_tokens=5, output_tokens=1)
Ask = Callable[[Sequence[str]], Awaitable[None]]


def refusal(*, paid: bool = False) -> ModelRefusedError:
    return ModelRefusedError(model="m", why="declined", usage=PAID if paid else None)


class Server:
    """Answers batches in which nothing is bad, and remembers what it was asked."""

    def __init__(self, **bad: Exception) -> None:
        self.bad = bad
        self.asked: list[tuple[str, ...]] = []
        self.answered: list[str] = []

    async def __call__(self, items: Sequence[str]) -> None:
        self.asked.append(tuple(items))
        await asyncio.sleep(0)
        for item in items:
            if item in self.bad:
                raise self.bad[item]
        self.answered.extend(items)


def permits(number: int) -> Callable[[], asyncio.Semaphore]:
    """So many at once."""
    semaphore = asyncio.Semaphore(number)
    return lambda: semaphore


def make(ask: Ask, **fields: Any) -> tuple[ModelRound[str], dict[str, str]]:
    given_up: dict[str, str] = {}

    async def give_up(item: str, why: str) -> None:
        given_up[item] = why

    limits: dict[str, Any] = {
        "permit": permits(4),
        "recheck": timedelta(seconds=9),
        "time_limit": timedelta(minutes=1),
    }
    limits |= fields
    return ModelRound(ask=ask, give_up=give_up, **limits), given_up


@pytest.mark.parametrize(
    "error", [refusal(), refusal(paid=True), InvalidInputError(what="text", why="is none")], ids=str
)
async def test_the_one_that_is_refused_is_found_by_halves_and_the_others_go_on(
    error: Exception,
) -> None:
    server = Server(c=error)
    one, given_up = make(server)

    await one.run([])
    assert server.asked == []
    await one.run(["abcdefgh"])

    assert sorted(server.answered) == list("abdefgh")
    assert (one.answered, one.given_up) == (7, 1)
    assert given_up == {"c": str(error)}
    assert server.asked.count(("c",)) == 1


async def test_a_server_that_refuses_everything_is_at_fault_and_nothing_is_given_up() -> None:
    server = Server(**{item: refusal() for item in "abcdefgh"})
    one, given_up = make(server)

    with pytest.raises(ExtractionPausedError, match="declined") as held:
        await one.run(["abcd", "efgh"])

    assert given_up == {}
    assert held.value.retry_after_s == 9
    assert sum(len(items) == 1 for items in server.asked) <= 4


async def test_answers_that_were_paid_for_are_no_reason_to_ask_for_ever() -> None:
    one, given_up = make(Server(**{item: refusal(paid=True) for item in "abcd"}))

    await one.run(["abcd"])

    assert sorted(given_up) == list("abcd")


HOLDING = {
    "a wrong setting": ModelMisconfiguredError(model="m", why="401"),
    "a used up budget": BudgetExceededError(what="learning", used="9", limit="9 tokens"),
    "a missing price": ConfigurationError(setting="MNESTIC_MODEL_PRICES", why="has no price"),
}


@pytest.mark.parametrize("error", HOLDING.values(), ids=HOLDING.keys())
async def test_a_setting_or_a_budget_keeps_all_waiting_with_its_reason(error: Exception) -> None:
    server = Server(a=error)
    one, given_up = make(server)

    with pytest.raises(ExtractionPausedError) as held:
        await one.run(["ab"])

    assert str(error) in str(held.value)
    assert (given_up, server.asked) == ({}, [("a", "b")])


async def test_what_was_moved_before_a_budget_was_used_up_goes_on() -> None:
    server = Server(c=HOLDING["a used up budget"])
    one, given_up = make(server)

    await one.run(["ab", "cd"])

    assert (one.answered, given_up) == (2, {})


async def test_once_the_world_is_down_nothing_more_is_asked_but_answers_are_awaited() -> None:
    down = ModelUnavailableError(model="m", why="busy", retry_after_s=3)
    begun, down_now = asyncio.Event(), asyncio.Event()
    kept: list[str] = []

    async def ask(items: Sequence[str]) -> None:
        if "a" in items:
            await begun.wait()
            down_now.set()
            raise down
        begun.set()
        await down_now.wait()
        kept.extend(items)

    one, given_up = make(ask)

    with pytest.raises(ModelUnavailableError) as failed:
        await one.run(["a", "b"])

    assert failed.value is down
    assert (kept, given_up) == (["b"], {})


async def test_halves_are_not_asked_once_the_world_is_down() -> None:
    server = Server(a=refusal(), b=DatabaseUnavailableError(where="here", why="gone"))
    one, given_up = make(server)

    with pytest.raises(DatabaseUnavailableError):
        await one.run(["abcd"])

    assert ("c", "d") not in server.asked
    assert given_up == {}


async def test_a_mistake_of_ours_is_told_after_the_others_are_done() -> None:
    server = Server(a=ZeroDivisionError())
    one, _ = make(server)

    with pytest.raises(ZeroDivisionError):
        await one.run(["a", "bc"])

    assert server.answered == ["b", "c"]


async def test_who_waits_for_a_permit_asks_no_more_once_all_is_held() -> None:
    server = Server(a=HOLDING["a wrong setting"])
    one, _ = make(server, permit=permits(1))

    with pytest.raises(ExtractionPausedError):
        await one.run(["a", "b", "c"])

    assert server.asked == [("a",)]


async def test_when_time_is_up_the_rest_is_left_for_the_next_round() -> None:
    async def ask(_: Sequence[str]) -> None:
        await asyncio.sleep(0.2)

    late, given_up = make(ask, permit=permits(1), time_limit=timedelta(seconds=0.1))
    too_late, _ = make(ask, time_limit=timedelta(0))

    await late.run(["ab", "cd"])
    with pytest.raises(ExtractionPausedError, match="in time"):
        await too_late.run(["ab"])

    assert (late.answered, given_up) == (2, {})

"""Work that is done while somebody else works."""

import asyncio

import pytest

from mnestic.activities.overlap import meanwhile


async def test_work_is_done_after_the_question_is_sent_and_before_it_is_answered() -> None:
    happened: list[str] = []
    is_done = asyncio.Event()

    async def ask() -> str:
        happened.append("sent")
        await is_done.wait()
        return "told"

    def work() -> int:
        happened.append("worked")
        is_done.set()
        return 3

    assert await meanwhile(ask(), work) == ("told", 3)
    assert happened == ["sent", "worked"]


async def test_work_that_fails_leaves_nobody_asking() -> None:
    was_cancelled = False

    async def ask() -> None:
        nonlocal was_cancelled
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            was_cancelled = True
            raise

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await meanwhile(ask(), fail)
    assert was_cancelled


async def test_an_answer_that_fails_is_told_as_it_failed() -> None:
    async def ask() -> None:
        raise ValueError("not there")

    with pytest.raises(ValueError, match="not there"):
        await meanwhile(ask(), lambda: None)


async def test_who_gives_up_before_the_work_begins_leaves_nobody_asking() -> None:
    ended: list[str] = []
    mine = asyncio.current_task()
    assert mine is not None

    async def ask() -> None:
        mine.cancel()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("asking")

    with pytest.raises(asyncio.CancelledError):
        await meanwhile(ask(), lambda: ended.append("work"))
    mine.uncancel()
    assert ended == ["asking"]

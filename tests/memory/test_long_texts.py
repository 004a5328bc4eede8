"""Long texts are worked on in a thread, so that others are answered meanwhile."""

import asyncio
import threading

from mnestic.memory.long_texts import work_on

FAILS_AFTER_S = 30  # only if the other task is not run


async def test_other_tasks_run_while_long_texts_are_worked_on() -> None:
    answered = threading.Event()

    async def answer() -> None:
        answered.set()

    other = asyncio.create_task(answer())
    is_answered = await work_on(["x" * 30_000] * 2, lambda: answered.wait(FAILS_AFTER_S))

    assert is_answered
    await other


async def test_short_texts_need_no_thread() -> None:
    assert await work_on(["short"] * 2, threading.get_ident) == threading.get_ident()

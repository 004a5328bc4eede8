"""The floor: a bare workflow that waits for an update and runs an activity, as one writes it by hand.

With it a job costs what Temporal and its SDK cost on this machine, and nothing of ours. The sandbox of workflows
imports this module again for each of them.
"""

import time
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow

STAMP = "benchmark.stamp"


@activity.defn(name=STAMP)
async def stamp() -> int:
    """The time at which it began, in nanoseconds since the epoch."""
    return time.time_ns()


@workflow.defn(name="BareJob")
class BareJob:
    """Waits for an answer, and continues with it."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] | None = None

    @workflow.run
    async def run(self) -> int:
        """Returns when its activity began."""
        await workflow.wait_condition(lambda: self._answer is not None, timeout=timedelta(days=21))
        return await workflow.execute_activity(stamp, start_to_close_timeout=timedelta(minutes=5))

    @workflow.update(name="answer")
    def answer(self, answer: dict[str, Any]) -> None:
        """Takes the answer."""
        self._answer = answer

    @answer.validator
    def _check(self, answer: dict[str, Any]) -> None:
        if self._answer is not None:
            raise ValueError("it was answered before")
        if set(answer) != {"by", "note"}:
            raise ValueError("an answer says who gives it, and a note")

    @workflow.signal(name="tell")
    def tell(self, answer: dict[str, Any]) -> None:
        """Takes the answer as a signal."""
        self._answer = answer

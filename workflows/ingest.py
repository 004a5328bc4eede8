"""`IngestMessages`: learns from all that an agent has received and not learned from yet.

Messages do not travel with it: they are in the database, and each step takes the next of them.
"""

from datetime import timedelta

from temporalio import workflow

from mnestic.activities.learning import LearningActivities, LearnInput
from mnestic.memory.learning import Ingested, IngestRequest
from mnestic.memory.names import INGEST_MESSAGES, LEARNED, MORE
from mnestic.workflows.calls import run_activity

_STEP = timedelta(minutes=5)
_LOST = timedelta(
    seconds=5
)  # without a heartbeat: the worker was killed, another one takes the step


@workflow.defn(name=INGEST_MESSAGES)
class IngestMessages:
    """Runs until nothing is left; who has received more says so by the signal `more`."""

    @workflow.init
    def __init__(self, asked: IngestRequest) -> None:
        self._learned = asked.so_far
        self._more = False

    @workflow.run
    async def run(self, asked: IngestRequest) -> Ingested:
        """Learns from the agent's messages, in batches."""
        steps = LearnInput(tenant_id=asked.tenant_id, agent_id=asked.agent_id)
        while True:
            self._more = False
            taken = await self._step(steps)
            if not taken and not self._more:
                return Ingested(learned=self._learned)
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(asked.model_copy(update={"so_far": self._learned}))

    @workflow.signal(name=MORE)
    def more(self) -> None:
        """Says that there are new messages."""
        self._more = True

    @workflow.query(name=LEARNED)
    def learned(self) -> int:
        """How many messages were learned from so far."""
        return self._learned

    async def _step(self, asked: LearnInput) -> int:
        """Moves a batch on by each step; returns how many messages and entries were moved."""
        extracted, learned, embedded = [
            await run_activity(step, asked, timeout=_STEP, heartbeat=_LOST)
            for step in (
                LearningActivities.extract,
                LearningActivities.learn,
                LearningActivities.embed,
            )
        ]
        self._learned += learned.taken
        return extracted.taken + learned.taken + embedded.taken

"""A workflow of somebody's own, for `test_malformed_signals.py`.

It stands alone because its sandbox imports this module anew for each run.
"""

from datetime import timedelta

from pydantic import BaseModel
from temporalio import workflow

from mnestic.memory.scope import Scope
from mnestic.workflows.jobs.agent_memory import AgentMemory


class Asked(BaseModel):
    """Whose memory it is."""

    scope: Scope


@workflow.defn(name="Own")
class Own:
    """A workflow of somebody's own, with handlers of theirs beside those of `AgentMemory`."""

    @workflow.init
    def __init__(self, asked: Asked) -> None:
        self._memory = AgentMemory(job_id="own", scope=asked.scope)
        self._told: list[str] = []
        workflow.set_signal_handler("tell", self._on_tell)

    @workflow.run
    async def run(self, asked: Asked) -> list[str]:  # noqa: ARG002 - Temporal gives it to both
        ended = await self._memory.wait("word", timeout=timedelta(days=1))
        return [ended.outcome, *self._told]

    def _on_tell(self, word: str) -> None:
        self._told.append(word)

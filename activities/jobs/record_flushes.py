"""Sends records to the backends of their schemas."""

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Id


class FlushRequest(BaseModel):
    """Whose records are sent."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id


class FlushResult(BaseModel):
    """How many were sent."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    records: int


class RecordFlushActivities:
    """What `FlushRecords` does."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.flush_records")
    async def flush(self, params: FlushRequest) -> FlushResult:
        """Sends an agent's records to backends that lack them, the latest version of each.

        Idempotent: a backend takes no version that is not later.
        """
        with failures():
            async with heartbeats():
                sent = await self._memory.flush_records(
                    tenant_id=params.tenant_id, agent_id=params.agent_id
                )
                return FlushResult(records=sent)

"""Finds the contract that a run of a job keeps.

It stands apart from segments, which clients without Temporal write too.
"""

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.jobs.segments import find_contract
from mnestic.activities.operations import OperationInput
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.ports import Memory


class ContractActivities:
    """What a workflow has to know of contracts."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.pin_contract")
    async def pin_contract(self, params: OperationInput) -> ContractRef:
        """Finds the contract in force for the job's agent.

        Idempotent: it only reads.
        """
        with failures():
            async with params.transaction(self._memory, write=False) as transaction:
                return await find_contract(transaction, params.scope.agent_id)

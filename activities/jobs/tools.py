"""Keeping what a tool gave when it is too large to travel with a job, and finding it again."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.operations import OperationInput, run_once
from mnestic.memory.jobs.tool_results import ToolResultRef, find_reference
from mnestic.memory.ports import Memory, Transaction


class StoreResultInput(OperationInput):
    """The result of a tool, and the node that called it."""

    node: str
    result: Any


class LoadResultInput(OperationInput):
    """The result to find again."""

    ref: ToolResultRef


class LoadedResult(BaseModel):
    """A stored result."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    result: Any


class ToolActivities:
    """Results of tools."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.keep_result")
    async def store_result(self, params: StoreResultInput) -> ToolResultRef:
        """Stores a result; the job carries its reference from then on.

        Idempotent: by the operation's key, in the transaction of the write.
        """
        with failures():
            return await run_once(
                self._memory, params, ToolResultRef, work=lambda tx: _store(tx, params)
            )

    @activity.defn(name="mnestic.load_result")
    async def load_result(self, params: LoadResultInput) -> LoadedResult:
        """Loads a stored result, and verifies it.

        Idempotent: it only reads.
        """
        with failures():
            async with params.transaction(self._memory, write=False) as transaction:
                return LoadedResult(result=await transaction.tool_results.get(params.ref))


async def load_results(transaction: Transaction, results: Mapping[str, Any]) -> dict[str, Any]:
    """The results of a job, by node; references are replaced by what they refer to.

    Raises:
        NotFoundError: a result is not stored any more.
        StoredValueError: it is not the one that was stored.
    """
    loaded = {}
    for node, result in results.items():
        ref = find_reference(result)
        loaded[node] = result if ref is None else await transaction.tool_results.get(ref)
    return loaded


async def _store(transaction: Transaction, params: StoreResultInput) -> ToolResultRef:
    return await transaction.tool_results.put(
        params.new_id("result"),
        params.result,
        job_id=params.operation.job_id or "",
        node=params.node,
    )

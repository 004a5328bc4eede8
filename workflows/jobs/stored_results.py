"""Results that a job carries by reference: they are too large to travel, so they are in the database.

Payloads of waits are stored in the same way.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from temporalio import workflow

from mnestic.activities.jobs.tools import LoadResultInput, StoreResultInput, ToolActivities
from mnestic.memory.canonical import canonical_json
from mnestic.memory.jobs.plans import Node, Plan, referenced_results
from mnestic.memory.jobs.tool_results import ToolResultRef, find_reference
from mnestic.memory.scope import Scope
from mnestic.workflows.calls import Method, Params, Result, is_of_this_version, run_local
from mnestic.workflows.jobs.agent_memory import AgentMemory

_SMALL = 512  # bytes; a reference is hardly smaller
RESULTS_BYTES = 1_048_576  # of all nodes; less if the plan, inputs and queued requests are large
_ALWAYS_FIT = 262_144  # bytes; below this the rest is not measured
_BESIDE_THE_REST = "room-for-results"  # the patch: runs before it do not measure the rest


class StoredResults:
    """Stores results of one job by local activities, whose input is not in the history."""

    def __init__(self, memory: AgentMemory, *, scope: Scope) -> None:
        self._memory, self._scope = memory, scope
        self._restored: dict[str, tuple[Any, dict[str, Any]]] = {}

    async def keep(self, node_id: str, result: Any) -> dict[str, Any]:
        """Stores the result of a node; returns its reference, which replaces it in the job."""
        ref = await self._keep(node_id, result)
        return ref.as_result()

    async def store_largest(
        self, results: dict[str, Any], *, plan: Plan, cursor: str, room: Callable[[], int]
    ) -> None:
        """Replaces results by references, the largest first, until a new run can carry them.

        Results that templates after the cursor name as `${results...}` come last, and are set aside:
        `restore_results` loads them for the node that names them.

        Args:
            results: By node; changes in place.
            plan: The plan of the job.
            cursor: The next node.
            room: Returns how many bytes are left beside everything else that a run carries.
        """
        sizes = sizes_of(results)
        over = self._over(sum(sizes.values()), room)
        if over <= 0 or not is_of_this_version():
            return
        named = plan.referenced_results_from(cursor)
        spare = [name for name, size in sizes.items() if size > _SMALL]
        needed = {name for name in spare if {name, ""} & named}
        for name in sorted(spare, key=lambda name: (name in needed, -sizes[name], name)):
            if name in needed:
                results[name] = await self._set_aside(name, results[name])
            else:
                results[name] = await self.keep(name, results[name])
            over -= sizes[name] - len(canonical_json(results[name]))
            if over <= 0:
                return

    def _over(self, total: int, room: Callable[[], int]) -> int:
        """By how many bytes the results are too large."""
        left = RESULTS_BYTES if total <= _ALWAYS_FIT else min(room(), RESULTS_BYTES)
        if left < min(total, RESULTS_BYTES) and not workflow.patched(_BESIDE_THE_REST):
            left = RESULTS_BYTES
        return total - left

    async def restore_results(self, results: dict[str, Any], node: Node) -> None:
        """Loads the results that were set aside and that a node names."""
        named = referenced_results(node)
        for name, result in results.items():
            ref = find_reference(result) if {name, ""} & named else None
            if ref is not None and ref.set_aside:
                params = LoadResultInput(
                    scope=self._scope,
                    operation=self._memory.next_operation("load_result"),
                    ref=ref,
                )
                loaded = await _settled_local(ToolActivities.load_result, params)
                results[name] = loaded.result
                self._restored[name] = (loaded.result, result)

    async def _set_aside(self, name: str, result: Any) -> dict[str, Any]:
        """The reference of a result that is set aside; the one that it had before, if it is the same."""
        restored, reference = self._restored.pop(name, (None, {}))
        if restored is result and reference:
            return reference
        ref = await self._keep(name, result)
        return ref.model_copy(update={"set_aside": True}).as_result()

    async def _keep(self, node_id: str, result: Any) -> ToolResultRef:
        params = StoreResultInput(
            scope=self._scope,
            operation=self._memory.next_operation("keep_result"),
            node=node_id,
            result=result,
        )
        return await _settled_local(ToolActivities.store_result, params)


async def _settled_local(method: Method[Params, Result], params: Params) -> Result:
    result = await run_local(
        method,
        params,
        cancellation=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )
    if workflow.cancellation_reason() is not None:  # Temporal has reported it, and will not again
        raise asyncio.CancelledError
    return result


def sizes_of(results: dict[str, Any]) -> dict[str, int]:
    """Bytes of each result, as canonical JSON."""
    return {name: len(canonical_json(result)) for name, result in results.items()}

"""Results that a job holds by reference: kept in the database, since they are too large to travel.

They stand apart from tools, whose results are the most but not the only ones: payloads of waits add up.
"""

import asyncio
from typing import Any

from temporalio import workflow

from mnestic.activities.tools import KeepResultInput, ToolActivities
from mnestic.memory.canonical import canonical_json
from mnestic.memory.plans import Plan
from mnestic.memory.scope import Scope
from mnestic.memory.tool_results import find_reference
from mnestic.workflows.agent_memory import AgentMemory
from mnestic.workflows.calls import is_of_this_version, run_local

RESULTS_BYTES = 1_048_576  # of all nodes; the plan and the queued requests take the rest


class KeptResults:
    """Keeps results of one job, by local activities, whose input is not written to the history."""

    def __init__(self, memory: AgentMemory, *, scope: Scope) -> None:
        self._memory, self._scope = memory, scope

    async def keep(self, node_id: str, result: Any) -> dict[str, Any]:
        """Keeps the result of a node; returns the reference that the job holds instead."""
        asked = KeepResultInput(
            scope=self._scope,
            operation=self._memory.next_operation("keep_result"),
            node=node_id,
            result=result,
        )
        ref = await run_local(
            ToolActivities.keep_result,
            asked,
            cancellation=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
        if workflow.cancellation_reason() is not None:  # Temporal told of it, and will not again
            raise asyncio.CancelledError
        return ref.model_dump()

    async def make_room(self, results: dict[str, Any], *, plan: Plan, cursor: str) -> None:
        """Puts references in the place of results, largest first, until a new run can carry them.

        Those that templates from the cursor on name as `${results...}` stay.
        """
        sizes = sizes_of(results)
        over = sum(sizes.values()) - RESULTS_BYTES
        if over <= 0 or not is_of_this_version():
            return
        named = plan.results_named_from(cursor)
        spare = {
            name: size
            for name, size in sizes.items()
            if not {name, ""} & named and find_reference(results[name]) is None
        }
        for name in sorted(spare, key=lambda name: (-spare[name], name)):
            results[name] = await self.keep(name, results[name])
            over -= sizes[name] - len(canonical_json(results[name]))
            if over <= 0:
                return


def sizes_of(results: dict[str, Any]) -> dict[str, int]:
    """Bytes of each result, as canonical JSON."""
    return {name: len(canonical_json(result)) for name, result in results.items()}

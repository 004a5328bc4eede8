from collections.abc import Callable
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.tools import StoreResultInput, ToolActivities, load_results
from mnestic.memory.jobs.tool_results import ToolResultRef
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope

Keep = Callable[..., Any]


@pytest.fixture
def keep(memory: Memory, scope: Scope, operation: Callable[..., Operation]) -> Keep:
    """Keeps a result of node `look`, by step."""

    async def call(step: int, result: Any) -> ToolResultRef:
        asked = StoreResultInput(
            scope=scope, operation=operation(step, "keep_result"), node="look", result=result
        )
        return await ActivityEnvironment().run(ToolActivities(memory).store_result, asked)

    return call


async def test_a_result_is_kept_once_however_often_it_is_asked_for(
    keep: Keep, begin: Callable[[], Any]
) -> None:
    first, again = await keep(1, {"n": 1}), await keep(1, {"n": 1})
    other = await keep(2, {"n": 1})

    async with begin() as transaction:
        found = await transaction.tool_results.get(first)
    assert first == again
    assert first.ref != other.ref
    assert found == {"n": 1}


async def test_references_become_their_results_and_all_else_stays(
    keep: Keep, begin: Callable[[], Any]
) -> None:
    ref = await keep(1, {"n": 1})
    held = {"large": ref.model_dump(mode="json"), "small": {"ref": "mine"}, "none": None}

    async with begin() as transaction:
        loaded = await load_results(transaction, held)

    assert loaded == {"large": {"n": 1}, "small": {"ref": "mine"}, "none": None}

"""The histories of a workflow's conversations, as the framework stores them that its agent is written in."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from mnestic.activities.knowledge.histories import AppendInput, HistoryActivities, ReadInput
from mnestic.activities.operations import OperationInput
from mnestic.memory.jobs.histories import ItemText
from mnestic.memory.operations import Operation
from mnestic.memory.scope import Scope
from mnestic.workflows.calls import run_activity


class AgentHistory:
    """Histories by session, inside a workflow: each call is an activity, so a replay reads what it read then."""

    def __init__(
        self, scope: Scope, *, next_operation: Callable[[str], Awaitable[Operation]]
    ) -> None:
        self._scope, self._next = scope, next_operation

    async def append(
        self,
        session_id: str,
        items: Sequence[dict[str, Any]],
        *,
        texts: Sequence[ItemText] = (),
        operation_key: str | None = None,
    ) -> None:
        """Appends items, all or none; what is said in them is memory at once, and facts are extracted from it later.

        Args:
            session_id: The conversation.
            items: JSON objects.
            texts: What is said in them.
            operation_key: The same key with the same items is stored once; the next one of the workflow by default.
        """
        operation = await self._next("append")
        if operation_key is not None:
            operation = operation.model_copy(update={"key": operation_key})
        params = AppendInput(
            scope=self._of(session_id), operation=operation, items=tuple(items), texts=tuple(texts)
        )
        await run_activity(HistoryActivities.append, params)

    async def read(
        self, session_id: str, *, limit: int | None = None
    ) -> tuple[dict[str, Any], ...]:
        """The last items in their order, or all."""
        params = ReadInput(
            scope=self._of(session_id), operation=await self._next("read"), limit=limit
        )
        return (await run_activity(HistoryActivities.read, params)).items

    async def pop(self, session_id: str) -> dict[str, Any] | None:
        """Removes the last item, with its message and what was learned from that alone; gives it, or None."""
        params = OperationInput(scope=self._of(session_id), operation=await self._next("pop"))
        items = (await run_activity(HistoryActivities.pop, params)).items
        return items[0] if items else None

    async def clear(self, session_id: str) -> None:
        """Removes all items; what was learned from them stays."""
        params = OperationInput(scope=self._of(session_id), operation=await self._next("clear"))
        await run_activity(HistoryActivities.clear, params)

    def _of(self, session_id: str) -> Scope:
        return self._scope.model_copy(update={"session_id": session_id})

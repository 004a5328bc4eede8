"""Conversation histories, for workflows whose agents are written in a framework."""

from typing import Any

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.knowledge.history_items import (
    append_items,
    clear_items,
    pop_item,
    read_items,
    until_current,
)
from mnestic.activities.knowledge.job_knowledge import start_extraction
from mnestic.activities.operations import OperationInput, run_once
from mnestic.memory.jobs.histories import HistoryItems, ItemText
from mnestic.memory.ports import Memory, Transaction


class AppendInput(OperationInput):
    """Items to append to the history of the scope's session, and what is said in them."""

    items: tuple[dict[str, Any], ...]
    texts: tuple[ItemText, ...] = ()


class ReadInput(OperationInput):
    """Reads the last items of a history, or all."""

    limit: int | None = None


class HistoryActivities:
    """Conversation histories for workflows."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.append_history")
    async def append(self, params: AppendInput) -> None:
        """Appends items and has what is said in them learned.

        Idempotent: by the operation's key.
        """

        async def work(transaction: Transaction) -> HistoryItems:
            await append_items(
                transaction,
                params.scope.session_id,
                params.items,
                texts=params.texts,
                batch_id=params.new_id("batch"),
                owner=params.owner,
            )
            return HistoryItems()

        with failures():
            await until_current(lambda: run_once(self._memory, params, HistoryItems, work=work))
            await start_extraction(params)

    @activity.defn(name="mnestic.read_history")
    async def read(self, params: ReadInput) -> HistoryItems:
        """Reads the last items.

        Idempotent: it reads.
        """
        with failures():
            async with params.transaction(self._memory, write=False) as transaction:
                session_id, limit = params.scope.session_id, params.limit
                return HistoryItems(items=await read_items(transaction, session_id, limit=limit))

    @activity.defn(name="mnestic.pop_history")
    async def pop(self, params: OperationInput) -> HistoryItems:
        """Removes the last item, and gives it.

        Idempotent: by the operation's key.
        """

        async def work(transaction: Transaction) -> HistoryItems:
            found = await pop_item(transaction, params.scope.session_id, owner=params.owner)
            return HistoryItems(items=() if found is None else (found,))

        with failures():
            return await until_current(
                lambda: run_once(self._memory, params, HistoryItems, work=work)
            )

    @activity.defn(name="mnestic.clear_history")
    async def clear(self, params: OperationInput) -> None:
        """Removes all items.

        Idempotent: by the operation's key.
        """

        async def work(transaction: Transaction) -> HistoryItems:
            await clear_items(transaction, params.scope.session_id)
            return HistoryItems()

        with failures():
            await until_current(lambda: run_once(self._memory, params, HistoryItems, work=work))

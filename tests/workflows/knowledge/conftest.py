"""An agent's inbox, and what became of what it was told."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy

from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.inbox import InboxReport
from mnestic.memory.names import inbox_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.workflows.knowledge.agent_inbox import AgentInbox, InboxInput

Until = Callable[..., Awaitable[Any]]


class Inbox:
    """The inbox of the agent `ada`, in whatever language it is told something."""

    def __init__(self, client: MnesticClient, until: Until) -> None:
        self._client, self._until, self.told = client, until, client.inbox("ada")
        self.memory = client.memory("ada")

    def handle(self) -> WorkflowHandle[Any, Any]:
        """Temporal's own handle."""
        workflow_id = inbox_workflow_id(self._client.settings.tenant_id, "ada")
        return self._client.temporal.get_workflow_handle(workflow_id)

    async def signal(self, name: str, *arguments: Any, **terms: Any) -> None:
        """Sends a signal as anybody may."""
        await self._client.temporal.start_workflow(
            AgentInbox.run,
            InboxInput(tenant_id=self._client.settings.tenant_id, agent_id="ada", **terms),
            id=self.handle().id,
            task_queue=self._client.settings.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=name,
            start_signal_args=arguments,
        )

    async def settled(self, number: int) -> InboxReport:
        """Waits until so many messages are learned or parked and nothing is on its way."""

        async def done() -> InboxReport | None:
            report = await self.told.status()
            is_done = report.learned + report.parked == number and not report.waiting
            return report if is_done and not report.pending else None

        found: InboxReport = await self._until(done, limit_s=60)
        return found

    async def run_id(self) -> str | None:
        return (await self.handle().describe()).run_id

    async def until_moved(self, run_id: str | None) -> None:
        """Waits until it is in another run."""

        async def moved() -> bool:
            return await self.run_id() != run_id

        await self._until(moved)

    async def until_over(self, status: WorkflowExecutionStatus) -> None:
        async def over() -> bool:
            return (await self.handle().describe()).status is status

        await self._until(over)

    async def entries(self) -> dict[str, Entry]:
        """The agent's entries by source id."""
        found, _ = await self.memory.entries.list(EntryQuery(), limit=1000)
        assert len({entry.source_id for entry in found}) == len(found)
        return {entry.source_id or "": entry for entry in found}

    async def believed(self, subject: str) -> set[tuple[str, str]]:
        found, _ = await self.memory.facts.list(subject=subject)
        return {(fact.predicate, fact.object) for fact in found}


@pytest.fixture
def inbox(client: MnesticClient, until: Until) -> Inbox:
    """The inbox of this test's agent."""
    return Inbox(client, until)

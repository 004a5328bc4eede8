"""Callers: the account on which an agent's memory is queried.

Usage is recorded per caller, wherever a query runs.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from mnestic.memory.ports import Memory, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose account memory is queried; called, it begins a transaction on that memory."""

    memory: Memory
    tenant_id: str
    agent_id: str
    actor: str
    session_id: str | None = None
    job_id: str | None = None

    def __call__(self, *, write: bool = False) -> AbstractAsyncContextManager[Transaction]:
        """A transaction of the agent."""
        return self.memory.transaction(
            tenant_id=self.tenant_id, agent_id=self.agent_id, actor=self.actor, write=write
        )

    @property
    def owner(self) -> str:
        """Owner of the memory: tenant and agent."""
        return f"{self.tenant_id}/{self.agent_id}"

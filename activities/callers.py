"""Callers: the account on which an agent's memory is queried.

Usage is recorded per caller, wherever a query runs.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Self

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import check_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose account memory is queried; called, it begins a transaction on that memory.

    With a `reader` it sees what that reader may read, and cannot write.
    """

    memory: Memory
    tenant_id: str
    agent_id: str
    actor: str
    session_id: str | None = None
    job_id: str | None = None
    reader: str | None = None

    def __call__(self, *, write: bool = False) -> AbstractAsyncContextManager[Transaction]:
        """A transaction of the agent.

        Raises:
            InvalidInputError: It is for a reader, and writes.
        """
        if write:
            self.check_writes()
        return self.memory.transaction(
            tenant_id=self.tenant_id,
            agent_id=self.agent_id,
            actor=self.actor,
            write=write,
            reader=self.reader,
        )

    def check_writes(self) -> None:
        """Refuses to write for a reader.

        Raises:
            InvalidInputError: It is for one.
        """
        if self.reader is not None:
            why = f"{self.reader} only reads; write without a reader"
            raise InvalidInputError(what="reader", why=why)

    def check_own(self, what: str) -> None:
        """Refuses a reader what is the agent's own, such as its jobs.

        Raises:
            InvalidInputError: It is for one.
        """
        if self.reader is not None:
            why = f"is {self.reader}, and {what} the agent's own; ask without a reader"
            raise InvalidInputError(what="reader", why=why)

    def for_reader(self, reader: str | None) -> Self:
        """Who queries for a reader, or the same without one.

        Raises:
            InvalidInputError: It is for another reader already, or the reader is no id.
        """
        if reader is None or reader == self.reader:
            return self
        if self.reader is not None:
            why = f"{reader} is another than {self.reader}, for whom this is"
            raise InvalidInputError(what="reader", why=why)
        return replace(self, reader=check_id(reader, what="reader"))

    @property
    def owner(self) -> str:
        """Owner of the memory: tenant and agent."""
        return f"{self.tenant_id}/{self.agent_id}"

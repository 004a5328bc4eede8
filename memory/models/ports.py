"""The port of the store of model calls, which works in the transaction that it came from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who implements or uses the port loads no model
    from mnestic.memory.models.costs import ModelCosts
    from mnestic.memory.models.usage import ModelCall, Purpose, UsageTotal


class UsageStore(Protocol):
    """Calls of language models, append-only."""

    async def add(self, call: ModelCall) -> None:
        """Keeps a call."""
        ...

    async def sum_by_job(self, job_id: str) -> UsageTotal:
        """What all calls of a job took together; nothing for a job that is not known."""
        ...

    async def sum_by_run(self, run: str) -> UsageTotal:
        """What the calls of a maintenance run took together, whichever agent's they are."""
        ...

    async def sum_since(self, moment: datetime, purposes: Sequence[Purpose]) -> UsageTotal:
        """What the calls of a tenant took together since a moment, whichever agent's they are."""
        ...

    async def sum_by_model(
        self, since: datetime, until: datetime, *, agent_id: str | None = None
    ) -> tuple[ModelCosts, ...]:
        """What the calls of the tenant took, or of one agent, by purpose and model, between two moments."""
        ...

"""The port of recalls: records, episodes and search results for a job.

It stands above the other ports, because it takes a whole transaction and values of jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # whoever implements or uses a port loads no model of the others
    from mnestic.memory.jobs.contexts import PinnedEpisodes
    from mnestic.memory.jobs.recalls import Recalled, RecallQuery
    from mnestic.memory.ports import Transaction
    from mnestic.memory.scope import Scope


class Retriever(Protocol):
    """Finds what is to be recalled."""

    async def recall(
        self,
        transaction: Transaction,
        query: RecallQuery,
        *,
        scope: Scope,
        job_id: str | None,
        sealed_tail: PinnedEpisodes | None = None,
    ) -> Recalled:
        """What the query asks for, in a stable order.

        With `sealed_tail`, episodes are those of that snapshot, older ones, and the job's own.
        """
        ...

"""What each part of a memory client needs: the agent, its memory and the models for queries.

The parts have nothing else in common: none knows another.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnestic.activities.callers import Caller
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.ports import Memory, TokenCounter, Transaction
from mnestic.memory.scope import check_id
from mnestic.starter.checked_texts import ChecksTexts
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts
from mnestic.starter.memory_wiring import local_summariser

if TYPE_CHECKING:
    from mnestic.activities.jobs.segments import SegmentWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientScope:
    """One agent's memory, with the models for its queries."""

    caller: Caller
    models: QueryModels
    count_tokens: TokenCounter
    extraction: ExtractionStarts | None = None

    def transaction(self, *, write: bool) -> AbstractAsyncContextManager[Transaction]:
        """A transaction of the agent, with audit rows."""
        return self.caller(write=write)

    def listen(self) -> AbstractAsyncContextManager[Callable[[float], Awaitable[bool]]]:
        """What rests for so many seconds, or until an event is published."""
        return self.caller.memory.listen()

    def segment_writer(self) -> "SegmentWriter":
        """Writes segments of working memory; it summarizes by key sentences, since only workers ask the chat model."""
        from mnestic.activities.jobs.segments import (  # noqa: PLC0415 - who only searches has no segments
            SegmentWriter,
        )

        local = local_summariser()
        return SegmentWriter(
            self.caller.memory, count_tokens=self.count_tokens, extractive=local, summariser=local
        )

    def start_extraction(self) -> None:
        """Starts extraction in the background if Temporal is connected; otherwise a worker polls (`polls/extraction_poll.py`)."""
        if self.extraction is not None:
            self.extraction.start_in_background(self.caller.agent_id)

    def count_accesses(self, entry_ids: Iterable[str]) -> None:
        """Counts entries as returned (`Entry.access_count`), in the background."""
        self.caller.memory.count_accesses(
            tuple(entry_ids), tenant_id=self.caller.tenant_id, agent_id=self.caller.agent_id
        )


class ClientPart(ChecksTexts):
    """A part of the memory client, such as `memory.facts`."""

    def __init__(self, scope: ClientScope) -> None:
        self._scope = scope


def client_caller(
    memory: Memory,
    *,
    tenant_id: str,
    agent_id: str,
    actor: str = "client",
    reader: str | None = None,
) -> Caller:
    """The caller that a client acts as: the actor that the audit log names, and for whom it reads, if not for the agent.

    Raises:
        InvalidInputError: the tenant, the agent or the reader is no id.
    """
    check_id(tenant_id, what="tenant")
    check_id(agent_id, what="agent")
    caller = Caller(memory=memory, tenant_id=tenant_id, agent_id=agent_id, actor=actor)
    return caller.for_reader(reader)

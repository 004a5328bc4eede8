"""What a prompt is told of an agent's memory, from outside a job: before a message, and of a question."""

from datetime import datetime
from typing import Any

from pydantic import ValidationError

from mnestic.activities.auto_retrieving import AutoRetriever
from mnestic.memory.auto_retrieval import AutoRetrieval
from mnestic.memory.auto_selections import AutoSelection
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.ports import Embedder, Memory
from mnestic.memory.resources import check_name
from mnestic.memory.validation import refused
from mnestic.starter.retrieval_client import RetrievalClient


class ContextClient(RetrievalClient):
    """What prompts are told. Each block is marked as data, which nothing in it can end."""

    def __init__(
        self,
        memory: Memory,
        *,
        tenant_id: str,
        agent_id: str,
        embedder: Embedder | None = None,
        auto: AutoRetriever | None = None,
    ) -> None:
        """Prepares the client.

        Args:
            memory: The memory of all agents.
            tenant_id: Whose agent it is.
            agent_id: Which one.
            embedder: That of the entries' vectors; the local one without one.
            auto: What finds memories and notes for a message; without a vault if there is none.
        """
        super().__init__(memory, tenant_id=tenant_id, agent_id=agent_id, embedder=embedder)
        self._auto = auto or AutoRetriever(embedder=self._embedder, count_tokens=self._count_tokens)

    async def auto_retrieve(
        self,
        message: str,
        channel: str,
        *,
        max_tokens: int | None = None,
        asked_at: datetime | None = None,
        **select: Any,
    ) -> AutoRetrieval:
        """What to put before a message: memories out of all channels, and notes of the vault.

        Never raises because a source is down or slow: that one is named in `skipped`. What is put there is
        written down (`list_retrievals`).

        Args:
            message: The message; of one above 10,000 characters the beginning counts.
            channel: Where it came from; its last 20 messages are told as well.
            max_tokens: What the block may have; without it, all that was found is told.
            asked_at: When it came, by the clock of whoever sent it; aware. Now without it.
            **select: What differs from the agent's settings, as in
                `memory.auto_selections.AutoSelection`: `limit`, `min_score`, `notes`, `question`.

        Raises:
            InvalidInputError: message, channel or a field cannot be.
        """
        check_name(channel, what="channel")
        if max_tokens is not None and max_tokens < 0:
            raise InvalidInputError(what="max_tokens", why=f"is {max_tokens}; it is 0 or more")
        try:
            chosen = AutoSelection(channel=channel, **select)
        except ValidationError as error:
            raise refused("selection", error) from None
        found = await self._auto.find(
            lambda: self._transaction(write=False),
            chosen.question or message,
            owner=self._owner,
            select=chosen,
            asked_at=asked_at,
        )
        told = self._auto.tell(found, max_tokens=max_tokens)
        await self._auto.record(
            lambda: self._transaction(write=True), told.injection(message, channel=channel)
        )
        return told

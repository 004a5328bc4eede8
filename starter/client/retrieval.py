"""What an agent's memory has for a question, from outside a job."""

from collections.abc import Iterable
from typing import Unpack

from pydantic import ValidationError

from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.activities.retrieval.retrieval import retrieve
from mnestic.memory.ports import TokenCounter
from mnestic.memory.retrieval.queries import (
    Retrieval,
    RetrievalPolicy,
    RetrievalQuery,
    check_policy,
)
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.agent_settings import SettingsClient
from mnestic.starter.client.keyword_arguments import SearchArguments


class RetrievalClient(SettingsClient):
    """One agent's memory, asked. Each call leaves audit rows."""

    _models: QueryModels
    _count_tokens: TokenCounter

    async def retrieve(
        self,
        text: FreeText,
        *,
        policy: RetrievalPolicy | None = None,
        is_access: bool = True,
        **asked: Unpack[SearchArguments],
    ) -> Retrieval:
        """What is known for a question, the surest first; nothing where nothing is known.

        An entry is found as soon as it is written. What was superseded, has ended or expired and what is
        archived does not come back, unless it is asked for.

        Args:
            text: The question, 1 to 10,000 characters.
            policy: The weights; the agent's own without one.
            is_access: Whether what is found is counted as told (`Entry.access_count`), a little later.
            **asked: As in `memory.retrieval.RetrievalQuery`: `mode`, `limit` (10), `min_score`,
                `entry_types`, `categories`, `tags`, `subject`, `session_id`, `channel`, `statuses`,
                `since`, `until`, `as_of`, `asked_at`, `rerank`, `excluded` and `repeats`.

        Raises:
            InvalidInputError: the question is empty or too long, or the weights or a field cannot be.
        """
        check_policy(policy)
        try:
            query = RetrievalQuery.model_validate({**asked, "text": text})
        except ValidationError as error:
            raise refused("question", error) from None
        found = await retrieve(
            self._caller,
            query,
            embedder=self._models.embedder(self._caller),
            rerankers=self._models.rerankers(self._caller),
            count_tokens=self._count_tokens,
            policy=policy,
        )
        if is_access:
            self._accessed(one.entry.id for one in found.results)
        return found

    def _accessed(self, entry_ids: Iterable[str]) -> None:
        self._memory.count_accesses(
            tuple(entry_ids), tenant_id=self._tenant_id, agent_id=self._agent_id
        )

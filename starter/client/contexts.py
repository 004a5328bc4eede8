"""What a prompt is told of an agent's memory, from outside a job: before a message, and of a question."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Unpack

from pydantic import ValidationError

from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.contexts import LEARNED, ContextBuilder
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.resources import check_name
from mnestic.memory.retrieval.auto_retrieval import AutoRetrieval
from mnestic.memory.retrieval.contexts import TIERS, Context, TierName
from mnestic.memory.retrieval.queries import RetrievalPolicy, RetrievalQuery, check_policy
from mnestic.memory.retrieval.selections import AutoSelection
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.keyword_arguments import AutoArguments, SearchArguments
from mnestic.starter.client.retrieval import RetrievalClient

_SELECTED = ("limit", "min_score", "notes", "question")


class ContextClient(RetrievalClient):
    """What prompts are told. Each block is marked as data, which nothing in it can end."""

    _contexts: ContextBuilder
    _auto: AutoRetriever

    async def auto_retrieve(
        self,
        message: FreeText,
        channel: str,
        *,
        max_tokens: int | None = None,
        asked_at: datetime | None = None,
        **select: Unpack[AutoArguments],
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
        if max_tokens is not None:
            _budget(max_tokens)
        _check_known(select, _SELECTED, what="selection")
        if asked_at is not None and asked_at.utcoffset() is None:
            raise InvalidInputError(what="asked_at", why="has no offset; say in which zone it is")
        try:
            chosen = AutoSelection.model_validate({**select, "channel": channel})
        except ValidationError as error:
            raise refused("selection", error) from None
        found = await self._auto.find(
            self._caller,
            chosen.question or message,
            select=chosen,
            asked_at=asked_at,
        )
        told = self._auto.tell(found, max_tokens=max_tokens)
        self._accessed(told.entry_ids)
        await self._auto.record(
            lambda: self._transaction(write=True), told.log_entry(message, channel=channel)
        )
        return told

    async def context_for_query(
        self,
        query: FreeText,
        *,
        max_tokens: int = 2000,
        tiers: Collection[TierName] = TIERS,
        policy: RetrievalPolicy | None = None,
        **asked: Unpack[SearchArguments],
    ) -> Context:
        """What is known about a question, as one block of at most `max_tokens`, and what was left out.

        Summaries of categories come first, then facts, both of what is so now of whom the question names, then
        what search finds. A tier that would fill the block leaves room for the next ones.

        Args:
            query: The question, 1 to 10,000 characters.
            max_tokens: What the whole block may have, by exact count; with 0 or 1 it is empty.
            tiers: Which of `summaries`, `facts` and `search` are wanted.
            policy: The weights of search; the agent's own without one.
            **asked: As in `memory.retrieval.RetrievalQuery`.

        Raises:
            InvalidInputError: the question, the weights or a field cannot be.
        """
        _check_known(tiers, TIERS, what="tiers")
        check_policy(policy)
        return self._told(
            await self._contexts.for_query(
                self._caller,
                _question(query, asked),
                max_tokens=_budget(max_tokens),
                tiers=tiers,
                policy=policy,
            )
        )

    async def conversation_context(self, session_id: str, *, max_tokens: int = 1500) -> Context:
        """What was said in a session in the last two hours, the last ten messages, the oldest first.

        Raises:
            InvalidInputError: the budget is below 0.
        """
        return await self._contexts.of_conversation(
            self._caller, session_id, max_tokens=_budget(max_tokens)
        )

    async def learning_context(self, topic: FreeText, *, max_tokens: int = 1000) -> Context:
        """What was learned of a topic: patterns, lessons and insights.

        Raises:
            InvalidInputError: the topic cannot be asked for.
        """
        return self._told(
            await self._contexts.learned_patterns(
                self._caller, _question(topic, {}), max_tokens=_budget(max_tokens)
            )
        )

    async def historical_context(self, subject: str, *, max_tokens: int = 1000) -> Context:
        """How facts about a subject changed, the earliest first, and why each ended.

        Raises:
            InvalidInputError: the subject is no name.
        """
        check_name(subject, what="subject")
        return await self._contexts.of_history(
            self._caller, subject, max_tokens=_budget(max_tokens)
        )

    async def conversation_history(
        self,
        session_id: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[tuple[Entry, ...], str | None]:
        """What was said, in a session or anywhere, the latest first, and the cursor of the next page.

        Raises:
            InvalidInputError: a moment has no offset, or the cursor is none.
        """
        try:
            query = EntryQuery(
                entry_types=("interaction",), session_id=session_id, since=since, until=until
            )
        except ValidationError as error:
            raise refused("history", error) from None
        return await self.list_entries(query, limit=limit, cursor=cursor)

    async def learning_patterns(
        self, topic: FreeText | None = None, *, limit: int = 50
    ) -> tuple[Entry, ...]:
        """Patterns, lessons and insights: those about a topic, the surest first, or else the latest.

        Raises:
            InvalidInputError: the topic cannot be asked for.
        """
        if topic is None:
            found, _ = await self.list_entries(EntryQuery(entry_types=LEARNED), limit=limit)
            return found
        told = await self.retrieve(topic, entry_types=LEARNED, limit=limit)
        return tuple(one.entry for one in told.results)

    def _told(self, context: Context) -> Context:
        self._accessed(part.name for part in context.kept if part.kind == "memory")
        return context


def _question(text: str, asked: SearchArguments) -> RetrievalQuery:
    try:
        return RetrievalQuery.model_validate(
            {**asked, "text": text, "repeats": True}
        )  # which the ledger names
    except ValidationError as error:
        raise refused("question", error) from None


def _check_known(names: Iterable[str], known: Collection[str], *, what: str) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        why = f"there is no {', '.join(unknown)}; there are {', '.join(known)}"
        raise InvalidInputError(what=what, why=why)


def _budget(max_tokens: Any) -> int:
    if not isinstance(max_tokens, int) or max_tokens < 0:
        raise InvalidInputError(
            what="max_tokens", why=f"is {max_tokens!r}; it is a whole number, 0 or more"
        )
    return max_tokens

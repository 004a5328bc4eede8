"""`memory.contexts`: blocks for prompts, about a conversation, a topic or the history of a subject; and the log of retrievals."""

from datetime import datetime
from typing import Any

from pydantic import ValidationError

from mnestic.activities.knowledge.categories import read_categories, rebuild_categories
from mnestic.activities.retrieval.contexts import LEARNED, ContextBuilder
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.resources import check_name
from mnestic.memory.knowledge.world.categories import CategoryOverview
from mnestic.memory.knowledge.world.period_summaries import LEVELS, PeriodSummary, SummaryLevel
from mnestic.memory.retrieval.contexts import Context
from mnestic.memory.retrieval.retrieval_log import StoredLogEntry
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.client_scope import ClientPart, ClientScope
from mnestic.starter.client.keyword_arguments import check_known
from mnestic.starter.client.search import retrieval_query, search

CONTEXT_ENTRIES = 20  # that a search for a context finds


class ContextClient(ClientPart):
    """Blocks for prompts. Each is marked as data, which nothing in it can end; `memory.context_for_query` makes one too."""

    async def conversation(
        self, session_id: str, *, max_tokens: int = 1500, limit: int = 10
    ) -> Context:
        """The messages of a session in the last two hours, at most the last `limit`, the oldest first.

        Raises:
            InvalidInputError: the budget is below 0, or the limit invalid.
        """
        return await context_builder(self._scope).of_conversation(
            self._scope.caller, session_id, max_tokens=token_budget(max_tokens), limit=limit
        )

    async def learning(
        self, topic: FreeText, *, max_tokens: int = 1000, limit: int = CONTEXT_ENTRIES
    ) -> Context:
        """Patterns, lessons and insights about a topic, at most `limit`.

        Raises:
            InvalidInputError: the topic is not valid as a query, or the limit invalid.
        """
        context = await context_builder(self._scope).learned_patterns(
            self._scope.caller,
            retrieval_query(topic, {"limit": limit}, repeats=True),
            max_tokens=token_budget(max_tokens),
        )
        count_returned(self._scope, context)
        return context

    async def historical(self, subject: str, *, max_tokens: int = 1000) -> Context:
        """How facts about a subject changed, the earliest first, with the reason why each ended.

        Raises:
            InvalidInputError: the subject is no name.
        """
        check_name(subject, what="subject")
        return await context_builder(self._scope).of_history(
            self._scope.caller, subject, max_tokens=token_budget(max_tokens)
        )

    async def list_categories(self) -> tuple[CategoryOverview, ...]:
        """The categories of the agent's facts by name, each with a summary of what is so now.

        Nights store the summaries. After a fact has changed, its category's summary is made of the facts until then.
        """
        return await context_builder(self._scope).list_categories(self._scope.caller)

    async def summarize(self) -> tuple[CategoryOverview, ...]:
        """Stores the summaries of categories whose facts have changed, as a night does; returns those of all categories."""
        async with self._scope.transaction(write=True) as transaction:
            now = await transaction.now()
            await rebuild_categories(transaction, now=now, count_tokens=self._scope.count_tokens)
            return await read_categories(
                transaction, now=now, count_tokens=self._scope.count_tokens
            )

    async def list_summaries(
        self, level: SummaryLevel | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> tuple[tuple[PeriodSummary, ...], str | None]:
        """The summaries of the agent's life, months, weeks and sessions, in this order, and the cursor of the next page.

        Nights write them for agents with many messages; others have none. Of a level the latest comes first. What states
        something that was changed or forgotten since is not there, until the next night.

        Raises:
            InvalidInputError: there is no such level, or the cursor is malformed.
        """
        if level is not None:
            check_known((level,), LEVELS, what="level")
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.summaries.list_summaries(level, limit=limit, cursor=cursor)

    async def list_messages(
        self,
        session_id: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[tuple[Entry, ...], str | None]:
        """The messages of a session, or of all sessions, the latest first, and the cursor of the next page.

        Raises:
            InvalidInputError: a time has no offset, or the cursor is malformed.
        """
        try:
            query = EntryQuery(
                entry_types=("interaction",), session_id=session_id, since=since, until=until
            )
        except ValidationError as error:
            raise refused("history", error) from None
        return await self._list_entries(query, limit=limit, cursor=cursor)

    async def list_patterns(
        self, topic: FreeText | None = None, *, limit: int = 50
    ) -> tuple[Entry, ...]:
        """Patterns, lessons and insights: those about a topic, the best match first; without a topic the latest.

        Raises:
            InvalidInputError: the topic is not valid as a query.
        """
        if topic is None:
            entries, _ = await self._list_entries(EntryQuery(entry_types=LEARNED), limit=limit)
            return entries
        query = retrieval_query(topic, {"entry_types": LEARNED, "limit": limit})
        results = await search(self._scope, query)
        self._scope.count_accesses(result.entry.id for result in results.results)
        return tuple(result.entry for result in results.results)

    async def _list_entries(
        self, query: EntryQuery, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[Entry, ...], str | None]:
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.entries.list_entries(query, limit=limit, cursor=cursor)


def context_builder(scope: ClientScope) -> ContextBuilder:
    """A builder of context blocks for an agent."""
    return ContextBuilder(models=scope.models, count_tokens=scope.count_tokens)


def count_returned(scope: ClientScope, context: Context) -> None:
    """Counts the entries of a context as returned."""
    scope.count_accesses(part.name for part in context.kept if part.kind == "memory")


def token_budget(max_tokens: Any) -> int:
    """A budget of tokens.

    Raises:
        InvalidInputError: it is no whole number, or below 0.
    """
    if not isinstance(max_tokens, int) or max_tokens < 0:
        raise InvalidInputError(
            what="max_tokens", why=f"is {max_tokens!r}; it is a whole number, 0 or more"
        )
    return max_tokens


class RetrievalLogClient(ClientPart):
    """The results of `auto_retrieve`, one row for each message."""

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredLogEntry, ...], str | None]:
        """Automatic retrievals, the latest first, and the cursor of the next page."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.retrieval_log.list_entries(limit=limit, cursor=cursor)

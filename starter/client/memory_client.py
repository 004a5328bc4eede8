"""`MemoryClient`: the memory of one agent: what is used most, and its parts."""

from collections.abc import AsyncGenerator, AsyncIterable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Unpack

from pydantic import ValidationError

from mnestic.activities.forgetting.exports import export_lines
from mnestic.activities.forgetting.imports import ExportReader
from mnestic.activities.knowledge.receiving import add_entry, receive
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.export_lines import ExportLine, ImportCount
from mnestic.memory.forgetting.requests import TopicForgotten
from mnestic.memory.knowledge.entries import (
    Entry,
    EntryDraft,
    EntryType,
)
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource, check_name
from mnestic.memory.knowledge.statistics import MemoryStatistics
from mnestic.memory.ports import Memory
from mnestic.memory.retrieval.auto_retrieval import AutoRetrieval
from mnestic.memory.retrieval.contexts import TIERS, Context, TierName
from mnestic.memory.retrieval.queries import (
    Retrieval,
    RetrievalPolicy,
    check_policy,
)
from mnestic.memory.retrieval.selections import AutoSelection
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import ChecksTexts, FreeText
from mnestic.starter.client.agent_settings import SettingsClient
from mnestic.starter.client.client_scope import ClientScope, client_caller
from mnestic.starter.client.contexts import (
    ContextClient,
    context_builder,
    count_returned,
    token_budget,
)
from mnestic.starter.client.entries import EntryClient
from mnestic.starter.client.episodes import EpisodeClient
from mnestic.starter.client.events import EventClient
from mnestic.starter.client.facts import FactClient
from mnestic.starter.client.forgetting import ForgettingClient, topic_forgetting
from mnestic.starter.client.keyword_arguments import AutoArguments, EntryArguments, SearchArguments
from mnestic.starter.client.messages import MessageClient
from mnestic.starter.client.parked import ParkedClient
from mnestic.starter.client.records import RecordClient
from mnestic.starter.client.retrieval_log import RetrievalLogClient
from mnestic.starter.client.search import retrieval_query, search
from mnestic.starter.client.working_memory import WorkingMemoryClient
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.memory_wiring import local_models, token_counter

_SELECTED = ("limit", "min_score", "notes", "question")


class MemoryClient(ChecksTexts):
    """One agent's memory. Each call is a transaction of its own, with audit rows.

    What is used most are methods here. The rest is in parts, such as `memory.facts.list`.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        tenant_id: str,
        agent_id: str,
        models: QueryModels | None = None,
        auto: AutoRetriever | None = None,
        reach: LazyTemporal | None = None,
        extraction: ExtractionStarts | None = None,
    ) -> None:
        """Prepares the client.

        Args:
            memory: The memory of all agents.
            tenant_id: Whose agent it is.
            agent_id: Which one.
            models: Those that questions ask; local ones without them.
            auto: What finds memories and notes for a message; without a vault if there is none.
            reach: Where `forget` is done; not needed by anything else.
            extraction: Has what is added learned from; without it a worker sees that by itself.
        """
        models, count_tokens = models or local_models(), token_counter()
        scope = ClientScope(
            caller=client_caller(memory, tenant_id=tenant_id, agent_id=agent_id),
            models=models,
            count_tokens=count_tokens,
        )
        self._scope, self._reach, self._extraction = scope, reach, extraction
        self._auto = auto or AutoRetriever(models=models, count_tokens=count_tokens)
        self.facts = FactClient(scope)
        self.entries = EntryClient(scope)
        self.records = RecordClient(scope)
        self.episodes = EpisodeClient(scope)
        self.working_memory = WorkingMemoryClient(scope)
        self.messages = MessageClient(scope)
        self.parked = ParkedClient(scope)
        self.contexts = ContextClient(scope)
        self.retrieval_log = RetrievalLogClient(scope)
        self.events = EventClient(scope)
        self.settings = SettingsClient(scope)
        self.forgetting = ForgettingClient(scope, reach=reach)

    async def add(
        self,
        content: FreeText,
        *,
        entry_type: EntryType = "knowledge",
        subjects: Sequence[str] = (),
        critical: bool = False,
        parent: str | None = None,
        at: datetime | None = None,
        source_id: str | None = None,
        expires_at: datetime | None = None,
        **more: Unpack[EntryArguments],
    ) -> Entry:
        """Adds an entry, which is kept and found when this returns; what follows from it is learned soon after.

        The same type, content and subjects by the same speaker once more change nothing.

        Args:
            content: What is to be remembered, 1 byte to 1 MiB.
            entry_type: One of `mnestic.memory.knowledge.entries.ENTRY_TYPES`.
            subjects: Whom or what it is about.
            critical: Whether no policy may ever delete it.
            parent: The entry that it belongs to, such as the one it corrects.
            at: When it was said or seen; now by default. Aware.
            source_id: Its name where it comes from; the same one is the same entry, whatever it says.
            expires_at: When it expires. Aware.
            **more: As in `mnestic.memory.knowledge.entries.EntryDraft`: `tags`, `aliases`, `speaker` (the agent itself by
                default), `session_id` and `channel`.

        Raises:
            InvalidInputError: a field cannot be, or the message of that `source_id` was removed.
            NotFoundError: there is no such parent.
        """
        try:
            draft = EntryDraft.model_validate(
                {
                    **more,
                    "content": content,
                    "entry_type": entry_type,
                    "subjects": tuple(subjects),
                    "critical": critical,
                    "parent": parent,
                    "at": at,
                    "source_id": source_id,
                    "expires_at": expires_at,
                }
            )
        except ValidationError as error:
            raise refused("entry", error) from None
        async with self._scope.transaction(write=True) as transaction:
            entry = await add_entry(
                transaction,
                draft,
                owner=self._scope.caller.owner,
                speaker=self._scope.caller.agent_id,
            )
        self._extract_soon()
        return entry

    async def ingest(self, messages: Sequence[Resource | IncomingMessage]) -> int:
        """Stores messages, each an entry at once, and has facts extracted from them; returns how many were new.

        What a tool returned comes as `IncomingMessage` of kind `tool_result`, with its name as the speaker.

        Raises:
            InvalidInputError: a message cannot be stored; names it. None was kept.
        """
        async with self._scope.transaction(write=True) as transaction:
            new = await receive(transaction, messages, owner=self._scope.caller.owner)
        self._extract_soon()
        return new

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
            **asked: As in `mnestic.memory.retrieval.queries.RetrievalQuery`: `mode`, `limit` (10), `min_score`,
                `entry_types`, `categories`, `tags`, `subject`, `session_id`, `channel`, `statuses`,
                `since`, `until`, `as_of`, `asked_at`, `rerank`, `excluded` and `repeats`.

        Raises:
            InvalidInputError: the question is empty or too long, or the weights or a field cannot be.
        """
        query = retrieval_query(text, asked)
        found = await search(self._scope, query, policy=policy)
        if is_access:
            self._scope.count_accesses(one.entry.id for one in found.results)
        return found

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
        written down (`memory.retrieval_log`).

        Args:
            message: The message; of one above 10,000 characters the beginning counts.
            channel: Where it came from; its last 20 messages are told as well.
            max_tokens: What the block may have; without it, all that was found is told.
            asked_at: When it came, by the clock of whoever sent it; aware. Now without it.
            **select: What differs from the agent's settings, as in
                `mnestic.memory.retrieval.selections.AutoSelection`: `limit`, `min_score`, `notes`, `question`.

        Raises:
            InvalidInputError: message, channel or a field cannot be.
        """
        check_name(channel, what="channel")
        if max_tokens is not None:
            token_budget(max_tokens)
        _check_known(select, _SELECTED, what="selection")
        if asked_at is not None and asked_at.utcoffset() is None:
            raise InvalidInputError(what="asked_at", why="has no offset; say in which zone it is")
        try:
            chosen = AutoSelection.model_validate({**select, "channel": channel})
        except ValidationError as error:
            raise refused("selection", error) from None
        found = await self._auto.find(
            self._scope.caller,
            chosen.question or message,
            select=chosen,
            asked_at=asked_at,
        )
        told = self._auto.tell(found, max_tokens=max_tokens)
        self._scope.count_accesses(told.entry_ids)
        await self._auto.record(
            lambda: self._scope.transaction(write=True), told.log_entry(message, channel=channel)
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
            **asked: As in `mnestic.memory.retrieval.queries.RetrievalQuery`.

        Raises:
            InvalidInputError: the question, the weights or a field cannot be.
        """
        _check_known(tiers, TIERS, what="tiers")
        check_policy(policy)
        context = await context_builder(self._scope).for_query(
            self._scope.caller,
            retrieval_query(query, asked, repeats=True),  # which the ledger names
            max_tokens=token_budget(max_tokens),
            tiers=tiers,
            policy=policy,
        )
        count_returned(self._scope, context)
        return context

    async def preview_forget(self, topic: FreeText) -> TopicForgotten:
        """What forgetting a topic would remove and what it would leave.

        `items` are the facts, entries and sentences that would go, `token` confirms just these. It changes nothing that
        anybody reads: entries that have no vector yet get theirs, as ingestion would give them, since they would be
        missed otherwise. Those of which the model makes none are named in `left`.

        Args:
            topic: A few words. A text speaks of it that has them all, in whichever form.

        Raises:
            InvalidInputError: the topic has no words that mean something, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        return await (await topic_forgetting(self._scope, self._reach, topic)).preview(topic)

    async def forget(self, topic: FreeText, *, confirm: str | None = None) -> TopicForgotten:
        """Has the agent forget a topic, for good: what has its words, and what was shown to be about it.

        Entries, their vectors and messages go, and with them what was learned from them; of summaries,
        records, sessions and snapshots of jobs that are over the sentences that speak of it. Jobs that run
        keep what they have in mind, and are named. A message that comes again is not learned from.

        Args:
            topic: A few words. A text speaks of it that has them all, in whichever form.
            confirm: The token of `preview_forget`. What has the topic's words goes also where it came
                since then; of what does not, only the entries that were shown.

        Raises:
            InvalidInputError: there is no token, or what would go is not what it was given for; the topic
                has no words that mean something, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        forgetting = await topic_forgetting(self._scope, self._reach, topic)
        preview = await forgetting.confirmed(topic, confirm)
        done = await (await forgetting.start(topic, preview)).result()
        return await forgetting.report(topic, done, preview=preview)

    def export(self) -> AsyncGenerator[ExportLine, None]:
        """All of the agent's memory, line by line, as it is when the first line is taken; `import_lines` reads it back.

        Jobs and what belongs to them are no memory: waits, snapshots, plans and large results of tools. Nor are costs,
        events, the audit log, and what was put before messages.
        """
        return export_lines(self._scope.caller)

    async def import_lines(
        self, lines: AsyncIterable[ExportLine] | Iterable[ExportLine], *, source: str = "export"
    ) -> ImportCount:
        """Reads an export back, of whichever agent and tenant; what is there already stays as it is.

        So the same export twice changes nothing, and one that was stopped halfway goes on. Claims have the time of
        this as the moment since when they are believed.

        Args:
            lines: As `export` gives them.
            source: How errors name it.

        Raises:
            InvalidInputError: a line cannot be, and names it; the lines before it were added. Or the export is of a
                newer version, or cut off.
        """
        count = await ExportReader(self._scope.caller, source=source).read(lines)
        self._extract_soon()
        return count

    async def stats(self) -> MemoryStatistics:
        """The agent's memory in numbers."""
        async with self._scope.transaction(write=False) as transaction:
            return MemoryStatistics(
                entries=await transaction.entries.count(),
                ingest_states=await transaction.ingest_states.count(),
                facts=await transaction.facts.count(),
            )

    def _extract_soon(self) -> None:
        """Has what was added learned from, where Temporal is at hand; else a worker sees it (`extraction_poll.py`)."""
        if self._extraction is not None:
            self._extraction.start_in_background(self._scope.caller.agent_id)


def _check_known(names: Iterable[str], known: Collection[str], *, what: str) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        why = f"there is no {', '.join(unknown)}; there are {', '.join(known)}"
        raise InvalidInputError(what=what, why=why)

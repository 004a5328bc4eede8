"""`MemoryClient`: one agent's memory: the main methods, and parts for the rest."""

from collections.abc import AsyncGenerator, AsyncIterable, Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Unpack

from pydantic import ValidationError

from mnestic.activities.callers import Caller
from mnestic.activities.forgetting.exports import export_lines
from mnestic.activities.forgetting.imports import ExportReader
from mnestic.activities.knowledge.receiving import add_entry, receive
from mnestic.activities.knowledge.statistics import memory_statistics
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.export_lines import ExportLine, ImportCount
from mnestic.memory.forgetting.requests import TopicForgotten
from mnestic.memory.knowledge.entries import Entry, EntryDraft, EntryType
from mnestic.memory.knowledge.ingestion import IncomingMessage, MemoryStatistics
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.retrieval.auto_retrieval import MESSAGES, AutoRetrieval, latest_before
from mnestic.memory.retrieval.contexts import TIERS, Context, TierName
from mnestic.memory.retrieval.missing_entries import SearchTrace
from mnestic.memory.retrieval.queries import Retrieval, RetrievalPolicy, check_policy
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import ChecksTexts, FreeText
from mnestic.starter.client.agent_settings import ReaderClient, SettingsClient
from mnestic.starter.client.client_scope import ClientScope
from mnestic.starter.client.contexts import (
    CONTEXT_ENTRIES,
    ContextClient,
    RetrievalLogClient,
    context_builder,
    count_returned,
    token_budget,
)
from mnestic.starter.client.contract_operations import OperationClient
from mnestic.starter.client.entries import EntryClient
from mnestic.starter.client.events import EventClient
from mnestic.starter.client.facts import FactClient, GraphClient
from mnestic.starter.client.forgetting import ForgettingClient, topic_forgetting
from mnestic.starter.client.keyword_arguments import (
    AutoArguments,
    EntryArguments,
    SearchArguments,
    check_known,
)
from mnestic.starter.client.messages import MessageClient, ParkedClient
from mnestic.starter.client.records import (
    EpisodeClient,
    HistoryClient,
    RecordClient,
    WorkingMemoryClient,
)
from mnestic.starter.client.search import auto_selection, retrieval_query, search, trace
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.memory_wiring import local_models, token_counter

if TYPE_CHECKING:
    from mnestic.starter.client.contract_memory import ContractMemory


class MemoryClient(ChecksTexts):
    """One agent's memory. Each call is a transaction of its own, with audit rows.

    The main methods are here. The rest is in parts, such as `memory.facts.list`.
    """

    def __init__(
        self,
        caller: Caller,
        *,
        models: QueryModels | None = None,
        auto: AutoRetriever | None = None,
        lazy_temporal: LazyTemporal | None = None,
        extraction: ExtractionStarts | None = None,
    ) -> None:
        """Prepares the client.

        Args:
            caller: Whose memory it is, and who reads and writes.
            models: The models for queries; local ones by default.
            auto: Finds memories and notes for a message; by default without a vault of notes.
            lazy_temporal: The connection that `forget` needs, and nothing else.
            extraction: Starts extraction after each write; without it a worker polls for new messages.
        """
        models, count_tokens = models or local_models(), token_counter()
        scope = ClientScope(
            caller=caller,
            models=models,
            count_tokens=count_tokens,
            extraction=extraction,
        )
        self._lazy_temporal = lazy_temporal
        self._auto = auto or AutoRetriever(models=models, count_tokens=count_tokens)
        self._scope = scope
        self.facts = FactClient(scope)
        self.graph = GraphClient(scope)
        self.entries = EntryClient(scope)
        self.operations = OperationClient(scope)
        self.records = RecordClient(scope)
        self.episodes = EpisodeClient(scope)
        self.history = HistoryClient(scope)
        self.working_memory = WorkingMemoryClient(scope)
        self.messages = MessageClient(scope)
        self.parked = ParkedClient(scope)
        self.contexts = ContextClient(scope)
        self.retrieval_log = RetrievalLogClient(scope)
        self.events = EventClient(scope)
        self.settings = SettingsClient(scope)
        self.readers = ReaderClient(scope)
        self.forgetting = ForgettingClient(scope, lazy_temporal=self._lazy_temporal)

    async def contract(self, session_id: str | None = None) -> "ContractMemory":
        """The agent's memory by its contract: `persist`, `retrieve`, `query`, and the segments of a session.

        Raises:
            InvalidInputError: the session is no id.
            NotFoundError: no contract is in force for the agent.
        """
        from mnestic.starter.client.contract_memory import (  # noqa: PLC0415 - who only searches needs no contract
            open_contract,
        )

        return await open_contract(self._scope, session_id=session_id)

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
        """Adds an entry, which is stored and searchable when this returns; its facts are extracted in the background.

        The same type, content and subjects by the same speaker again change nothing. Blocks of `auto_retrieve` are left out.

        Args:
            content: The text to remember, 1 byte to 1 MiB.
            entry_type: One of `mnestic.memory.knowledge.entries.ENTRY_TYPES`.
            subjects: The persons or things that it is about.
            critical: Whether it is protected from deletion by any policy, unless it expires.
            parent: The entry that it belongs to, such as the one it corrects.
            at: When it was said or seen; now by default. Aware.
            source_id: Its id at the source; the same id is the same entry, whatever its content.
            expires_at: When it expires. Aware.
            **more: As in `mnestic.memory.knowledge.entries.EntryDraft`: `tags`, `aliases`, `speaker` (the agent itself by
                default), `session_id` and `channel`.

        Raises:
            InvalidInputError: a field is invalid, the content is only a block, or the message of that id was removed.
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
            raise refused("entry", error, model=EntryDraft) from None
        async with self._scope.transaction(write=True) as transaction:
            entry = await add_entry(
                transaction,
                draft,
                owner=self._scope.caller.owner,
                speaker=self._scope.caller.agent_id,
            )
        self._scope.start_extraction()
        return entry

    async def ingest(self, messages: Sequence[Resource | IncomingMessage]) -> int:
        """Stores messages, each an entry at once, and has facts extracted from them; returns how many were new.

        Blocks of `auto_retrieve` or a context are left out; a message that is only a block is passed over.
        Pass the result of a tool as `IncomingMessage` of kind `tool_result`, with the tool's name as the speaker.

        Raises:
            InvalidInputError: a message cannot be stored; names it. None was stored.
        """
        async with self._scope.transaction(write=True) as transaction:
            new = await receive(transaction, messages, owner=self._scope.caller.owner)
        self._scope.start_extraction()
        return new

    async def retrieve(
        self,
        text: FreeText,
        *,
        policy: RetrievalPolicy | None = None,
        is_access: bool = True,
        **arguments: Unpack[SearchArguments],
    ) -> Retrieval:
        """Searches memory: the best results first, and none if nothing is relevant.

        An entry is searchable as soon as it is written. Entries that are superseded, ended, expired or
        archived are left out, unless the arguments include them.

        Args:
            text: The question, 1 to 10,000 characters.
            policy: The weights; the agent's own by default.
            is_access: Whether results count as accesses (`Entry.access_count`), in the background.
            **arguments: As in `mnestic.memory.retrieval.queries.RetrievalQuery`: `mode`, `limit` (10), `min_score`,
                `entry_types`, `categories`, `tags`, `subject`, `session_id`, `channel`, `statuses`,
                `since`, `until`, `as_of`, `asked_at`, `rerank`, `excluded` and `repeats`.

        Raises:
            InvalidInputError: the question is empty or too long, or the weights or a field are invalid.
        """
        query = retrieval_query(text, arguments)
        retrieval = await search(self._scope, query, policy=policy)
        if is_access:
            self._scope.count_accesses(result.entry.id for result in retrieval.results)
        return retrieval

    async def why(
        self,
        text: FreeText,
        *,
        expect: str,
        policy: RetrievalPolicy | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> SearchTrace:
        """Says at which stage a search leaves out an entry that you expect, and by how much.

        Args:
            text: The question; it, `policy` and the arguments are those of `retrieve`, which may raise the same.
            expect: The id of the entry.
            policy: As in `retrieve`.
            **arguments: As in `retrieve`.

        Raises:
            NotFoundError: there is no such entry.
        """
        entry = await self.entries.get(expect)
        return await trace(self._scope, retrieval_query(text, arguments), entry, policy=policy)

    async def auto_retrieve(
        self,
        message: FreeText,
        channel: str,
        *,
        max_tokens: int | None = None,
        latest: int = MESSAGES,
        asked_at: datetime | None = None,
        prompt_texts: Sequence[str] = (),
        is_preview: bool = False,
        **selection: Unpack[AutoArguments],
    ) -> AutoRetrieval:
        """Memories of all channels, notes of the vault and the channel's latest messages, to put before a message in a prompt.

        A source that is down or slow raises nothing; it is named in `skipped`. The result is
        logged (`memory.retrieval_log`).

        Args:
            message: The message; of a longer one, the first 10,000 characters.
            channel: Its channel, whose last 20 messages are in the query too.
            max_tokens: The limit of the text; without it, the text has all results.
            latest: How many of the channel's last messages are in the text, 20 at most; 0 for a program that sends its own
                transcript.
            asked_at: When it was sent, by the sender's clock; aware. Now by default.
            prompt_texts: What the prompt has anyway; memories that say the same are left out.
            is_preview: Whether somebody only looks at what would be put there, so that it is neither logged nor counted.
            **selection: What differs from the agent's settings, as in
                `mnestic.memory.retrieval.selections.AutoSelection`: `limit`, `min_score`, `notes`, `question`, `asker`.

        Raises:
            InvalidInputError: message, channel or a field is invalid.
        """
        if max_tokens is not None:
            token_budget(max_tokens)
        if not 0 <= latest <= MESSAGES:
            raise InvalidInputError(what="latest", why=f"is not between 0 and {MESSAGES}")
        if asked_at is not None and asked_at.utcoffset() is None:
            raise InvalidInputError(what="asked_at", why="has no offset; say in which zone it is")
        chosen = auto_selection(channel, selection)
        sources = await self._auto.find(
            self._scope.caller,
            chosen.question or message,
            select=chosen,
            prompt_texts=prompt_texts,
            asked_at=asked_at,
        )
        before = latest_before(sources.messages, message, limit=latest)
        retrieval = self._auto.assemble(sources, max_tokens=max_tokens, latest=before)
        if is_preview or self._scope.caller.reader is not None:
            return retrieval
        self._scope.count_accesses(retrieval.entry_ids)
        await self._auto.record(
            lambda: self._scope.transaction(write=True),
            retrieval.log_entry(message, channel=channel),
        )
        return retrieval

    async def context_for_query(
        self,
        query: FreeText,
        *,
        max_tokens: int = 2000,
        tiers: Collection[TierName] = TIERS,
        policy: RetrievalPolicy | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> Context:
        """The context of a question, as one block of at most `max_tokens`, and what was left out.

        Summaries of a large memory and of categories come first, then facts, both current and about the names in the question, then
        search results. No tier takes the room of the next ones.

        Args:
            query: The question, 1 to 10,000 characters.
            max_tokens: The limit of the whole block, counted exactly; with 0 or 1 it is empty.
            tiers: Which of `summaries`, `facts` and `search` are wanted.
            policy: The weights of search; the agent's own by default.
            **arguments: As in `mnestic.memory.retrieval.queries.RetrievalQuery`; `limit` is that of the search results, 20 by default.

        Raises:
            InvalidInputError: the question, the weights or a field are invalid.
        """
        check_known(tiers, TIERS, what="tiers")
        check_policy(policy)
        arguments.setdefault("limit", CONTEXT_ENTRIES)
        context = await context_builder(self._scope).for_query(
            self._scope.caller,
            retrieval_query(query, arguments, repeats=True),  # `left_out` names repeated entries
            max_tokens=token_budget(max_tokens),
            tiers=tiers,
            policy=policy,
        )
        count_returned(self._scope, context)
        return context

    async def preview_forget(self, topic: FreeText) -> TopicForgotten:
        """What forgetting a topic would remove and what it would leave.

        `items` are the facts, entries and sentences that would go, and `token` confirms them. It changes nothing that
        anybody reads, but entries without a vector get theirs, as ingestion would give them, since they would be
        missed otherwise. Those of which the model makes none are named in `left`.

        Args:
            topic: A few words. A text matches if it has all of them, in any form.

        Raises:
            InvalidInputError: the topic has no content words, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        return await (await topic_forgetting(self._scope, self._lazy_temporal, topic)).preview(
            topic
        )

    async def forget(
        self, topic: FreeText, *, confirm: str | None = None, keep_out: bool = False
    ) -> TopicForgotten:
        """Forgets a topic permanently: texts that have its words, and entries that the preview showed as similar.

        Matching entries are removed, with their vectors, messages and facts. From summaries,
        records, sessions and snapshots of ended jobs, the matching sentences are removed. Running jobs
        keep their memory, and are named. Nothing is extracted from a forgotten message that is sent again.

        Args:
            topic: A few words. A text matches if it has all of them, in any form.
            keep_out: Whether the topic is kept from being learned again when somebody repeats it: messages lose what speaks of
                it as they come in, and an entry or a fact is refused. `memory.forgetting.keep_outs` lists what is kept out.
            confirm: The token of `preview_forget`. Texts with the topic's words are removed even if they arrived
                since then; of other texts, only the entries that were shown.

        Raises:
            InvalidInputError: there is no token, or the topic has no content words or is too long.
            StaleRequestError: the token is of another preview.
            ConfigurationError: `keep_out` has no key, or another one than keep-outs that there are.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        forgetting = await topic_forgetting(self._scope, self._lazy_temporal, topic)
        preview = await forgetting.confirmed(topic, confirm)
        done = await (await forgetting.start(topic, preview, keep_out=keep_out)).result()
        return await forgetting.report(topic, done, preview=preview)

    def export(self) -> AsyncGenerator[ExportLine, None]:
        """All of the agent's memory, line by line, as of when the first line is read; `import_lines` reads it back.

        It has no jobs, and nothing that belongs to them: waits, snapshots, plans and large results of tools. Nor has it costs,
        events, the audit log and the retrieval log.
        """
        return export_lines(self._scope.caller)

    async def import_lines(
        self, lines: AsyncIterable[ExportLine] | Iterable[ExportLine], *, source: str = "export"
    ) -> ImportCount:
        """Imports an export of any agent and tenant; what is stored already stays as it is.

        So a second import changes nothing, and an interrupted one continues. Claims count as recorded at the time of
        the import.

        Args:
            lines: As `export` gives them.
            source: The name of the export in errors.

        Raises:
            InvalidInputError: a line is invalid; names it; the lines before it were added. Or the export is of a
                newer version, or cut off.
        """
        self._scope.caller.check_writes()
        count = await ExportReader(self._scope.caller, source=source).read(lines)
        self._scope.start_extraction()
        return count

    async def stats(self) -> MemoryStatistics:
        """Statistics of the agent's memory."""
        async with self._scope.transaction(write=False) as transaction:
            return await memory_statistics(transaction)

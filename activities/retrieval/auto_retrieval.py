"""Auto-retrieval: finds memories and notes to put before a message, within time limits.

Clients and nodes of jobs do it alike: both sources are searched concurrently, and one that is down or slow is left out
by name.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, TypeVar, get_args

from mnestic.activities.callers import Caller
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.activities.retrieval.retrieval import Begin, retrieve
from mnestic.memory.canonical import check_text
from mnestic.memory.errors import MnesticError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.facts import FactStatus
from mnestic.memory.ports import TokenCounter, Transaction
from mnestic.memory.retrieval.agent_settings import AgentSettings, settings_of
from mnestic.memory.retrieval.auto_retrieval import (
    MESSAGES,
    AutoRetrieval,
    AutoRetrievalHits,
    ChannelMessage,
    RetrievedMemory,
    assemble,
    count_distinct,
    excluding,
    first_distinct,
    matching_messages,
    message_of,
)
from mnestic.memory.retrieval.caches import CacheScope, LRUCache
from mnestic.memory.retrieval.follow_ups import follow_up_query
from mnestic.memory.retrieval.notes import (
    NoteResults,
    NoteSelection,
    names_in,
    without_replaced,
)
from mnestic.memory.retrieval.ports import NoteSource
from mnestic.memory.retrieval.queries import (
    LONGEST_QUESTION,
    MOST_RESULTS,
    Retrieval,
    RetrievalQuery,
)
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry, Skipped
from mnestic.memory.retrieval.selections import AutoSelection

Result = TypeVar("Result")
_Attempt: TypeAlias = tuple[
    Result | None, str | None
]  # what a source gives, or why it gives nothing
_DEFAULTS = AgentSettings()
_SETTINGS_BYTES, _SETTINGS_KEY = 2**20, "settings"
_MORE = 5  # entries, in place of those that the prompt holds anyway, or that say the same
_MOST_FACTS = 1000  # about whom notes name
_TIMES_FIRST = 10  # the limit of memories, for the first message of a process: connections open, and lists of words are read
_TIMES_MORE = 10  # where that was not enough
log = logging.getLogger("mnestic.auto_retrieval")


@dataclass(frozen=True, kw_only=True)
class SourceLimits:
    """How long a message waits for each source.

    Of that for memories half is for the vector of the message, where a model makes it, and a quarter for a
    server that reranks, so that one which hangs leaves time for what the others find.
    """

    memories: timedelta = timedelta(seconds=2)
    notes: timedelta = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class _Request:
    """A message for which something is looked for."""

    caller: Caller
    message: str
    select: AutoSelection
    prompt_texts: Sequence[str]
    settings: AgentSettings
    now: datetime


@dataclass(frozen=True, kw_only=True)
class _Latest:
    """The last messages, the oldest first."""

    channel: tuple[ChannelMessage, ...]
    session: tuple[ChannelMessage, ...]


class AutoRetriever:
    """Finds memories and notes to put before a message."""

    def __init__(
        self,
        *,
        models: QueryModels,
        count_tokens: TokenCounter,
        notes: NoteSource | None = None,
        notes_tenant_id: str | None = None,
        limits: SourceLimits | None = None,
        settings_cache: LRUCache | None = None,
        import_stores: Callable[[], object] | None = None,
    ) -> None:
        """Prepares it.

        Args:
            models: Those that searches ask.
            count_tokens: What counts tokens.
            notes: The vault of notes, if there is one.
            notes_tenant_id: The owner of the vault; agents of other tenants get no notes.
            limits: How long a message waits for each source.
            settings_cache: Caches the settings that agents had last; without it, in 1 MiB at most.
            import_stores: What imports the modules of the stores, which takes half a second in a new process.
        """
        self.models, self._notes, self._count_tokens = models, notes, count_tokens
        self._notes_tenant_id = notes_tenant_id
        self._limits = limits or SourceLimits()
        self._settings_cache = settings_cache or LRUCache(_SETTINGS_BYTES)
        self._left: set[asyncio.Task[Any]] = set()
        self._import_stores = import_stores
        self._is_loaded = self._is_warm = False

    async def load(self) -> None:
        """Loads the local models and the stores. A worker does so when it starts; else the first message waits, without a limit."""
        if not self._is_loaded:
            await asyncio.gather(
                self.models.load(), asyncio.to_thread(self._count_tokens, "memory")
            )
            if self._import_stores is not None:
                await asyncio.to_thread(self._import_stores)
            self._is_loaded = True

    async def find(
        self,
        caller: Caller,
        message: str,
        *,
        select: AutoSelection,
        session_id: str | None = None,
        prompt_texts: Sequence[str] = (),
        asked_at: datetime | None = None,
    ) -> AutoRetrievalHits:
        """What an agent's memory and the vault have for a message.

        All channels are searched. What is down or does not answer in time is named in `skipped`. While the
        agent's settings cannot be read, those that were read last hold, or else the defaults.

        Args:
            caller: Whose memory it is.
            message: The message; of a long one the beginning counts, a short one that asks on is taken with
                the one before, and one that says nothing, such as a greeting, finds no memories.
            select: What differs from the settings, and the channel.
            session_id: The session that it is of, if any.
            prompt_texts: Texts that the prompt contains anyway; an entry with the same text is left out.
            asked_at: When the message was sent, by the clock of its reader; aware. By default now.

        Raises:
            InvalidInputError: the message is none that can be stored.
        """
        check_text(message, what="message")
        caller = caller.for_reader(select.reader)
        await self.load()
        latest = asyncio.create_task(  # side by side with the settings
            self._within(
                self._for_memories,
                _latest(caller, select.channel, session_id),
                source="messages",
            )
        )
        begun, why_not = await self._within(self._for_memories, _begun(caller), source="settings")
        if begun is None:
            settings, now = self._last_settings(caller), datetime.now(UTC)
        else:
            settings, now = begun
            self._cache_settings(caller, settings)
        request = _Request(
            caller=caller,
            message=message,
            select=select,
            prompt_texts=prompt_texts,
            settings=settings,
            now=asked_at or now,
        )
        memories, notes = await asyncio.gather(
            self._memories(request, latest, why_not), self._notes_of(request)
        )
        self._is_warm = self._is_warm or not memories.skipped
        return AutoRetrievalHits(
            memories=memories.memories,
            notes=notes.notes,
            skipped=(*memories.skipped, *notes.skipped),
            messages=memories.messages,
        )

    @property
    def _for_memories(self) -> timedelta:
        """How long a message waits for memories."""
        return self._limits.memories * (1 if self._is_warm else _TIMES_FIRST)

    def _last_settings(self, caller: Caller) -> AgentSettings:
        """The settings that were read last; the defaults if they are not cached."""
        cached = self._settings_cache.get(_scope_of(caller), _SETTINGS_KEY, revision=0)
        return _DEFAULTS if cached is None else AgentSettings.model_validate_json(cached)

    def _cache_settings(self, caller: Caller, settings: AgentSettings) -> None:
        changed = settings.model_dump_json(exclude_defaults=True).encode()
        self._settings_cache.put(_scope_of(caller), _SETTINGS_KEY, changed, revision=0)

    def assemble(
        self,
        found: AutoRetrievalHits,
        *,
        max_tokens: int | None = None,
        latest: Sequence[ChannelMessage] = (),
    ) -> AutoRetrieval:
        """What was found as one text, of so many tokens at most; without a budget, all of it."""
        return assemble(
            found, count_tokens=self._count_tokens, max_tokens=max_tokens, latest=latest
        )

    async def record(self, begin: Begin, log_entry: RetrievalLogEntry | None) -> None:
        """Writes down what was put before a message; a database that is down keeps nobody from it."""
        if log_entry is None:
            return

        async def write() -> None:
            async with begin() as transaction:
                await transaction.retrieval_log.add(log_entry)

        await self._within(self._for_memories, write(), source="retrieval log")

    async def _memories(
        self, request: _Request, latest: Awaitable[_Attempt[_Latest]], why_not: str | None
    ) -> AutoRetrievalHits:
        messages, why = await latest
        found: AutoRetrievalHits | None = None
        if messages is not None and why_not is None:
            found, why = await self._within(
                self._for_memories, self._remembered(request, messages), source="memories"
            )
        if found is not None:
            return found
        earlier = messages.channel if messages else ()
        return AutoRetrievalHits(
            skipped=(Skipped(source="memories", why=str(why_not or why)),), messages=earlier
        )

    async def _remembered(self, request: _Request, latest: _Latest) -> AutoRetrievalHits:
        messages = latest.channel
        question = follow_up_query(
            request.message, before=messages, now=request.now, max_chars=LONGEST_QUESTION
        )
        settings, least = request.settings, request.select.min_score
        if not settings.auto_retrieve_enabled:
            return AutoRetrievalHits()
        if question is None:
            return AutoRetrievalHits(messages=messages)
        asks = [request.message, *([question.follows.content] if question.follows else [])]
        limit = request.select.limit or settings.auto_retrieve_max_results
        query = RetrievalQuery(
            text=question.text,
            limit=limit + _MORE,
            min_score=settings.auto_retrieve_min_score if least is None else least,
            asked_at=request.now,
            excluded=matching_messages(
                (*messages, *latest.session), (*asks, *request.prompt_texts)
            ),
            repeats=True,  # which are named
            asker=request.select.asker,
        )
        found, memories = await self._different(request, query, limit=limit)
        return AutoRetrievalHits(
            memories=memories, skipped=_skipped_parts(found), messages=messages
        )

    async def _different(
        self, request: _Request, query: RetrievalQuery, *, limit: int
    ) -> tuple[Retrieval, tuple[RetrievedMemory, ...]]:
        """What a search finds until so many memories say different things, or there is no more.

        It is searched again only where memory says the same again and again. When a source was too slow,
        there is no time for that.
        """
        while True:
            found = await self._search(request, query)
            others = excluding(found.results, request.prompt_texts)
            memories = first_distinct(
                [RetrievedMemory.of(one, now=request.now) for one in others], limit
            )
            is_all = len(found.results) < query.limit or query.limit == MOST_RESULTS
            if is_all or found.skipped or count_distinct(memories) == limit:
                return found, memories
            more = min(_TIMES_MORE * query.limit, MOST_RESULTS)
            query = query.model_copy(update={"limit": more})

    async def _search(self, request: _Request, query: RetrievalQuery) -> Retrieval:
        return await retrieve(
            request.caller,
            query,
            embedders=self.models.embedders(request.caller, within=self._for_memories / 2),
            rerankers=self.models.rerankers(request.caller, within=self._for_memories / 4),
            count_tokens=self._count_tokens,
            policy=request.settings.policy,
        )

    async def _notes_of(self, request: _Request) -> AutoRetrievalHits:
        settings = request.settings
        wanted = NoteSelection(
            paths=settings.obsidian_context_notes, tag=settings.obsidian_context_tag
        )
        enabled = settings.auto_retrieve_enabled and settings.obsidian_context_enabled
        is_theirs = request.caller.tenant_id == self._notes_tenant_id
        is_theirs = is_theirs and request.caller.reader is None  # notes name no readers
        if self._notes is None or not (is_theirs and enabled and request.select.notes):
            return AutoRetrievalHits()
        if wanted.is_empty:
            return AutoRetrievalHits()
        found, why = await self._within(
            self._limits.notes, self._notes.read(wanted), source="notes"
        )
        if found is None:
            return AutoRetrievalHits(skipped=(Skipped(source="notes", why=str(why)),))
        if found.notes:
            current, why = await self._within(
                self._for_memories, _without_replaced(request.caller, found), source="facts"
            )
            found = current or found
        skipped = [Skipped(source="notes", name=one.path, why=one.why) for one in found.skipped]
        return AutoRetrievalHits(notes=found.notes, skipped=tuple(skipped))

    async def _within(
        self, limit: timedelta, work: Coroutine[Any, Any, Result], *, source: str
    ) -> _Attempt[Result]:
        """What a source gives within its limit, or why it gives nothing.

        After the limit it is cancelled and not awaited, since a server that hangs may delay even the cancellation.
        """
        task = asyncio.create_task(work)
        self._left.add(task)
        task.add_done_callback(self._ended)
        try:
            done, _ = await asyncio.wait({task}, timeout=limit.total_seconds())
            if done:
                return task.result(), None
            why = f"does not answer within {limit.total_seconds():g} s"
        except MnesticError as error:
            why = str(error)
        finally:
            task.cancel()
        shown = why.encode(
            "utf-8", "backslashreplace"
        ).decode()  # it may name a file by half of a character
        log.warning("%s skipped: %s", source, shown)
        return None, why

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._left.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.debug("a source that was left has failed", extra={"why": type(error).__name__})


def _scope_of(caller: Caller) -> CacheScope:
    """The agent; a retriever serves one database."""
    return CacheScope("", caller.tenant_id, caller.agent_id)


async def _begun(begin: Begin) -> tuple[AgentSettings, datetime]:
    async with begin() as transaction:
        return settings_of(await transaction.settings.read()), await transaction.now()


async def _without_replaced(begin: Begin, found: NoteResults) -> NoteResults:
    """The notes without sentences that state what the agent's facts have replaced."""
    async with begin() as transaction:
        facts, _ = await transaction.facts.list_facts(
            subject=names_in(found.notes), statuses=get_args(FactStatus), limit=_MOST_FACTS
        )
    return without_replaced(found, facts)


def _skipped_parts(found: Retrieval) -> tuple[Skipped, ...]:
    return tuple(
        Skipped(source="memories", name=name, why=why) for name, why in found.skipped.items()
    )


async def _latest(begin: Begin, channel: str, session_id: str | None) -> _Latest:
    async with begin() as transaction:
        return _Latest(
            channel=await _last_messages(transaction, EntryQuery(channel=channel)),
            session=()
            if session_id is None
            else await _last_messages(transaction, EntryQuery(session_id=session_id)),
        )


async def _last_messages(transaction: Transaction, query: EntryQuery) -> tuple[ChannelMessage, ...]:
    """The last messages, the oldest first."""
    messages = query.model_copy(update={"entry_types": ("interaction",)})
    entries, _ = await transaction.entries.list_entries(messages, limit=MESSAGES)
    return tuple(message_of(entry) for entry in reversed(entries))

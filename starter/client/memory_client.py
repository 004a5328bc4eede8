"""An agent's memory from outside a job: records, messages, episodes, facts; entries and retrieval have modules of their own."""

import uuid
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from mnestic.activities.forgetting.exports import export_lines
from mnestic.activities.forgetting.imports import ExportReader
from mnestic.activities.knowledge.inbox_messages import retry_parked, retry_signal
from mnestic.activities.knowledge.receiving import receive
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.contexts import ContextBuilder
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.canonical import check_json
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.export_lines import ExportLine, ImportCount
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.records import LongTermRecord, RecordRef
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.entries import EntryType
from mnestic.memory.knowledge.inbox import find_refused
from mnestic.memory.knowledge.ingestion import IncomingMessage, IngestCounts, PendingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.starter.client.forgetting import ForgettingClient
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.memory_wiring import local_models, token_counter


class MemoryClient(ForgettingClient):
    """One agent's memory. Each call is a transaction of its own, with audit rows."""

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
        super().__init__(memory, tenant_id=tenant_id, agent_id=agent_id)
        self._models = models or local_models()
        self._count_tokens = token_counter()
        self._contexts = ContextBuilder(models=self._models, count_tokens=self._count_tokens)
        self._auto = auto or AutoRetriever(models=self._models, count_tokens=self._count_tokens)
        self._reach, self._extraction = reach, extraction

    async def get(self, namespace: str, key: str) -> LongTermRecord:
        """A long-term record.

        Raises:
            NotFoundError: there is none, or it is deleted or expired.
        """
        async with self._transaction(write=False) as transaction:
            return await transaction.records.get(namespace, key)

    async def set(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
        operation_key: str | None = None,
    ) -> LongTermRecord:
        """Writes a long-term record.

        Args:
            namespace: The record's namespace, 1 to 256 characters.
            key: The record's key in it, likewise.
            value: Any JSON value but null.
            ttl: How long the record lives; for ever without it.
            expected_version: The version that the write is based on; 0 for a new record.
            operation_key: The same key with the same request is written once.

        Raises:
            StaleVersionError: the record has another version; holds what is stored.
            InvalidInputError: the value cannot be stored.
            IdempotencyConflictError: the key was used for another request.
        """
        check_json(value, what="value")
        operation = Operation(key=operation_key or f"client/{uuid.uuid4().hex}", name="set")
        request = [namespace, key, value, ttl.total_seconds() if ttl else None, expected_version]
        async with self._transaction(write=True) as transaction:
            stored = await transaction.replay(operation, operation.request_hash(request))
            if stored is not None:
                return LongTermRecord.model_validate(stored)
            record = await transaction.records.set(
                namespace, key, value, ttl=ttl, expected_version=expected_version
            )
            await transaction.complete(operation, record.model_dump(mode="json"))
            return record

    async def delete(
        self, namespace: str, key: str, *, expected_version: int | None = None
    ) -> RecordRef:
        """Deletes a long-term record.

        Raises:
            NotFoundError: there is none.
            StaleVersionError: it has another version.
        """
        async with self._transaction(write=True) as transaction:
            return await transaction.records.delete(
                namespace, key, expected_version=expected_version
            )

    async def list_records(
        self, namespace: str | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """Records in the order of namespace and key, and the cursor of the next page."""
        async with self._transaction(write=False) as transaction:
            return await transaction.records.list_by_namespace(
                namespace, limit=limit, cursor=cursor
            )

    async def list_episodes(
        self, *, session_id: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> tuple[tuple[Episode, ...], str | None]:
        """Episodes of the agent or of one session, newest first."""
        async with self._transaction(write=False) as transaction:
            if session_id is None:
                return await transaction.episodes.list_by_agent(limit=limit, cursor=cursor)
            return await transaction.episodes.list_by_session(
                session_id, limit=limit, cursor=cursor
            )

    async def working_memory(self, session_id: str) -> WorkingMemory:
        """A session's working memory."""
        async with self._transaction(write=False) as transaction:
            return await transaction.working.load(session_id)

    async def receive(self, messages: Sequence[Resource]) -> int:
        """Keeps raw messages; returns how many were new."""
        async with self._transaction(write=True) as transaction:
            return await transaction.resources.append(messages)

    async def learn(
        self,
        messages: Sequence[Resource | IncomingMessage],
        *,
        entry_type: EntryType = "interaction",
    ) -> int:
        """Keeps raw messages, each an entry at once, to be learned from; returns how many were new.

        What a tool returned comes as `IncomingMessage` of kind `tool_result`, with its name as the speaker.

        Raises:
            InvalidInputError: a message cannot be stored; names it. None was kept.
        """
        async with self._transaction(write=True) as transaction:
            new = await receive(transaction, messages, owner=self._owner, entry_type=entry_type)
        self._extract_soon()
        return new

    async def count_learning(self) -> IngestCounts:
        """How many messages are how far."""
        async with self._transaction(write=False) as transaction:
            return await transaction.ingest_states.count()

    async def list_parked(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[PendingMessage, ...], str | None]:
        """Messages that could not be learned from, with the reasons, and the next page's cursor."""
        async with self._transaction(write=False) as transaction:
            return await transaction.ingest_states.list_by_state(
                "parked", limit=limit, cursor=cursor
            )

    async def retry_parked(self, lessons: Sequence[PendingMessage]) -> int:
        """Lets parked messages be learned from again, by the next `IngestMessages`; returns how many.

        A signal that an inbox refused is read again, and stays parked if it cannot be kept now either.
        """
        signals = [(lesson, find_refused(lesson.resource)) for lesson in lessons]
        async with self._transaction(write=True) as transaction:
            said = [lesson for lesson, signal in signals if signal is None]
            retried = await retry_parked(transaction, said, owner=self._owner)
        for lesson, signal in signals:
            if signal is None:
                continue
            with suppress(InvalidInputError):
                async with self._transaction(write=True) as transaction:
                    retried += await retry_signal(transaction, lesson, signal, owner=self._owner)
        return retried

    async def drop_parked(self, lessons: Sequence[PendingMessage]) -> int:
        """Gives parked messages up; the raw messages stay."""
        async with self._transaction(write=True) as transaction:
            return await transaction.ingest_states.drop(lessons)

    def export(self) -> AsyncGenerator[ExportLine, None]:
        """All of the agent's memory, line by line, as it is when the first line is taken; `import_lines` reads it back.

        Jobs and what belongs to them are no memory: waits, snapshots, plans and large results of tools. Nor are costs,
        events, the audit log, and what was put before messages.
        """
        return export_lines(self._caller)

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
        count = await ExportReader(self._caller, source=source).read(lines)
        self._extract_soon()
        return count

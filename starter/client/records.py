"""What jobs write: `memory.records`, `memory.episodes`, `memory.working_memory`; and what frameworks do: `memory.history`."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mnestic.activities.jobs.record_writes import write_record
from mnestic.activities.knowledge.history_items import (
    append_items,
    clear_items,
    pop_item,
    read_items,
    until_current,
)
from mnestic.memory.canonical import check_json
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.histories import HistoryItems, ItemText
from mnestic.memory.jobs.long_term.filters import QueryFilter, read_filter
from mnestic.memory.jobs.long_term.records import LongTermRecord, RecordRef
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.operations import Operation
from mnestic.memory.scope import Scope, check_id
from mnestic.starter.client.client_scope import ClientPart


class RecordClient(ClientPart):
    """The long-term records of one agent. Each call is a transaction of its own, with audit rows."""

    async def get(self, namespace: str, key: str) -> LongTermRecord:
        """A long-term record.

        Raises:
            NotFoundError: there is none, or it is deleted or expired.
        """
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.records.get(namespace, key)

    async def set(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
        metadata: dict[str, Any] | None = None,
        operation_key: str | None = None,
    ) -> LongTermRecord:
        """Writes a long-term record; if the agent's contract has a schema of that namespace, the value must fit it.

        Args:
            namespace: The record's namespace, 1 to 256 characters.
            key: The record's key in it, likewise.
            value: Any JSON value but null.
            ttl: How long the record lives; for ever by default.
            expected_version: The version that the write is based on; 0 for a new record.
            metadata: What is known of it beside its value, such as its source.
            operation_key: The same key with the same request is written once.

        Raises:
            StaleVersionError: the record has another version; holds what is stored.
            InvalidInputError: the value cannot be stored.
            KeptOutError: it speaks of what was forgotten and is kept out.
            IdempotencyConflictError: the key was used for another request.
        """
        check_json(value, what="value")  # which the request's hash is made of
        operation = Operation(key=operation_key or f"client/{uuid.uuid4().hex}", name="set")
        request = [namespace, key, value, ttl.total_seconds() if ttl else None, expected_version]
        request += [metadata] if metadata is not None else []
        async with self._scope.transaction(write=True) as transaction:
            stored = await transaction.replay(operation, operation.request_hash(request))
            if stored is not None:
                return LongTermRecord.model_validate(stored)
            record = await write_record(
                transaction,
                namespace,
                key,
                value=value,
                ttl=ttl,
                expected_version=expected_version,
                metadata=metadata,
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
        async with self._scope.transaction(write=True) as transaction:
            return await transaction.records.delete(
                namespace, key, expected_version=expected_version
            )

    async def list(
        self, namespace: str | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """Records in the order of namespace and key, and the cursor of the next page."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.records.list_by_namespace(
                namespace, limit=limit, cursor=cursor
            )

    async def query(
        self, namespace: str, where: QueryFilter | dict[str, Any] | None = None
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """The records of a namespace that pass a filter, in its order, and the cursor of the next page.

        Args:
            namespace: The namespace, such as the id of a schema of the agent's contract.
            where: As `mnestic.memory.jobs.long_term.filters.QueryFilter`; all records by default.

        Raises:
            InvalidInputError: names what is wrong with the filter, or the cursor is of another list.
        """
        found = read_filter(where)
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.records.query(namespace, found)


class EpisodeClient(ClientPart):
    """The episodes of one agent, which its jobs write."""

    async def list(
        self, *, session_id: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> tuple[tuple[Episode, ...], str | None]:
        """Episodes of the agent or of one session, newest first."""
        async with self._scope.transaction(write=False) as transaction:
            if session_id is None:
                return await transaction.episodes.list_by_agent(limit=limit, cursor=cursor)
            return await transaction.episodes.list_by_session(
                session_id, limit=limit, cursor=cursor
            )


class WorkingMemoryClient(ClientPart):
    """The working memory of one agent, by session. Jobs write it; `memory.contract` has its segments."""

    async def get(self, session_id: str) -> WorkingMemory:
        """A session's working memory."""
        async with self._scope.transaction(write=False) as transaction:
            transaction.end_with_next()
            return await transaction.working.load(session_id)

    async def end_session(self, session_id: str) -> None:
        """Ends a session: what its segments have goes, but for persistent ones. Messages and variables stay.

        Nothing else ends a session: jobs of it may follow one another.

        Raises:
            InvalidInputError: the agent has no contract with segments in force.
        """
        from mnestic.activities.jobs.segments import (  # noqa: PLC0415 - who only searches has no segments
            SegmentInput,
            find_contract,
            require_rules,
        )

        caller = self._scope.caller
        scope = Scope(
            tenant_id=caller.tenant_id,
            agent_id=caller.agent_id,
            session_id=check_id(session_id, what="session"),
        )
        async with self._scope.transaction(write=True) as transaction:
            params = SegmentInput(
                scope=scope,
                operation=Operation(key=f"client/{uuid.uuid4()}", name="end_session"),
                contract=await find_contract(transaction, caller.agent_id),
            )
            state = await transaction.working.load(session_id, lock=True)
            ended = await self._scope.segment_writer().end_session(
                transaction, params, state, rules=await require_rules(transaction, params)
            )
            if ended is not state:
                await transaction.working.save(session_id, ended)


class HistoryClient(ClientPart):
    """The histories of one agent's conversations, by session, in the form of the framework that they come from."""

    async def append(
        self,
        session_id: str,
        items: Sequence[dict[str, Any]],
        *,
        texts: Sequence[ItemText] = (),
        operation_key: str | None = None,
    ) -> None:
        """Appends items, all or none; what is said in them is memory at once, and facts are extracted from it later.

        Args:
            session_id: The conversation.
            items: JSON objects.
            texts: What is said in them.
            operation_key: The same key with the same items is stored once.

        Raises:
            InvalidInputError: an item is no JSON object, or what is said cannot be stored.
            IdempotencyConflictError: the key was used for another batch.
        """
        session_id = self._checked(session_id)
        if not items:
            return
        if not all(isinstance(item, dict) for item in items):
            raise InvalidInputError(what="items", why="is no list of JSON objects")
        check_json(list(items), what="items")  # which the request's hash is made of
        operation = Operation(key=operation_key or f"client/{uuid.uuid4().hex}", name="append")
        request = [session_id, list(items), [text.model_dump() for text in texts]]

        async def attempt() -> None:
            async with self._scope.transaction(write=True) as transaction:
                if await transaction.replay(operation, operation.request_hash(request)) is None:
                    await append_items(
                        transaction,
                        session_id,
                        items,
                        texts=texts,
                        batch_id=operation.key,
                        owner=self._scope.caller.owner,
                    )
                    await transaction.complete(operation, HistoryItems().model_dump())

        await until_current(attempt)
        self._scope.start_extraction()

    async def read(
        self, session_id: str, *, limit: int | None = None
    ) -> tuple[dict[str, Any], ...]:
        """The last items in their order, or all."""
        session_id = self._checked(session_id)
        async with self._scope.transaction(write=False) as transaction:
            return await read_items(transaction, session_id, limit=limit)

    async def pop(self, session_id: str) -> dict[str, Any] | None:
        """Removes the last item, with its message and what was learned from that alone; gives it, or None."""
        session_id = self._checked(session_id)

        async def attempt() -> dict[str, Any] | None:
            async with self._scope.transaction(write=True) as transaction:
                owner = self._scope.caller.owner
                return await pop_item(transaction, session_id, owner=owner)

        return await until_current(attempt)

    async def clear(self, session_id: str) -> None:
        """Removes all items; what was learned from them stays, until it is forgotten."""
        session_id = self._checked(session_id)

        async def attempt() -> None:
            async with self._scope.transaction(write=True) as transaction:
                await clear_items(transaction, session_id)

        await until_current(attempt)

    def _checked(self, session_id: str) -> str:
        self._scope.caller.check_own("conversation histories are")
        return check_id(session_id, what="session")

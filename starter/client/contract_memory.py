"""The memory of one agent by its contract: the operations of the document, each done by the part of memory that has it."""

import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from mnestic.activities.graph.engines import engines_of
from mnestic.activities.jobs.channels import last_number
from mnestic.activities.jobs.collections import Collections
from mnestic.activities.jobs.memory_operations import MemoryOperations, prepared
from mnestic.activities.jobs.record_writes import list_conflicts, take_conflict, write_record
from mnestic.activities.jobs.segments import SegmentInput
from mnestic.activities.jobs.shared_memory import try_again
from mnestic.memory.contract.document import MemoryContract, MemorySections
from mnestic.memory.contract.versions import ContractVersion
from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.jobs.long_term.conflicts import PersistedRecord, RecordConflict
from mnestic.memory.jobs.long_term.document_operations import (
    UpsertedDocument,
)
from mnestic.memory.jobs.long_term.filters import QueryFilter
from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord
from mnestic.memory.jobs.long_term.schemas import Misfit, misfit_of
from mnestic.memory.jobs.memory_operations import (
    OPERATIONS,
    EventList,
    OperationName,
    PublishedEvent,
    RecordPage,
    access_of,
    check_arguments,
)
from mnestic.memory.jobs.short_term.segments import ContractRef, SegmentContext
from mnestic.memory.operations import Operation
from mnestic.memory.scope import Scope, check_id
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.starter.checked_texts import FreeText, check_texts
from mnestic.starter.client.client_scope import ClientScope
from mnestic.starter.client.shared_memory import Result, SharedMemory, seconds_of
from mnestic.starter.contract.collection_operations import CollectionOperations
from mnestic.starter.graph.contract_graph import ContractGraph

_EVERY_S = 5.0  # between two looks of a subscription, where nothing wakes it
_ADVANCES_S = (
    3600.0  # between two moves of a place past events of other channels, before they are trimmed
)


async def open_contract(
    scope: ClientScope, *, session_id: str | None, of: tuple[str, str] | None = None
) -> "ContractMemory":
    """The memory of an agent by the contract in force, for the access `of`: an action and a target of the audit log.

    Raises:
        InvalidInputError: the session is no id, or it is asked for a reader.
        NotFoundError: no contract is in force for the agent.
    """
    scope.caller.check_own("what a contract keeps is")
    agent_id = scope.caller.agent_id
    async with scope.transaction(write=False) as transaction:
        if of is not None:
            transaction.audit.attempt(*of)
        if session_id is not None:
            check_id(session_id, what="session")
        found = await transaction.contracts.find_for(agent_id)
        if found is None:
            raise NotFoundError(what="contract for agent", name=agent_id)
    return ContractMemory(scope, found, session_id=session_id)


class ContractMemory(
    SharedMemory, ContractGraph, CollectionOperations, unchecked=(*OPERATIONS, "operate")
):
    """The memory of one agent, as the contract says that was in force when this was made. Each call is a transaction of its own."""

    def __init__(
        self, scope: ClientScope, contract: ContractVersion, *, session_id: str | None = None
    ) -> None:
        """Prepares it.

        Args:
            scope: The agent's memory.
            contract: The contract in force for the agent.
            session_id: The session whose segments `get_context`, `set_context` and `summarize` are about.

        Raises:
            InvalidInputError: the session is no id.
        """
        self._scope, self._contract, self._session_id = scope, contract, session_id
        if session_id is not None:
            check_id(session_id, what="session")
        self._config = MemoryContract.model_validate(contract.document).Memory
        collections = Collections(
            scope.models, count_tokens=scope.count_tokens, rules=self._config.vector
        )
        self._operations = MemoryOperations(
            scope.segment_writer(),
            collections,
            engines=engines_of(scope.caller.memory),
            long_term=self._config.long_term,
        )

    @property
    def config(self) -> MemorySections:
        """What the contract says, with `${NAME}` for what the environment fills in."""
        return self._config

    async def get_context(self, segment_id: str) -> SegmentContext:
        """What a segment of the session has, with its tokens.

        Raises:
            InvalidInputError: there is no such segment, or no session.
        """
        return await self._do("get_context", SegmentContext, segment_id=segment_id)

    async def set_context(self, segment_id: str, content: FreeText) -> SegmentContext:
        """Puts a text in the place of all that a segment has; what is too large is cut at a sentence.

        Raises:
            InvalidInputError: there is no such segment, no session, or what stays in others leaves no room.
            KeptOutError: the text speaks of what was forgotten and is kept out.
        """
        return await self._do("set_context", SegmentContext, segment_id=segment_id, content=content)

    async def summarize(self, segment_id: str) -> str:
        """Summarizes all texts of a segment but the newest, by their key sentences; returns what the segment has then.

        The ledger says so where the contract has another strategy: only workers ask the chat model.

        Raises:
            InvalidInputError: there is no such segment, or no session.
        """
        return (await self._do("summarize", SegmentContext, segment_id=segment_id)).content

    async def persist(
        self,
        schema_id: str,
        key: str,
        value: Any,
        *,
        metadata: dict[str, Any] | None = None,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
    ) -> PersistedRecord:
        """Writes a record of a schema; on a stale `expected_version` the contract's `conflict_resolution` decides.

        Raises:
            InvalidInputError: there is no such schema, or the value does not fit it.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        return await self._do(
            "persist",
            PersistedRecord,
            schema_id=schema_id,
            key=key,
            value=value,
            metadata=metadata,
            ttl_seconds=seconds_of(ttl),
            expected_version=expected_version,
        )

    async def retrieve(self, schema_id: str, key: str) -> Any:
        """The value of a record of a schema.

        Raises:
            InvalidInputError: there is no such schema.
            NotFoundError: there is no such record, or it has expired.
        """
        return (await self._do("retrieve", ReadRecord, schema_id=schema_id, key=key)).value

    async def query(
        self, schema_id: str, where: QueryFilter | dict[str, Any] | None = None
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """The records of a schema that pass a filter, in its order, and the cursor of the next page.

        Args:
            schema_id: The schema.
            where: As `mnestic.memory.jobs.long_term.filters.QueryFilter`; all records by default.

        Raises:
            InvalidInputError: there is no such schema, or the filter is invalid.
        """
        page = await self._do("query", RecordPage, schema_id=schema_id, filter=where or {})
        return page.records, page.next_cursor

    async def publish(self, channel: str, event: dict[str, Any]) -> str:
        """Publishes an event on a channel; returns its id. Jobs that wait for it go on with it.

        Raises:
            AccessDeniedError: the contract does not have the channel.
            KeptOutError: the event speaks of what was forgotten and is kept out.
        """
        return (await self._do("publish", PublishedEvent, channel=channel, event=event)).id

    async def list_events(
        self, channel: str, *, after: int | None = None, limit: int = 100
    ) -> tuple[ChannelEvent, ...]:
        """The events of a channel, or of a pattern of channels, in their order.

        Args:
            channel: Which; in a pattern `*` stands for any characters.
            after: The number of the last event seen; by default all that are kept.
            limit: How many at the most.

        Raises:
            AccessDeniedError: the contract does not have the channel.
            EventsTrimmedError: some of those after the number are no longer kept.
        """
        arguments = {"channel": channel, "after": after, "limit": limit}
        return (await self._do("list_events", EventList, **arguments)).events

    async def subscribe(
        self,
        channel: str,
        handler: Callable[[ChannelEvent], Awaitable[None]],
        *,
        name: str | None = None,
        after: int | None = None,
    ) -> None:
        """Hands each event of a channel, or of a pattern of channels, to a handler, until it is cancelled.

        Each comes at least once and in order: if the handler raises, so does this, and a subscription of that name gets the
        event again. Its `id` tells whether it came before.

        Args:
            channel: Which; in a pattern `*` stands for any characters.
            handler: It is given one event at a time.
            name: Under which the agent's subscription to this channel goes on where it was; without one it begins anew.
            after: The number of the event before its first; by default it begins with those to come. A subscription whose
                name was there before goes on where it was.

        Raises:
            AccessDeniedError: the contract does not have the channel.
            EventsTrimmedError: events that it has not seen are no longer kept.
        """
        async with self._scope.listen() as rest:
            async with self._scope.transaction(write=False) as transaction:
                at = None if name is None else await transaction.channels.find_place(name, channel)
                if at is None:
                    at = await last_number(transaction, channel) if after is None else after
            async for event in self._follow(channel, at, name=name, rest=rest):
                await handler(event)
                await self._save_place(name, channel, event.number)

    async def _follow(
        self, channel: str, at: int, *, name: str | None, rest: Callable[[float], Awaitable[bool]]
    ) -> AsyncIterator[ChannelEvent]:
        """The events of a channel after a number, without end; saves the place before the first, and where it is hours later."""
        last, saves = at, 0.0
        while True:
            events = await self.list_events(channel, after=at)
            if not events:
                at = last  # what came until then is of other channels
            if time.monotonic() >= saves:
                await self._save_place(name, channel, at)
                saves = time.monotonic() + _ADVANCES_S
            for event in events:
                yield event
                at = event.number
            last = at
            while not events and last == at and not await rest(_EVERY_S):
                async with self._scope.transaction(write=False) as transaction:
                    last = await last_number(transaction, channel)

    async def _save_place(self, name: str | None, channel: str, number: int) -> None:
        if name is not None:
            async with self._scope.transaction(write=True) as transaction:
                await transaction.channels.save_place(name, channel, number)

    async def list_misfits(
        self, schema_id: str, *, limit: int = 1000, cursor: str | None = None
    ) -> tuple[tuple[Misfit, ...], str | None]:
        """Those of so many records that do not fit the schema in force any more, and the cursor of the next ones.

        They stay readable, and are refused at their next write.

        Raises:
            InvalidInputError: there is no such schema, or the cursor is of another list.
        """
        async with self._scope.transaction(write=False) as transaction:
            rules = await transaction.records.find_rules(schema_id)
            if rules is None:
                raise InvalidInputError(what="schema", why=f"{schema_id!r} is not in the contract")
            records, following = await transaction.records.list_by_namespace(
                schema_id, limit=limit, cursor=cursor
            )
        found = (misfit_of(rules, record) for record in records)
        return tuple(one for one in found if one is not None), following

    async def resend(self, schema_id: str) -> int:
        """Has all records of a schema sent to its backend again, as after it lost some; returns how many a worker sends.

        Raises:
            InvalidInputError: the schema has no backend of its own.
        """
        if schema_id not in self._config.long_term.remote_schemas:
            raise InvalidInputError(what="schema", why=f"{schema_id!r} has no backend of its own")
        async with self._scope.transaction(write=True) as transaction:
            return await transaction.records.send_again([schema_id], of_all_agents=False)

    async def list_conflicts(
        self, schema_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[RecordConflict, ...], str | None]:
        """Writes to a schema that wait for a decision, and the cursor of the next page.

        Raises:
            InvalidInputError: the cursor is of another list.
        """
        async with self._scope.transaction(write=False) as transaction:
            return await list_conflicts(transaction, schema_id, limit=limit, cursor=cursor)

    async def resolve_conflict(
        self, schema_id: str, conflict_id: str, value: Any
    ) -> LongTermRecord:
        """Ends a conflict by what is to be stored: the value of the conflict, or another one.

        Raises:
            NotFoundError: there is no such conflict.
            InvalidInputError: the value does not fit the schema.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        async with self._scope.transaction(write=True) as transaction:
            waited = await take_conflict(transaction, schema_id, conflict_id)
            return await write_record(
                transaction,
                schema_id,
                waited.key,
                value=value,
                metadata=waited.metadata,
                ttl=waited.ttl,
            )

    async def drop_conflict(self, schema_id: str, conflict_id: str) -> None:
        """Ends a conflict: what is stored stays.

        Raises:
            NotFoundError: there is no such conflict.
        """
        async with self._scope.transaction(write=True) as transaction:
            await take_conflict(transaction, schema_id, conflict_id)

    async def operate(self, name: OperationName, arguments: dict[str, Any]) -> BaseModel:
        """Does an operation by its name; `mnestic.memory.jobs.memory_operations` says what each takes and gives.

        Raises:
            InvalidInputError: an argument is invalid, there is no such segment or schema, or no session.
            NotFoundError: there is no such record, or it has expired.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        coordination = self._config.shared.coordination
        retries = coordination.retry_count if name == "lock" else 0
        return await try_again(lambda: self._attempt(name, arguments), retries=retries)

    async def _attempt(self, name: OperationName, arguments: dict[str, Any]) -> BaseModel:
        operation, caller = OPERATIONS[name], self._scope.caller
        params = SegmentInput(
            scope=Scope(
                tenant_id=caller.tenant_id,
                agent_id=caller.agent_id,
                session_id=self._session_id or caller.agent_id,  # records are of no session
            ),
            operation=Operation(key=f"client/{uuid.uuid4()}", name=name),
            contract=ContractRef(selector=self._contract.selector, version=self._contract.version),
        )
        access = access_of(name, arguments, session_id=self._session_id)
        async with self._scope.transaction(write=operation.writes) as transaction:
            transaction.audit.attempt(*access)
            for field, value in arguments.items():
                check_texts(value, field)
            checked = check_arguments(name, arguments)
            if operation.of_session and self._session_id is None:
                raise InvalidInputError(what="session", why="is not named; give session_id")
            prepare = await self._operations.prepare(transaction, params, checked, caller=caller)
            if prepare is None:
                return await self._operations.do(transaction, params, checked)
        step = await prepared(prepare)  # what takes long, with no transaction open
        async with self._scope.transaction(write=operation.writes) as transaction:
            transaction.audit.attempt(*access)
            result = await self._operations.do(transaction, params, checked, step=step)
        if isinstance(result, UpsertedDocument) and not result.embedded:
            self._scope.start_extraction()  # which makes the vectors
        return result

    async def _do(self, name: OperationName, result_type: type[Result], **arguments: Any) -> Result:
        result = await self.operate(name, arguments)
        assert isinstance(result, result_type), "as the table says"
        return result

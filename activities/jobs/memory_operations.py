"""The operations of a memory contract, done in a transaction: for a client, or for a job (`contracts.py`)."""

from collections.abc import Awaitable, Callable
from functools import partial

from pydantic import BaseModel

from mnestic.activities.callers import Caller
from mnestic.activities.graph.contract_graph import prepare_query, use_graph
from mnestic.activities.graph.engines import GraphEngines, GraphKey
from mnestic.activities.jobs.channels import use_channels
from mnestic.activities.jobs.collections import (
    CollectionArguments,
    Collections,
    PreparedVectors,
)
from mnestic.activities.jobs.record_writes import persist_record
from mnestic.activities.jobs.segments import (
    SegmentInput,
    SegmentStep,
    SegmentWriter,
    find_section,
    require_rules,
    rule_of,
)
from mnestic.activities.jobs.shared_memory import use_shared_memory
from mnestic.memory.contract.document import GraphMemory, LongTerm
from mnestic.memory.errors import InvalidInputError, NotFoundError, RefusedError
from mnestic.memory.graph.graph import GraphRows
from mnestic.memory.graph.operations import GraphArguments, QueryGraphArguments
from mnestic.memory.jobs.long_term.conflicts import PersistedRecord
from mnestic.memory.jobs.long_term.document_operations import (
    DeleteDocumentArguments,
    EmbedArguments,
    SearchDocumentsArguments,
    SearchResults,
    UpsertArguments,
)
from mnestic.memory.jobs.memory_operations import (
    GetContextArguments,
    ListEventsArguments,
    PersistArguments,
    PublishArguments,
    QueryArguments,
    RecordPage,
    RetrieveArguments,
    SetContextArguments,
    SummarizeArguments,
)
from mnestic.memory.jobs.short_term.segments import ContractRef, SegmentContext, SegmentEntry
from mnestic.memory.knowledge.resources import check_content
from mnestic.memory.operation_arguments import OperationArguments
from mnestic.memory.ports import Transaction

Prepared = SegmentStep | PreparedVectors | SearchResults | GraphRows | RefusedError


class MemoryOperations:
    """Does the operations in a transaction of the agent."""

    def __init__(
        self,
        segments: SegmentWriter,
        collections: Collections,
        *,
        engines: GraphEngines,
        long_term: LongTerm | None = None,
    ) -> None:
        """Prepares them.

        Args:
            segments: Writes segments of working memory.
            collections: Writes and searches documents.
            engines: Runs queries of graphs.
            long_term: The rules of records; by default they are read from the contract of each operation.
        """
        self._segments, self._collections = segments, collections
        self._engines, self._long_term = engines, long_term

    async def prepare(
        self,
        transaction: Transaction,
        params: SegmentInput,
        arguments: OperationArguments,
        *,
        caller: Caller,
    ) -> Callable[[], Awaitable[Prepared]] | None:
        """What an operation needs that is made outside of a transaction: a summary, vectors, or what a query of the graph finds.

        None if it needs none.

        Raises:
            InvalidInputError: the contract has no such segment, collection or query.
        """
        if isinstance(arguments, CollectionArguments):
            return await self._collections.prepare(transaction, params, arguments, caller=caller)
        if isinstance(arguments, QueryGraphArguments):
            rules_of_graph = await _graph_rules(transaction, params)
            contract, scope = params.contract or ContractRef(), params.scope
            key = GraphKey(scope.tenant_id, scope.agent_id, contract.selector, contract.version)
            return await prepare_query(
                transaction, rules_of_graph, arguments, engines=self._engines, key=key
            )
        if not isinstance(arguments, SummarizeArguments):
            return None
        rules = await require_rules(transaction, params)
        rule_of(rules, arguments.segment_id)  # refused here, where the audit log is told
        return partial(
            self._segments.summarize_now,
            params,
            await transaction.working.load(params.scope.session_id),
            rules=rules,
            segment_id=arguments.segment_id,
            at=await transaction.now(),
        )

    async def do(
        self,
        transaction: Transaction,
        params: SegmentInput,
        arguments: OperationArguments,
        *,
        step: Prepared | None = None,
    ) -> BaseModel:
        """Does an operation whose attempt the audit log has been told; its result is what the table says.

        Raises:
            InvalidInputError: the contract has no such segment, schema or collection, or the value does not fit it.
            NotFoundError: there is no such record or document, or it has expired.
            KeptOutError: a text speaks of what was forgotten and is kept out.
        """
        if isinstance(step, RefusedError):
            raise step  # here, so that the audit log has it
        return await self._result(transaction, params, arguments, step=step)

    async def _result(
        self,
        transaction: Transaction,
        params: SegmentInput,
        arguments: OperationArguments,
        *,
        step: Prepared | None,
    ) -> BaseModel:
        result: BaseModel
        match arguments:
            case GraphArguments():
                result = await _use_graph(transaction, params, arguments, found=step)
            case PersistArguments():
                result = await self._persist(transaction, params, arguments)
            case RetrieveArguments():
                await self._rules_of(transaction, params, arguments.schema_id)
                result = await _retrieve(transaction, params, arguments)
            case QueryArguments():
                await self._rules_of(transaction, params, arguments.schema_id)
                transaction.audit.complete()
                transaction.end_with_next()
                found = await transaction.records.query(arguments.schema_id, arguments.filter)
                return RecordPage(records=found[0], next_cursor=found[1])
            case PublishArguments() | ListEventsArguments():
                result = await use_channels(transaction, params, arguments)
            case (
                EmbedArguments()
                | SearchDocumentsArguments()
                | UpsertArguments()
                | DeleteDocumentArguments()
            ):
                result = await self._collections.do(transaction, params, arguments, made=step)
            case SetContextArguments() | GetContextArguments():
                result = await self._use_segment(transaction, params, arguments, step=step)
            case _:
                result = await use_shared_memory(transaction, params, arguments)
        transaction.audit.complete()
        return result

    async def _persist(
        self, transaction: Transaction, params: SegmentInput, arguments: PersistArguments
    ) -> PersistedRecord:
        rules = await self._rules_of(transaction, params, arguments.schema_id)
        new_id = params.new_id("conflict")
        return await persist_record(transaction, arguments, rules.sync, new_id=new_id)

    async def _rules_of(
        self, transaction: Transaction, params: SegmentInput, schema_id: str
    ) -> LongTerm:
        """The rules of records, which have the schema."""
        rules = self._long_term
        if rules is None:
            section = await find_section(transaction, params.contract, "long_term")
            rules = LongTerm.model_validate(section or {"enabled": False})
        names = [schema.schema_id for schema in rules.schemas] if rules.enabled else []
        if schema_id not in names:
            there = ", ".join(names) or "none"
            why = f"{schema_id!r} is not in the contract of agent {params.scope.agent_id}; there are {there}"
            raise InvalidInputError(what="schema", why=why)
        return rules

    async def _use_segment(
        self,
        transaction: Transaction,
        params: SegmentInput,
        arguments: SetContextArguments | GetContextArguments,
        *,
        step: Prepared | None,
    ) -> SegmentContext:
        if isinstance(arguments, SetContextArguments):
            return await self._set_context(transaction, params, arguments)
        return await self._context(transaction, params, arguments, step=step)

    async def _set_context(
        self, transaction: Transaction, params: SegmentInput, arguments: SetContextArguments
    ) -> SegmentContext:
        check_content(arguments.content, what="content")
        session_id = params.scope.session_id
        state = await transaction.working.load(session_id, lock=True)
        rules = await require_rules(transaction, params)
        await transaction.suppression_list.check(arguments.content, what="content")
        entry = SegmentEntry(
            id=params.new_id("context"),
            segment_id=arguments.segment_id,
            content=arguments.content,
            at=await transaction.now(),
        )
        state = await self._segments.replace(transaction, params, state, rules=rules, content=entry)
        await transaction.working.save(session_id, state)
        return self._segments.context(state, rules, arguments.segment_id)

    async def _context(
        self,
        transaction: Transaction,
        params: SegmentInput,
        arguments: GetContextArguments,
        *,
        step: Prepared | None,
    ) -> SegmentContext:
        """A segment as it is, or after a summary of it."""
        session_id = params.scope.session_id
        has_summary = isinstance(step, SegmentStep) and step.summary
        state = await transaction.working.load(session_id, lock=bool(has_summary))
        if isinstance(step, SegmentStep) and has_summary:
            state = await self._segments.write(transaction, params, state, step=step, messages=())
            await transaction.working.save(session_id, state)
        rules = await require_rules(transaction, params)
        return self._segments.context(state, rules, arguments.segment_id)


async def prepared(prepare: Callable[[], Awaitable[Prepared]] | None) -> Prepared | None:
    """What an operation needs that was made outside of a transaction, or why that was refused."""
    try:
        return None if prepare is None else await prepare()
    except RefusedError as error:
        return error


async def _use_graph(
    transaction: Transaction,
    params: SegmentInput,
    arguments: GraphArguments,
    *,
    found: Prepared | None,
) -> BaseModel:
    if isinstance(arguments, QueryGraphArguments):
        assert isinstance(found, GraphRows), "a query was run before"
        return found
    rules = await _graph_rules(transaction, params)
    return await use_graph(transaction, rules, arguments, new_id=params.new_id("edge"))


async def _graph_rules(transaction: Transaction, params: SegmentInput) -> GraphMemory:
    section = await find_section(transaction, params.contract, "graph")
    rules = GraphMemory.model_validate(section or {"enabled": False})
    if not rules.enabled:
        why = f"the contract of agent {params.scope.agent_id} has no graph that is enabled"
        raise InvalidInputError(what="graph", why=why)
    return rules


async def _retrieve(
    transaction: Transaction, params: SegmentInput, arguments: RetrieveArguments
) -> BaseModel:
    """A record as it is, or as the job has pinned it."""
    job_id = params.operation.job_id
    pinned = () if job_id is None else await transaction.records.list_reads(job_id, pinned=True)
    for read in pinned:
        if (read.namespace, read.key) == (arguments.schema_id, arguments.key):
            if read.value is None:
                raise NotFoundError(what="record", name=f"{read.namespace}/{read.key}")
            return read
    return (await transaction.records.get(arguments.schema_id, arguments.key)).read

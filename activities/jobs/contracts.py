"""What a job does with its agent's contract: finds the version that its run keeps, and does operations once."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.graph.engines import engines_of
from mnestic.activities.jobs.collections import Collections
from mnestic.activities.jobs.memory_operations import MemoryOperations, Prepared, prepared
from mnestic.activities.jobs.segments import (
    SegmentInput,
    SegmentStep,
    SegmentWriter,
    find_contract,
)
from mnestic.activities.jobs.shared_memory import count_retries, try_again
from mnestic.activities.jobs.template_values import fill_in, load_values
from mnestic.activities.operations import OperationInput, find_done, run_once
from mnestic.memory.jobs.contexts import PinnedEpisodes
from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord, RecordRef
from mnestic.memory.jobs.memory_operations import (
    OPERATIONS,
    OperationName,
    RecordPage,
    access_of,
    check_arguments,
)
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.operation_arguments import OperationArguments
from mnestic.memory.ports import Memory, Retriever, Transaction
from mnestic.memory.sharing.locks import Lock

_MAX_REFS = 10  # in a result, which travels through the workflow's history


class OperateInput(SegmentInput):
    """An operation of a job's contract, and the variable of working memory that takes its result, if one does.

    With `templates`, those of the arguments that name memory are filled in, also from `results` of nodes.
    """

    name: OperationName
    arguments: dict[str, Any]
    save_as: str | None = None
    templates: bool = False
    results: dict[str, Any] = Field(default_factory=dict)
    sealed_tail: PinnedEpisodes | None = None


class OperateResult(BaseModel):
    """What a job's operation was about: the first records, without content, the lock, and the variable that has the result."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    records: tuple[RecordRef, ...] = ()
    record_count: int = 0
    lock: Lock | None = None
    saved_as: str | None = None


class ContractActivities:
    """What jobs do with contracts."""

    def __init__(
        self,
        memory: Memory,
        retriever: Retriever,
        segments: SegmentWriter,
        *,
        collections: Collections,
    ) -> None:
        self._memory, self._retriever, self._segments = memory, retriever, segments
        self._operations = MemoryOperations(segments, collections, engines=engines_of(memory))

    @activity.defn(name="mnestic.pin_contract")
    async def pin_contract(self, params: OperationInput) -> ContractRef:
        """Finds the contract in force for the job's agent.

        Idempotent: it only reads.
        """
        with failures():
            async with params.transaction(self._memory, write=False) as transaction:
                return await find_contract(transaction, params.scope.agent_id)

    @activity.defn(name="mnestic.operate")
    async def operate(self, params: OperateInput) -> OperateResult:
        """Does an operation; its records enter the job's read set, its result a variable of working memory.

        Idempotent: by the operation's key, in the transaction of the writes.
        """
        with failures():
            async with params.transaction(self._memory, write=False) as transaction:
                if (done := await find_done(transaction, params, OperateResult)) is not None:
                    return done
                arguments = await self._arguments(transaction, params)
                prepare = await self._operations.prepare(
                    transaction, params, arguments, caller=params.caller(self._memory)
                )
                retries = await count_retries(transaction, params.contract, arguments)
            step = await prepared(prepare)
            return await try_again(
                lambda: run_once(
                    self._memory,
                    params,
                    OperateResult,
                    work=lambda transaction: self._operate(transaction, params, step),
                    beside=self._segments.row(params, step)
                    if isinstance(step, SegmentStep)
                    else None,
                ),
                retries=retries,
            )

    async def _operate(
        self, transaction: Transaction, params: OperateInput, step: Prepared | None
    ) -> OperateResult:
        # Locked before the read set, as everywhere.
        state = await transaction.working.load(params.scope.session_id, lock=True)
        arguments = await self._arguments(transaction, params, state)
        result = await self._operations.do(transaction, params, arguments, step=step)
        reads = _reads(result)
        if params.operation.job_id is not None and reads:
            await transaction.records.add_reads(params.operation.job_id, reads)
        if params.save_as is not None:
            if OPERATIONS[params.name].of_session:  # it may have changed working memory
                state = await transaction.working.load(params.scope.session_id)
            changed = state.with_variables({params.save_as: result.model_dump(mode="json")})
            await transaction.working.save(params.scope.session_id, changed)
        return OperateResult(
            records=tuple(read.ref for read in reads[:_MAX_REFS]),
            record_count=len(reads),
            lock=result if isinstance(result, Lock) else None,
            saved_as=params.save_as,
        )

    async def _arguments(
        self, transaction: Transaction, params: OperateInput, state: WorkingMemory | None = None
    ) -> OperationArguments:
        _attempt(transaction, params, params.arguments)
        if not params.templates:
            return check_arguments(params.name, params.arguments)
        state = state or await transaction.working.load(params.scope.session_id)
        values = await load_values(
            transaction,
            self._retriever,
            params,
            value=params.arguments,
            results=params.results,
            sealed_tail=params.sealed_tail,
        )
        arguments = fill_in(params.arguments, state, values)
        _attempt(transaction, params, arguments)
        return check_arguments(params.name, arguments)


def _attempt(transaction: Transaction, params: OperateInput, arguments: Any) -> None:
    action, target = access_of(params.name, arguments, session_id=params.scope.session_id)
    transaction.audit.attempt(action, target, operation_key=params.operation.key)


def _reads(result: BaseModel) -> tuple[ReadRecord, ...]:
    match result:
        case LongTermRecord():
            return (result.read,)
        case ReadRecord():
            return (result,)
        case RecordPage():
            return tuple(record.read for record in result.records)
    return ()

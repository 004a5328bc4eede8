"""Writing down what calls of models took.

Every activity that asks a model does so by the same rule: what was paid for is kept, also when its answer is not.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from mnestic.activities.operations import OperationInput
from mnestic.memory.models.errors import ModelRefusedError
from mnestic.memory.models.messages import ChatReply, Summary, TokenUsage
from mnestic.memory.models.usage import ModelCall, ModelPrices, Purpose
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry

Answer = TypeVar("Answer", ChatReply, Summary)
WriteRow = Callable[[Transaction], Awaitable[None]]


class UsageMeter:
    """The calls of one kind of activity, at the prices that are known."""

    def __init__(self, memory: Memory, prices: ModelPrices | None, *, purpose: Purpose) -> None:
        self._memory = memory
        self._prices = prices or ModelPrices({})
        self._purpose = purpose

    async def answer(
        self,
        params: OperationInput,
        answering: Awaitable[Answer],
        *,
        log_entry: RetrievalLogEntry | None = None,
    ) -> Answer:
        """Awaits an answer; one that was refused after it was paid for is written down at once.

        With it, what was put before the message.

        Raises:
            ModelUnavailableError: the model does not answer; what that took is not known.
            ModelRefusedError: the model or its server refused, or the answer is of no use.
        """
        try:
            return await answering
        except ModelRefusedError as error:
            if error.usage is not None:
                tokens = log_entry.tokens if log_entry else 0
                call = self._call(params, error.model, error.usage, injected_tokens=tokens)
                async with params.transaction(self._memory, write=True) as transaction:
                    await _write(transaction, call, log_entry)
            raise

    def row(
        self,
        params: OperationInput,
        answer: ChatReply | Summary | None,
        *,
        log_entry: RetrievalLogEntry | None = None,
    ) -> WriteRow | None:
        """What writes a call down, and what was put before it, in the transaction that keeps its answer.

        None where there is neither.
        """
        call = None
        if answer and (answer.usage.input_tokens or answer.usage.output_tokens):
            tokens = log_entry.tokens if log_entry else 0
            call = self._call(params, answer.model, answer.usage, injected_tokens=tokens)
        if call is None and log_entry is None:
            return None
        return lambda transaction: _write(transaction, call, log_entry)

    def _call(
        self, params: OperationInput, model: str, usage: TokenUsage, *, injected_tokens: int
    ) -> ModelCall:
        return ModelCall(
            session_id=params.scope.session_id,
            job_id=params.operation.job_id,
            operation_key=params.operation.key,
            purpose=self._purpose,
            model=model,
            cost_usd=self._prices.cost_usd(model, usage),
            injected_tokens=injected_tokens,
            **usage.model_dump(),
        )


def join_rows(*rows: WriteRow | None) -> WriteRow | None:
    """What writes several calls down; None where there are none."""
    present = [row for row in rows if row is not None]

    async def write(transaction: Transaction) -> None:
        for row in present:
            await row(transaction)

    return write if present else None


async def _write(
    transaction: Transaction, call: ModelCall | None, log_entry: RetrievalLogEntry | None
) -> None:
    if call is not None:
        await transaction.usage.add(call)
    if log_entry is not None:
        await transaction.retrieval_log.add(log_entry)

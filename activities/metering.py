"""Writing down what calls of models took.

It stands alone because every activity that asks a model does so by the same rule: what was paid for
is kept, also when its answer is not.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from mnestic.activities.operations import OperationInput
from mnestic.memory.errors import ModelRefusedError
from mnestic.memory.language import ChatReply, Summary, TokenUsage
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.usage import ModelCall, ModelPrices, Purpose

Answer = TypeVar("Answer", ChatReply, Summary)


class UsageMeter:
    """The calls of one kind of activity, at the prices that are known."""

    def __init__(self, memory: Memory, prices: ModelPrices | None, *, purpose: Purpose) -> None:
        self._memory = memory
        self._prices = prices or ModelPrices({})
        self._purpose = purpose

    async def answer(self, asked: OperationInput, answering: Awaitable[Answer]) -> Answer:
        """Awaits an answer; one that was refused after it was paid for is written down at once.

        Raises:
            ModelUnavailableError: the model does not answer; what that took is not known.
            ModelRefusedError: the model or its server refused, or the answer is of no use.
        """
        try:
            return await answering
        except ModelRefusedError as error:
            if error.usage is not None:
                async with asked.transaction(self._memory, write=True) as transaction:
                    await transaction.usage.add(self._call(asked, error.model, error.usage))
            raise

    def row(
        self, asked: OperationInput, answer: ChatReply | Summary | None
    ) -> Callable[[Transaction], Awaitable[None]] | None:
        """What writes a call down, in the transaction that keeps its answer; None without a call."""
        if answer is None or not (answer.usage.input_tokens or answer.usage.output_tokens):
            return None
        call = self._call(asked, answer.model, answer.usage)
        return lambda transaction: transaction.usage.add(call)

    def _call(self, asked: OperationInput, model: str, usage: TokenUsage) -> ModelCall:
        return ModelCall(
            session_id=asked.scope.session_id,
            job_id=asked.operation.job_id,
            operation_key=asked.operation.key,
            purpose=self._purpose,
            model=model,
            cost_usd=self._prices.cost_usd(model, usage),
            **usage.model_dump(),
        )

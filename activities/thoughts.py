"""Thinking: one call of a model over what the session holds."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.operations import OperationInput, find_done, run_once
from mnestic.activities.tools import load_results
from mnestic.activities.transcripts import fill_in, transcript
from mnestic.memory.language import ChatMessage, ChatReply
from mnestic.memory.ports import ChatModel, Memory, Transaction
from mnestic.memory.templates import as_text
from mnestic.memory.working import Message, WorkingMemory


class ThinkInput(OperationInput):
    """What to think about. With `templates`, those that name memory are filled in.

    `results` are those that the templates name, by node: small ones, and references to large ones.
    """

    prompt: str
    templates: bool = False
    system: str | None = None
    history: int
    max_tokens: int
    save_as: str
    results: dict[str, Any] = Field(default_factory=dict)


class ThinkResult(BaseModel):
    """What came of it: the reply itself is in working memory."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    message_id: str
    model: str
    input_tokens: int
    output_tokens: int
    saved_as: str


class ThinkActivities:
    """Calls of the chat model."""

    def __init__(self, memory: Memory, model: ChatModel) -> None:
        self._memory = memory
        self._model = model

    @activity.defn(name="mnestic.think")
    async def think(self, asked: ThinkInput) -> ThinkResult:
        """Asks the model, and keeps its reply as a message and a variable.

        Idempotent: the reply that was kept first stands; an attempt after it asks no model.
        """
        with failures():
            async with asked.transaction(self._memory, write=False) as transaction:
                done = await find_done(transaction, asked, ThinkResult)
                state = await transaction.working.load(asked.scope.session_id)
                results = await load_results(transaction, asked.results)
            if done is not None:
                return done
            messages = _messages(asked, state, results)
            reply = await self._model.reply(messages, max_tokens=asked.max_tokens)
            return await run_once(
                self._memory, asked, ThinkResult, work=lambda tx: _keep(tx, asked, reply)
            )


def _messages(
    asked: ThinkInput, state: WorkingMemory, results: Mapping[str, Any]
) -> tuple[ChatMessage, ...]:
    def said(role: Literal["system", "user"], text: str) -> ChatMessage:
        content = as_text(fill_in(text, state, results=results)) if asked.templates else text
        return ChatMessage(role=role, content=content)

    system = () if asked.system is None else (said("system", asked.system),)
    return (*system, *transcript(state, last=asked.history), said("user", asked.prompt))


async def _keep(transaction: Transaction, asked: ThinkInput, reply: ChatReply) -> ThinkResult:
    message = Message(
        id=asked.new_id("message"),
        role="assistant",
        content=reply.text,
        at=await transaction.now(),
    )
    state = await transaction.working.load(asked.scope.session_id, lock=True)
    state = state.with_messages([message]).with_variables({asked.save_as: reply.text})
    await transaction.working.save(asked.scope.session_id, state)
    return ThinkResult(
        message_id=message.id,
        model=reply.model,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        saved_as=asked.save_as,
    )

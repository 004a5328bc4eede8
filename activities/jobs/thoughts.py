"""Thinking: one call of a model over what the session holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.jobs.contexts import load_context
from mnestic.activities.jobs.prompt_histories import (
    TOKENS_A_MESSAGE,
    PromptHistory,
    last_messages,
    segment_texts,
)
from mnestic.activities.jobs.segments import (
    SUMMARY_OF,
    SegmentInput,
    SegmentStep,
    SegmentWriter,
    find_rules,
)
from mnestic.activities.jobs.template_values import (
    TemplateValues,
    fill_in,
    fill_selection,
    load_values,
)
from mnestic.activities.knowledge.job_knowledge import (
    PromptFact,
    default_readers,
    list_prompt_facts,
    receive_message,
    start_extraction,
)
from mnestic.activities.models.metering import UsageMeter, WriteRow, join_rows
from mnestic.activities.operations import find_done, run_once
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.memory.contract.document import ShortTerm
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.contexts import ContextSelection, JobContext, PinnedEpisodes
from mnestic.memory.jobs.templates import as_text
from mnestic.memory.jobs.working_memory import Message, WorkingMemory
from mnestic.memory.knowledge.prompt_facts import KnowledgeSelection, quote_facts
from mnestic.memory.models.messages import ChatMessage, ChatReply
from mnestic.memory.models.usage import Budget, ModelPrices, UsageTotal
from mnestic.memory.ports import ChatModel, Memory, Retriever, TokenCounter, Transaction
from mnestic.memory.retrieval.auto_retrieval import AutoRetrieval, AutoRetrievalHits, assemble
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry, Skipped
from mnestic.memory.retrieval.selections import AutoSelection

_TOKENS_A_REPLY = 3  # as `TOKENS_A_MESSAGE`


class ThinkInput(SegmentInput):
    """A prompt, and what the model gets with it. With `templates`, those that name memory are filled in.

    `max_input_tokens` limits this call, `budget` all calls of the job. `results` are those that the templates name,
    by node: small ones, and references to large ones. `know` selects facts, `retrieve` memories and notes for
    the prompt or its question, and `context` the latest episodes and the records that the job has read; all are
    quoted as data. With a `sealed_tail`, the episodes are those of that snapshot. With `learn`, prompt and reply are
    ingested. With a `contract`, segments take the place of the last messages, unless `history` is 0, and the reply
    enters one.
    """

    prompt: str
    templates: bool = False
    system: str | None = None
    history: int
    max_tokens: int
    save_as: str
    max_input_tokens: int = 8000
    budget: Budget | None = None
    results: dict[str, Any] = Field(default_factory=dict)
    know: KnowledgeSelection | None = None
    retrieve: AutoSelection | None = None
    learn: bool = False
    context: ContextSelection | None = None
    sealed_tail: PinnedEpisodes | None = None


class ThinkResult(BaseModel):
    """The result of a call; the reply itself is in working memory.

    `facts`, `memories` and `notes` are how many the prompt had, `skipped` the sources that were down.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    message_id: str
    model: str
    input_tokens: int
    output_tokens: int
    saved_as: str
    facts: int = 0
    memories: int = 0
    notes: int = 0
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _FilledPrompt:
    """The prompt of a model and what is retrieved for it, with their templates filled in."""

    prompt: ChatMessage
    system: tuple[ChatMessage, ...]
    retrieve: AutoSelection | None

    @property
    def reader(self) -> str | None:
        """For whom the model is called: it gets what they may read, and what it says is theirs."""
        return self.retrieve.reader if self.retrieve else None


@dataclass(frozen=True, kw_only=True)
class _Fitted:
    """The messages for a model, the prompt last, with their tokens, the number of facts, and what was retrieved.

    `used` are the entries of segments among them.
    """

    messages: tuple[ChatMessage, ...]
    tokens: int
    facts: int
    retrieved: AutoRetrieval
    used: tuple[str, ...] = ()
    reader: str | None = None


class ThinkActivities:
    """Calls of the chat model."""

    def __init__(
        self,
        memory: Memory,
        model: ChatModel,
        *,
        count_tokens: TokenCounter,
        retriever: Retriever,
        auto: AutoRetriever | None = None,
        prices: ModelPrices | None = None,
        segments: SegmentWriter | None = None,
    ) -> None:
        self._memory, self._auto, self._retriever = memory, auto, retriever
        self._segments = segments
        self._model = model
        self._count_tokens = count_tokens
        self._meter = UsageMeter(memory, prices, purpose="think")

    @activity.defn(name="mnestic.think")
    async def think(self, params: ThinkInput) -> ThinkResult:
        """Calls the model, and stores its reply as a message and a variable.

        Idempotent: the first stored reply stands; a later attempt calls no model.
        """
        with failures():
            async with params.transaction(self._memory, write=False) as transaction:
                done = await find_done(transaction, params, ThinkResult)
                state = await transaction.working.load(params.scope.session_id)
                used = await _used(transaction, params)
                values = await self._values(transaction, params)
                filled = _fill_prompt(params, state, values)
                known, context = await self._quoted(transaction, params, filled.reader)
                rules = await find_rules(transaction, params.contract)
                now = await transaction.now()
            if done is not None:
                await _learned(params)
                return done
            history = self._history(params, state, rules, reader=filled.reader)
            found = await self._find(params, history, filled, known=known)
            fitted = self._fitted(
                params, history, filled, known=known, found=found, context=context
            )
            max_tokens = _capped(params, used=used, input_tokens=fitted.tokens)
            log_entry = _log_entry(filled, fitted.retrieved)
            reply = await self._meter.answer(
                params,
                self._model.reply(fitted.messages, max_tokens=max_tokens),
                log_entry=log_entry,
            )
            step = await self._step(
                params, state, _reply_message(params, reply, fitted, at=now), rules=rules
            )
            result = await run_once(
                self._memory,
                params,
                ThinkResult,
                work=lambda tx: self._store(tx, params, reply, fitted=fitted, step=step),
                beside=self._rows(params, reply, log_entry=log_entry, step=step),
            )
            params.count_accesses(self._memory, fitted.retrieved.entry_ids)
            await _learned(params)
            return result

    def _history(
        self,
        params: ThinkInput,
        state: WorkingMemory,
        rules: ShortTerm | None,
        *,
        reader: str | None,
    ) -> PromptHistory:
        """What the prompt may have of the session; with `history` 0, nothing, and for a reader the messages that they may read."""
        if reader is not None:
            return last_messages(state.for_reader(reader), count=params.history)
        if rules is None or self._segments is None or not params.history:
            return last_messages(state, count=params.history)
        return segment_texts(self._segments.entries(state, rules), rules)

    async def _step(
        self, params: ThinkInput, state: WorkingMemory, reply: Message, *, rules: ShortTerm | None
    ) -> SegmentStep | None:
        """What the write of the reply to its segment needs."""
        if rules is None or self._segments is None:
            return None
        return await self._segments.prepare(params, state, [reply], rules=rules)

    def _rows(
        self,
        params: ThinkInput,
        reply: ChatReply,
        *,
        log_entry: RetrievalLogEntry | None,
        step: SegmentStep | None,
    ) -> WriteRow | None:
        of_segment = self._segments.row(params, step) if self._segments and step else None
        return join_rows(self._meter.row(params, reply, log_entry=log_entry), of_segment)

    async def _values(self, transaction: Transaction, params: ThinkInput) -> TemplateValues:
        found = params.retrieve and [params.retrieve.question, params.retrieve.reader]
        return await load_values(
            transaction,
            self._retriever,
            params,
            value=[params.prompt, params.system, found] if params.templates else None,
            results=params.results,
            sealed_tail=params.sealed_tail,
        )

    async def _quoted(
        self, transaction: Transaction, params: ThinkInput, reader: str | None
    ) -> tuple[tuple[PromptFact, ...], JobContext]:
        """The facts and the context; for a reader the facts that they may read, and no context."""
        if reader is None:
            facts = await list_prompt_facts(transaction, params.know)
            return facts, await self._context(transaction, params)
        async with params.caller(self._memory).for_reader(reader)() as visible:
            return await list_prompt_facts(visible, params.know), JobContext()

    async def _context(self, transaction: Transaction, params: ThinkInput) -> JobContext:
        if params.context is None:
            return JobContext()
        found = await load_context(
            transaction,
            self._retriever,
            params,
            select=params.context,
            sealed_tail=params.sealed_tail,
        )
        return found if params.contract is None else _without_segments(found, params)

    async def _find(
        self,
        params: ThinkInput,
        history: PromptHistory,
        filled: _FilledPrompt,
        *,
        known: Sequence[PromptFact],
    ) -> AutoRetrievalHits:
        """What is found for the prompt or its question, without what the history and the facts already contain."""
        if filled.retrieve is None:
            return AutoRetrievalHits()
        assert self._auto is not None, "a worker has a retriever"
        return await self._auto.find(
            params.caller(self._memory),
            filled.retrieve.question or filled.prompt.content,
            select=filled.retrieve,
            session_id=params.scope.session_id,
            prompt_texts=[*history.texts, *(fact.sentence for fact in known)],
        )

    def _fitted(
        self,
        params: ThinkInput,
        history: PromptHistory,
        filled: _FilledPrompt,
        *,
        known: Sequence[PromptFact],
        found: AutoRetrievalHits,
        context: JobContext,
    ) -> _Fitted:
        """The messages for the model: the first facts that fit, what was found, the context, and the newest history.

        Raises:
            InvalidInputError: prompt and system alone do not fit.
        """
        of_prompt = self._tokens(filled.prompt)
        of_system = sum(self._tokens(message) for message in filled.system)
        total = _TOKENS_A_REPLY + of_prompt + of_system
        if total > params.max_input_tokens:
            why = (
                f"the prompt is {of_prompt} tokens and the system text {of_system}, "
                f"together over max_input_tokens, {params.max_input_tokens}"
            )
            raise InvalidInputError(what="input of the model", why=why)
        inserted, of_facts = self._facts_message(
            [fact.line for fact in known], room=params.max_input_tokens - total
        )
        total += sum(self._tokens(message) for message in inserted)
        retrieved = self._retrieved(params, found, room=params.max_input_tokens - total)
        if retrieved.text:
            inserted = (*inserted, ChatMessage(role="user", content=retrieved.text))
            total += retrieved.tokens + TOKENS_A_MESSAGE
        remembered = self._remembered(params, context, room=params.max_input_tokens - total)
        total += sum(self._tokens(message) for message in remembered)
        fitting = history.fit(room=params.max_input_tokens - total, count_tokens=self._count_tokens)
        parts = (fitting.messages, remembered) if history.rules else (remembered, fitting.messages)
        messages = (*filled.system, *chain(*parts), *inserted, filled.prompt)
        return _Fitted(
            messages=messages,
            tokens=total + fitting.tokens,
            facts=of_facts,
            retrieved=retrieved,
            used=fitting.used,
            reader=filled.reader,
        )

    def _retrieved(
        self, params: ThinkInput, found: AutoRetrievalHits, *, room: int
    ) -> AutoRetrieval:
        """The part of what was found that fits."""
        most = params.retrieve.max_tokens if params.retrieve else 0
        max_tokens = max(0, min(most, room - TOKENS_A_MESSAGE))
        return assemble(found, count_tokens=self._count_tokens, max_tokens=max_tokens)

    def _remembered(
        self, params: ThinkInput, context: JobContext, *, room: int
    ) -> tuple[ChatMessage, ...]:
        """The message that quotes the context; half of the remaining tokens stay for the history."""
        most = params.context.max_tokens if params.context else 0
        max_tokens = max(0, min(most, room // 2 - TOKENS_A_MESSAGE))
        packed = context.packed(count_tokens=self._count_tokens, max_tokens=max_tokens)
        return (ChatMessage(role="user", content=packed.text),) if packed.text else ()

    def _facts_message(
        self, lines: Sequence[str], *, room: int
    ) -> tuple[tuple[ChatMessage, ...], int]:
        """The message that quotes facts, and how many of them fit."""
        tokens = self._tokens(_quotation(()))
        count = 0
        for line in lines:
            tokens += self._count_tokens(line) + 1  # the end of the line
            if tokens > room:
                break
            count += 1
        while count and self._tokens(_quotation(lines[:count])) > room:
            count -= 1  # lines together may take more than each by itself
        return ((_quotation(lines[:count]),) if count else ()), count

    async def _store(
        self,
        transaction: Transaction,
        params: ThinkInput,
        reply: ChatReply,
        *,
        fitted: _Fitted,
        step: SegmentStep | None,
    ) -> ThinkResult:
        message = _reply_message(params, reply, fitted, at=await transaction.now())
        if message.readers is None:
            readers = await default_readers(transaction, params)
            message = message.model_copy(update={"readers": readers})
        state = await transaction.working.load(params.scope.session_id, lock=True)
        state = state.with_messages([message]).with_variables({params.save_as: reply.text})
        if step is not None and self._segments is not None:
            state = await self._segments.write(
                transaction, params, state, step=step, messages=[message], used=fitted.used
            )
        await transaction.working.save(params.scope.session_id, state)
        if params.learn:
            said = (
                (fitted.messages[-1].content, "user", "#prompt"),
                (reply.text, params.scope.agent_id, ""),
            )
            for text, speaker, part in said:
                await receive_message(
                    transaction, params, text, speaker=speaker, part=part, readers=message.readers
                )
        return ThinkResult(
            message_id=message.id,
            model=reply.model,
            input_tokens=reply.usage.input_tokens,
            output_tokens=reply.usage.output_tokens,
            saved_as=params.save_as,
            facts=fitted.facts,
            memories=len(fitted.retrieved.memories),
            notes=len(fitted.retrieved.notes),
            skipped=fitted.retrieved.skipped,
        )

    def _tokens(self, message: ChatMessage) -> int:
        return self._count_tokens(message.content) + TOKENS_A_MESSAGE


def _fill_prompt(params: ThinkInput, state: WorkingMemory, values: TemplateValues) -> _FilledPrompt:
    def fill(text: str) -> str:
        return as_text(fill_in(text, state, values)) if params.templates else text

    select = params.retrieve
    if select is not None and params.templates:
        select = fill_selection(select, state, values)
    return _FilledPrompt(
        prompt=ChatMessage(role="user", content=fill(params.prompt)),
        system=()
        if params.system is None
        else (ChatMessage(role="system", content=fill(params.system)),),
        retrieve=select,
    )


def _log_entry(filled: _FilledPrompt, retrieved: AutoRetrieval) -> RetrievalLogEntry | None:
    if filled.retrieve is None:
        return None
    message = filled.retrieve.question or filled.prompt.content
    return retrieved.log_entry(message, channel=filled.retrieve.channel)


async def _used(transaction: Transaction, params: ThinkInput) -> UsageTotal:
    """What the job has used of its budget; nothing is read where there is none."""
    if params.budget is None or params.operation.job_id is None:
        return UsageTotal()
    return await transaction.usage.sum_by_job(params.operation.job_id)


def _capped(params: ThinkInput, *, used: UsageTotal, input_tokens: int) -> int:
    """The cap of the answer, within the job's budget.

    Raises:
        BudgetExceededError: nothing is left of it.
        ConfigurationError: it is of money, and some calls have no price.
    """
    if params.budget is None:
        return params.max_tokens
    return params.budget.cap_output(
        params.max_tokens,
        used=used,
        input_tokens=input_tokens,
        job_id=str(params.operation.job_id),
    )


def _reply_message(
    params: ThinkInput, reply: ChatReply, fitted: _Fitted, *, at: datetime
) -> Message:
    return Message(
        id=params.new_id("message"),
        role="assistant",
        content=reply.text,
        at=at,
        readers=fitted.reader,
    )


def _without_segments(context: JobContext, params: ThinkInput) -> JobContext:
    """The context without summaries of the session's own segments, which a prompt has from these."""
    own = params.scope.session_id
    episodes = (e for e in context.episodes if SUMMARY_OF not in e.payload or e.session_id != own)
    return context.model_copy(update={"episodes": tuple(episodes)})


def _quotation(lines: Sequence[str]) -> ChatMessage:
    return ChatMessage(role="user", content=quote_facts(lines))


async def _learned(params: ThinkInput) -> None:
    if params.learn:
        await start_extraction(params)

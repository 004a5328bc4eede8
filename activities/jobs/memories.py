"""Remembering and recalling for a job."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.jobs.channels import find_channels
from mnestic.activities.jobs.exclusions import allowed_episode, allowed_records
from mnestic.activities.jobs.segments import SegmentInput, SegmentStep, SegmentWriter, find_rules
from mnestic.activities.jobs.template_values import (
    TemplateValues,
    fill_in,
    fill_selection,
    load_values,
)
from mnestic.activities.jobs.tools import load_results
from mnestic.activities.jobs.transcripts import transcript
from mnestic.activities.knowledge.job_knowledge import (
    default_readers,
    receive_message,
    start_extraction,
)
from mnestic.activities.models.metering import UsageMeter, WriteRow, join_rows
from mnestic.activities.operations import OperationInput, find_done, run_once
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.memory.contract.document import ShortTerm
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.contexts import PinnedEpisodes
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.conflicts import check_is_open
from mnestic.memory.jobs.long_term.records import RecordRef
from mnestic.memory.jobs.recalls import RecallQuery
from mnestic.memory.jobs.templates import as_text
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory
from mnestic.memory.jobs.writes import EpisodeWrite, MemoryWrite, MessageWrite
from mnestic.memory.models.messages import Summary
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Memory, Retriever, Summariser, Transaction
from mnestic.memory.retrieval.auto_retrieval import AutoRetrieval
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry, Skipped
from mnestic.memory.retrieval.selections import SearchSelection
from mnestic.memory.selectors import check_selector, matches

_MAX_REFS = 10  # in a result, which travels through the workflow's history


class RememberInput(SegmentInput):
    """What to store. With `templates`, those that name memory are filled in from working memory.

    `results` are those that the templates name, by node: small ones, and references to large ones.
    With `learn`, the message and the tool's result are ingested. With `emit`, the message is an event on its channel. With a `sealed_tail`, templates take episodes from
    that snapshot. With a `contract`, the message enters a segment.
    """

    write: MemoryWrite
    templates: bool = False
    learn: bool = False
    emit: bool = False
    tool_call: ToolCall | None = None
    results: dict[str, Any] = Field(default_factory=dict)
    sealed_tail: PinnedEpisodes | None = None


class RememberResult(BaseModel):
    """What was stored: the first references, without content."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    records: tuple[RecordRef, ...] = ()
    record_count: int = 0
    episode_id: str | None = None
    memory_version: int


class RecallInput(OperationInput):
    """What to find, and the variable of working memory that takes it.

    With a `sealed_tail`, episodes are those of that snapshot, older ones, and the job's own.
    """

    query: RecallQuery
    save_as: str
    templates: bool = False
    results: dict[str, Any] = Field(default_factory=dict)
    sealed_tail: PinnedEpisodes | None = None


class RecallResult(BaseModel):
    """What was found: the first references; the content is in working memory.

    `skipped` names sources that were down.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    records: tuple[RecordRef, ...] = ()
    record_count: int = 0
    missing: tuple[RecordRef, ...] = ()
    episode_ids: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()
    memory_count: int = 0
    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    saved_as: str


@dataclass(frozen=True, slots=True)
class _Searched:
    """The result of a search, and its entry in the retrieval log."""

    retrieved: AutoRetrieval
    log_entry: RetrievalLogEntry | None


@dataclass(frozen=True, kw_only=True)
class _Prepared:
    """What a write needs that is made outside of its transaction: the episode's text, and the step of segments."""

    text: str = ""
    made: Summary | None = None
    step: SegmentStep | None = None


class MemoryActivities:
    """Writes and reads of a job's memory."""

    def __init__(
        self,
        memory: Memory,
        retriever: Retriever,
        summariser: Summariser,
        *,
        auto: AutoRetriever | None = None,
        prices: ModelPrices | None = None,
        segments: SegmentWriter | None = None,
    ) -> None:
        self._memory, self._auto, self._segments = memory, auto, segments
        self._retriever = retriever
        self._summariser = summariser
        self._meter = UsageMeter(memory, prices, purpose="summarise")

    @activity.defn(name="mnestic.remember")
    async def remember(self, params: RememberInput) -> RememberResult:
        """Stores records, an episode and changes of working memory, all or nothing.

        Idempotent: by the operation's key, in the transaction of the writes.
        """
        with failures():
            prepared = _Prepared()
            if params.write.episode is not None or _enters_segment(params):
                async with params.transaction(self._memory, write=False) as transaction:
                    done = await find_done(transaction, params, RememberResult)
                    state = await transaction.working.load(params.scope.session_id)
                    values = await self._values(transaction, params, params.write)
                    rules = await find_rules(transaction, params.contract)
                    now = await transaction.now()
                if done is not None:
                    await _learned(params)
                    return done
                write = _filled(params, state, values)
                prepared = await self._prepare(params, state, write, rules=rules, now=now)
            result = await run_once(
                self._memory,
                params,
                RememberResult,
                work=lambda transaction: self._remember(transaction, params, prepared),
                beside=self._rows(params, prepared),
            )
            await _learned(params)
            return result

    @activity.defn(name="mnestic.recall")
    async def recall(self, params: RecallInput) -> RecallResult:
        """Puts what it finds into a variable of working memory, and into the job's read set.

        Idempotent: by the operation's key; a retry returns what the first attempt found.
        """
        with failures():
            searched = None
            if (
                params.query.search is not None
            ):  # outside the transaction, since a model may be asked
                async with params.transaction(self._memory, write=False) as transaction:
                    done = await find_done(transaction, params, RecallResult)
                    state = await transaction.working.load(params.scope.session_id)
                    values = await self._values(transaction, params, params.query)
                if done is not None:
                    return done
                searched = await self._search(params, params.query.search, state, values=values)
            found = await run_once(
                self._memory,
                params,
                RecallResult,
                work=lambda transaction: self._recall(transaction, params, searched),
            )
            if searched is not None:
                params.count_accesses(self._memory, searched.retrieved.entry_ids)
            return found

    async def _prepare(
        self,
        params: RememberInput,
        state: WorkingMemory,
        write: MemoryWrite,
        *,
        rules: ShortTerm | None,
        now: datetime,
    ) -> _Prepared:
        """What is made outside of the transaction, since a model may be asked."""
        text, made = await self._summary(params, write.episode, state)
        if self._segments is None or rules is None or write.message is None:
            return _Prepared(text=text, made=made)
        step = await self._segments.prepare(
            params,
            state,
            _messages(params, write, at=now),
            rules=rules,
            segment_id=write.message.segment,
        )
        return _Prepared(text=text, made=made, step=step)

    def _rows(self, params: RememberInput, prepared: _Prepared) -> WriteRow | None:
        of_segment = None
        if self._segments is not None and prepared.step is not None:
            of_segment = self._segments.row(params, prepared.step)
        return join_rows(self._meter.row(params, prepared.made), of_segment)

    async def _remember(
        self, transaction: Transaction, params: RememberInput, prepared: _Prepared
    ) -> RememberResult:
        state = await transaction.working.load(params.scope.session_id, lock=True)
        write = _filled(params, state, await self._values(transaction, params, params.write))
        write = await _with_readers(transaction, params, write)
        refs = await _write_records(transaction, params, write)
        messages = _messages(params, write, at=await transaction.now())
        changed = _changed(params, write, messages, state=state)
        if self._segments is not None and prepared.step is not None:
            changed = await self._segments.write(
                transaction, params, changed, step=prepared.step, messages=messages
            )
        if not changed.is_as(state):
            changed = await transaction.working.save(params.scope.session_id, changed)
        if params.learn:
            await _receive(transaction, params, write)
        if params.emit and write.message is not None:
            await _emit(transaction, params, write.message)
        episode_id = None
        if write.episode is not None:
            episode_id = params.new_id("episode")
            episode = Episode(
                id=episode_id,
                agent_id=params.scope.agent_id,
                session_id=params.scope.session_id,
                job_id=params.operation.job_id,
                summary=prepared.text,
                payload=write.episode.payload,
                created_at=await transaction.now(),
            )
            await transaction.episodes.append(await allowed_episode(transaction, episode))
        return RememberResult(
            records=refs[:_MAX_REFS],
            record_count=len(refs),
            episode_id=episode_id,
            memory_version=changed.version,
        )

    async def _values(
        self,
        transaction: Transaction,
        params: RememberInput | RecallInput,
        value: MemoryWrite | RecallQuery,
    ) -> TemplateValues:
        return await load_values(
            transaction,
            self._retriever,
            params,
            value=value.model_dump(mode="json") if params.templates else None,
            results=params.results,
            sealed_tail=params.sealed_tail,
        )

    async def _summary(
        self, params: RememberInput, write: EpisodeWrite | None, state: WorkingMemory
    ) -> tuple[str, Summary | None]:
        """The episode's text, and the summary that a model made, if none was given; nothing without an episode."""
        if write is None or write.summary is not None:
            return (write.summary or "" if write else ""), None
        turns = transcript(state, last=_number(write.last_messages))
        made = await self._meter.answer(
            params, self._summariser.summarise(turns, max_chars=write.max_chars)
        )
        return made.text, made

    async def _search(
        self,
        params: RecallInput,
        search: SearchSelection,
        state: WorkingMemory,
        *,
        values: TemplateValues,
    ) -> _Searched:
        """The memories and notes that were found for a question, as a block for a prompt."""
        assert self._auto is not None, "a worker has a retriever"
        if params.templates:
            search = fill_selection(search, state, values)
        question = search.question
        found = await self._auto.find(params.caller(self._memory), question, select=search)
        retrieved = self._auto.assemble(found, max_tokens=search.max_tokens)
        return _Searched(retrieved, retrieved.log_entry(question, channel=search.channel))

    async def _recall(
        self, transaction: Transaction, params: RecallInput, searched: _Searched | None
    ) -> RecallResult:
        job_id = params.operation.job_id
        # Locked before the read set, as everywhere.
        state = await transaction.working.load(params.scope.session_id, lock=True)
        found = await self._retriever.recall(
            transaction,
            params.query,
            scope=params.scope,
            job_id=job_id,
            sealed_tail=params.sealed_tail,
        )
        if job_id is not None:
            seen = (*found.records, *found.missing, *found.namespaces)
            await transaction.records.add_reads(job_id, seen)
        retrieved = AutoRetrieval() if searched is None else searched.retrieved
        variable = found.as_variable() | ({} if searched is None else retrieved.as_variable())
        changed = state.with_variables({params.save_as: variable})
        await transaction.working.save(params.scope.session_id, changed)
        if searched is not None and searched.log_entry is not None:
            await transaction.retrieval_log.add(searched.log_entry)
        return RecallResult(
            records=tuple(record.ref for record in found.records[:_MAX_REFS]),
            record_count=len(found.records),
            missing=tuple(record.ref for record in found.missing[:_MAX_REFS]),
            episode_ids=tuple(episode.id for episode in found.episodes[:_MAX_REFS]),
            memory_ids=tuple(memory.entry_id for memory in retrieved.memories[:_MAX_REFS]),
            memory_count=len(retrieved.memories),
            notes=tuple(note.path for note in retrieved.notes[:_MAX_REFS]),
            skipped=retrieved.skipped[:_MAX_REFS],
            saved_as=params.save_as,
        )


async def _learned(params: RememberInput) -> None:
    if params.learn:
        await start_extraction(params)


async def _receive(transaction: Transaction, params: RememberInput, write: MemoryWrite) -> None:
    """Ingests the message, unless it is of the system, and the tool's result, which has the readers of the session."""
    message, call = write.message, params.tool_call
    if message is not None and message.role != "system":
        await receive_message(
            transaction,
            params,
            message.content,
            speaker=message.speaker or message.role,
            kind="tool_result" if message.role == "tool" else "message",
            channel=message.channel,
            readers=message.readers,
        )
    if call is not None and call.result is not None:
        result = (await load_results(transaction, {call.id: call.result}))[call.id]
        await receive_message(
            transaction,
            params,
            as_text(result),
            speaker=call.activity,
            kind="tool_result",
            part="#tool",
            readers=await transaction.reader_defaults.of_session(params.scope.session_id),
        )


async def _with_readers(
    transaction: Transaction, params: RememberInput, write: MemoryWrite
) -> MemoryWrite:
    """The write, whose message has the readers of its session or its channel if it names none; a tool's, of what was said before."""
    message = write.message
    if message is None or message.readers is not None:
        return write
    readers = None
    if message.role == "tool":
        readers = await transaction.reader_defaults.of_session(params.scope.session_id)
    if readers is None:
        readers = await default_readers(transaction, params, channel=message.channel)
    return write.model_copy(update={"message": message.model_copy(update={"readers": readers})})


def _filled(params: RememberInput, state: WorkingMemory, values: TemplateValues) -> MemoryWrite:
    """What to write, with its templates filled in.

    Raises:
        InvalidInputError: a template names something that is not there, or what it gives does not fit.
    """
    write = params.write
    if params.templates:
        document = fill_in(write.model_dump(mode="json"), state, values)
        try:
            write = MemoryWrite.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"] if "[" not in str(part))
            raise InvalidInputError(what=where, why=first["msg"]) from None
    if isinstance(write.records, str):
        raise InvalidInputError(what="records", why="is text, not a list of records")
    for reader in (write.message and write.message.readers) or ():
        check_selector(reader, what="readers")
    return write


async def _emit(transaction: Transaction, params: RememberInput, message: MessageWrite) -> None:
    """Publishes a message on its channel, if the contract of the job has that; else it stays with the job.

    So does one that speaks of what was forgotten and is kept out.
    """
    channel = message.channel or ""
    channels = await find_channels(transaction, params.contract)
    if not any(matches(one, channel) for one in channels):
        return
    (is_out,) = await transaction.suppression_list.are_kept_out([(message.content,)])
    if is_out:
        transaction.note("event.keep_out", channel)
        return
    payload = {"content": message.content, "job_id": params.operation.job_id}
    transaction.channels.publish(channel, channels, payload, event_id=params.new_id("event"))


async def _write_records(
    transaction: Transaction, params: RememberInput, write: MemoryWrite
) -> tuple[RecordRef, ...]:
    assert not isinstance(write.records, str)
    for one in write.records:
        check_is_open(one.namespace)
    allowed = await allowed_records(transaction, write.records)
    # In one order for all, so that two jobs of an agent cannot lock each other out.
    in_order = sorted(allowed, key=lambda each: (each.namespace, each.key))
    written = [
        await transaction.records.set(
            each.namespace,
            each.key,
            each.value,
            ttl=each.ttl,
            expected_version=each.expected_version,
        )
        for each in in_order
    ]
    if params.operation.job_id is not None:
        reads = [record.read for record in written]
        await transaction.records.add_reads(params.operation.job_id, reads)
    return tuple(record.ref for record in written)


def _enters_segment(params: RememberInput) -> bool:
    return params.contract is not None and params.write.message is not None


def _messages(params: RememberInput, write: MemoryWrite, *, at: datetime) -> list[Message]:
    """The message to write, if there is one."""
    if write.message is None:
        return []
    return [Message(id=params.new_id("message"), at=at, **write.message.model_dump())]


def _changed(
    params: RememberInput,
    write: MemoryWrite,
    messages: Sequence[Message],
    *,
    state: WorkingMemory,
) -> WorkingMemory:
    changed = state.with_messages(messages)
    if write.variables:
        changed = changed.with_variables(write.variables)
    if write.note is not None:
        changed = changed.with_note(write.note)
    if write.task is not None:
        changed = changed.with_task(write.task)
    if params.tool_call is not None:
        changed = changed.with_tool_call(params.tool_call)
    return changed


def _number(text: int | str) -> int:
    """The number of messages, which a template may have given as text.

    Raises:
        InvalidInputError: it is no number.
    """
    if not re.fullmatch(r"[0-9]{1,9}", str(text)):
        why = f"is {str(text)[:40]!r}, not a number"
        raise InvalidInputError(what="episode.last_messages", why=why)
    return int(text)

"""Remembering and recalling for a job."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.jobs.template_values import TemplateValues, fill_in, load_values
from mnestic.activities.jobs.tools import load_results
from mnestic.activities.jobs.transcripts import transcript
from mnestic.activities.knowledge.exchanges import receive_message, start_extraction
from mnestic.activities.models.metering import UsageMeter
from mnestic.activities.operations import OperationInput, find_done, run_once
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.contexts import PinnedEpisodes
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.recalls import RecallQuery
from mnestic.memory.jobs.records import RecordRef
from mnestic.memory.jobs.templates import as_text
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory
from mnestic.memory.jobs.writes import EpisodeWrite, MemoryWrite
from mnestic.memory.models.messages import Summary
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Memory, Summariser, Transaction
from mnestic.memory.recall_ports import Retriever
from mnestic.memory.retrieval.auto_retrieval import AutoRetrieval
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry, Skipped
from mnestic.memory.retrieval.selections import SearchSelection

_REFS_TOLD = 10  # in a result, which travels through the workflow's history


class RememberInput(OperationInput):
    """What to keep. With `templates`, those that name memory are filled in from working memory.

    `results` are those that the templates name, by node: small ones, and references to large ones.
    With `learn`, the message and what the tool returned are received to be learned from. With a
    `sealed_tail`, episodes that templates name are those of that snapshot.
    """

    write: MemoryWrite
    templates: bool = False
    learn: bool = False
    tool_call: ToolCall | None = None
    results: dict[str, Any] = Field(default_factory=dict)
    sealed_tail: PinnedEpisodes | None = None


class RememberResult(BaseModel):
    """What was kept: the first references, no content."""

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
    """What a search gave, and its row in the books."""

    told: AutoRetrieval
    log_entry: RetrievalLogEntry | None


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
    ) -> None:
        self._memory, self._auto = memory, auto
        self._retriever = retriever
        self._summariser = summariser
        self._meter = UsageMeter(memory, prices, purpose="summarise")

    @activity.defn(name="mnestic.remember")
    async def remember(self, asked: RememberInput) -> RememberResult:
        """Keeps records, an episode and changes of working memory, all or nothing.

        Idempotent: by the operation's key, in the transaction of the writes.
        """
        with failures():
            text, made = "", None
            if asked.write.episode is not None:
                async with asked.transaction(self._memory, write=False) as transaction:
                    done = await find_done(transaction, asked, RememberResult)
                    state = await transaction.working.load(asked.scope.session_id)
                    values = await self._values(transaction, asked, asked.write)
                if done is not None:
                    await _learned(asked)
                    return done
                write = _filled(asked, state, values).episode
                text, made = await self._summary(asked, write, state)
            kept = await run_once(
                self._memory,
                asked,
                RememberResult,
                work=lambda transaction: self._remember(transaction, asked, text),
                beside=self._meter.row(asked, made),
            )
            await _learned(asked)
            return kept

    @activity.defn(name="mnestic.recall")
    async def recall(self, asked: RecallInput) -> RecallResult:
        """Puts what it finds into a variable of working memory, and into the job's read set.

        Idempotent: by the operation's key; a retry returns what the first attempt found.
        """
        with failures():
            searched = None
            if (
                asked.query.search is not None
            ):  # outside the transaction, since a model may be asked
                async with asked.transaction(self._memory, write=False) as transaction:
                    done = await find_done(transaction, asked, RecallResult)
                    state = await transaction.working.load(asked.scope.session_id)
                    values = await self._values(transaction, asked, asked.query)
                if done is not None:
                    return done
                searched = await self._search(asked, asked.query.search, state, values=values)
            found = await run_once(
                self._memory,
                asked,
                RecallResult,
                work=lambda transaction: self._recall(transaction, asked, searched),
            )
            if searched is not None:
                asked.count_accesses(self._memory, searched.told.entry_ids)
            return found

    async def _remember(
        self, transaction: Transaction, asked: RememberInput, summary: str
    ) -> RememberResult:
        state = await transaction.working.load(asked.scope.session_id, lock=True)
        write = _filled(asked, state, await self._values(transaction, asked, asked.write))
        refs = await _write_records(transaction, asked, write)
        changed = await _changed(transaction, asked, write, state=state)
        if not changed.is_as(state):
            changed = await transaction.working.save(asked.scope.session_id, changed)
        if asked.learn:
            await _receive(transaction, asked, write)
        episode_id = None
        if write.episode is not None:
            episode_id = asked.new_id("episode")
            episode = Episode(
                id=episode_id,
                agent_id=asked.scope.agent_id,
                session_id=asked.scope.session_id,
                job_id=asked.operation.job_id,
                summary=summary,
                payload=write.episode.payload,
                created_at=await transaction.now(),
            )
            await transaction.episodes.append(episode)
        return RememberResult(
            records=refs[:_REFS_TOLD],
            record_count=len(refs),
            episode_id=episode_id,
            memory_version=changed.version,
        )

    async def _values(
        self,
        transaction: Transaction,
        asked: RememberInput | RecallInput,
        value: MemoryWrite | RecallQuery,
    ) -> TemplateValues:
        return await load_values(
            transaction,
            self._retriever,
            asked,
            value=value.model_dump(mode="json") if asked.templates else None,
            results=asked.results,
            sealed_tail=asked.sealed_tail,
        )

    async def _summary(
        self, asked: RememberInput, write: EpisodeWrite | None, state: WorkingMemory
    ) -> tuple[str, Summary | None]:
        """The episode's text, and the summary that a model made, if none was given."""
        assert write is not None
        if write.summary is not None:
            return write.summary, None
        turns = transcript(state, last=_number(write.last_messages))
        made = await self._meter.answer(
            asked, self._summariser.summarise(turns, max_chars=write.max_chars)
        )
        return made.text, made

    async def _search(
        self,
        asked: RecallInput,
        search: SearchSelection,
        state: WorkingMemory,
        *,
        values: TemplateValues,
    ) -> _Searched:
        """What memory and notes have for a question, as a prompt may be told."""
        assert self._auto is not None, "a worker is given what retrieves"
        question = search.question
        if asked.templates:
            question = as_text(fill_in(question, state, values))
        found = await self._auto.find(
            asked.caller(self._memory),
            question,
            select=search,
        )
        told = self._auto.tell(found, max_tokens=search.max_tokens)
        return _Searched(told, told.log_entry(question, channel=search.channel))

    async def _recall(
        self, transaction: Transaction, asked: RecallInput, searched: _Searched | None
    ) -> RecallResult:
        job_id = asked.operation.job_id
        # Locked before the read set, as everywhere.
        state = await transaction.working.load(asked.scope.session_id, lock=True)
        found = await self._retriever.recall(
            transaction,
            asked.query,
            scope=asked.scope,
            job_id=job_id,
            sealed_tail=asked.sealed_tail,
        )
        if job_id is not None:
            seen = (*found.records, *found.missing, *found.namespaces)
            await transaction.records.add_reads(job_id, seen)
        told = AutoRetrieval() if searched is None else searched.told
        variable = found.as_variable() | ({} if searched is None else told.as_variable())
        kept = state.with_variables({asked.save_as: variable})
        await transaction.working.save(asked.scope.session_id, kept)
        if searched is not None and searched.log_entry is not None:
            await transaction.retrieval_log.add(searched.log_entry)
        return RecallResult(
            records=tuple(record.ref for record in found.records[:_REFS_TOLD]),
            record_count=len(found.records),
            missing=tuple(record.ref for record in found.missing[:_REFS_TOLD]),
            episode_ids=tuple(episode.id for episode in found.episodes[:_REFS_TOLD]),
            memory_ids=tuple(memory.entry_id for memory in told.memories[:_REFS_TOLD]),
            memory_count=len(told.memories),
            notes=tuple(note.path for note in told.notes[:_REFS_TOLD]),
            skipped=told.skipped[:_REFS_TOLD],
            saved_as=asked.save_as,
        )


async def _learned(asked: RememberInput) -> None:
    if asked.learn:
        await start_extraction(asked)


async def _receive(transaction: Transaction, asked: RememberInput, write: MemoryWrite) -> None:
    """Receives what was said and what a tool returned; what the system says is nobody's word."""
    now = await transaction.now()
    said, call = write.message, asked.tool_call
    if said is not None and said.role != "system":
        await receive_message(
            transaction,
            asked,
            said.content,
            speaker=said.speaker or said.role,
            at=now,
            kind="tool_result" if said.role == "tool" else "message",
            channel=said.channel,
        )
    if call is not None and call.result is not None:
        result = (await load_results(transaction, {call.id: call.result}))[call.id]
        await receive_message(
            transaction,
            asked,
            as_text(result),
            speaker=call.activity,
            at=now,
            kind="tool_result",
            part="#tool",
        )


def _filled(asked: RememberInput, state: WorkingMemory, values: TemplateValues) -> MemoryWrite:
    """What to write, with its templates filled in.

    Raises:
        InvalidInputError: a template names something that is not there, or what it gives does not fit.
    """
    write = asked.write
    if asked.templates:
        document = fill_in(write.model_dump(mode="json"), state, values)
        try:
            write = MemoryWrite.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"] if "[" not in str(part))
            raise InvalidInputError(what=where, why=first["msg"]) from None
    if isinstance(write.records, str):
        raise InvalidInputError(what="records", why="is text, not a list of records")
    return write


async def _write_records(
    transaction: Transaction, asked: RememberInput, write: MemoryWrite
) -> tuple[RecordRef, ...]:
    assert not isinstance(write.records, str)
    # In one order for all, so that two jobs of an agent cannot lock each other out.
    in_order = sorted(write.records, key=lambda each: (each.namespace, each.key))
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
    if asked.operation.job_id is not None:
        reads = [record.read for record in written]
        await transaction.records.add_reads(asked.operation.job_id, reads)
    return tuple(record.ref for record in written)


async def _changed(
    transaction: Transaction, asked: RememberInput, write: MemoryWrite, *, state: WorkingMemory
) -> WorkingMemory:
    changed = state
    if write.message is not None:
        fields = write.message.model_dump()
        now = await transaction.now()
        message = Message(id=asked.new_id("message"), at=now, **fields)
        changed = changed.with_messages([message])
    if write.variables:
        changed = changed.with_variables(write.variables)
    if write.note is not None:
        changed = changed.with_note(write.note)
    if write.task is not None:
        changed = changed.with_task(write.task)
    if asked.tool_call is not None:
        changed = changed.with_tool_call(asked.tool_call)
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

"""Segments of working memory: what enters them, which summaries replace texts, and what is left at a job's end.

Remembering, thinking, reading a session and ending a job write segments by one rule.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mnestic.activities.jobs.exclusions import allowed_episode
from mnestic.activities.jobs.transcripts import text_of
from mnestic.activities.models.metering import UsageMeter, WriteRow
from mnestic.activities.operations import OperationInput
from mnestic.memory.contract.document import Segment, ShortTerm
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.short_term.segment_steps import (
    SegmentEdit,
    SegmentSummary,
    summary_chars,
    text_to_summarize,
    unknown_segment,
)
from mnestic.memory.jobs.short_term.segments import (
    ContractRef,
    SegmentContext,
    SegmentEntry,
    SummaryStrategy,
    tokens_of,
)
from mnestic.memory.jobs.working_memory import Message, WorkingMemory
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.models.messages import ChatMessage, Summary
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Memory, Summariser, TokenCounter, Transaction

SUMMARY_OF = "summary_of"
"""The member of an episode's payload that says of which segment it is a summary."""

_HYBRID_SHARE = 3  # the chosen sentences have as many times the characters of their summary
log = logging.getLogger("mnestic.segments")


class SegmentInput(OperationInput):
    """The input of an activity that writes segments, by the contract that its job has pinned; none without one."""

    contract: ContractRef | None = None


@dataclass(frozen=True, kw_only=True)
class SegmentStep:
    """What a write to segments needs: the rules, and the summary that was made for it outside of the transaction."""

    rules: ShortTerm
    segment_id: str | None = None
    summary: SegmentSummary | None = None
    made: Summary | None = None


async def find_contract(transaction: Transaction, agent_id: str) -> ContractRef:
    """The contract in force for an agent; version 0 without one."""
    found = await transaction.contracts.find_for(agent_id)
    if found is None:
        return ContractRef()
    return ContractRef(selector=found.selector, version=found.version)


async def find_section(
    transaction: Transaction, contract: ContractRef | None, name: str
) -> dict[str, Any] | None:
    """A section of a version of a contract as it is stored, such as `short_term`; None without one."""
    if contract is None or not contract.version:
        return None
    found = await transaction.contracts.find(contract.selector, version=contract.version)
    if found is None or found.document is None:
        return None
    section: dict[str, Any] | None = found.document["Memory"].get(name)
    return section


async def find_rules(transaction: Transaction, contract: ContractRef | None) -> ShortTerm | None:
    """The rules of segments of a version of a contract; None if it has no segments."""
    section = await find_section(transaction, contract, "short_term")
    rules = None if section is None else ShortTerm.model_validate(section)
    return rules if rules is not None and rules.enabled and rules.segments else None


async def require_rules(transaction: Transaction, params: SegmentInput) -> ShortTerm:
    """The rules of segments by an operation's contract.

    Raises:
        InvalidInputError: it has none.
    """
    rules = await find_rules(transaction, params.contract)
    if rules is None:
        why = "has no contract with segments"
        raise InvalidInputError(what=f"agent {params.scope.agent_id}", why=why)
    return rules


class SegmentWriter:
    """Writes segments of a session in the transaction of the operation that changes working memory."""

    def __init__(
        self,
        memory: Memory,
        *,
        count_tokens: TokenCounter,
        extractive: Summariser,
        summariser: Summariser,
        prices: ModelPrices | None = None,
    ) -> None:
        """Prepares the writer.

        Args:
            memory: Where calls of the model are written down.
            count_tokens: Counts exactly.
            extractive: Chooses key sentences.
            summariser: Asks the chat model; without one it is local too.
            prices: The prices of the model.
        """
        self._count_tokens = count_tokens
        self._extractive, self._summariser = extractive, summariser
        self._meter = UsageMeter(memory, prices, purpose="summarise")

    def entries(self, state: WorkingMemory, rules: ShortTerm) -> tuple[SegmentEntry, ...]:
        """The entries of a session, counted, as far as the rules have a place for them."""
        at = (
            max((entry.at for entry in state.segments.entries), default=None)
            if state.segments
            else None
        )
        return () if at is None else self._edit(None, state, rules, at=at).entries

    async def prepare(
        self,
        params: SegmentInput,
        state: WorkingMemory,
        messages: Sequence[Message],
        *,
        rules: ShortTerm,
        segment_id: str | None = None,
    ) -> SegmentStep:
        """Makes the summary that is due when messages enter a segment.

        Raises:
            InvalidInputError: the contract has no such segment.
        """
        if not messages:
            return SegmentStep(rules=rules)
        edit = self._edit(params, state, rules, at=messages[0].at)
        due = edit.due(_drafts(edit, params, messages, segment_id=segment_id))
        if not due:
            return SegmentStep(rules=rules, segment_id=segment_id)
        summary, made = await self.summarize(params, due, rules=rules)
        return SegmentStep(rules=rules, segment_id=segment_id, summary=summary, made=made)

    async def write(
        self,
        transaction: Transaction,
        params: SegmentInput,
        state: WorkingMemory,
        *,
        step: SegmentStep,
        messages: Sequence[Message],
        used: Sequence[str] = (),
    ) -> WorkingMemory:
        """Marks entries as used and adds messages to a segment of the state, with its summary and what is evicted."""
        edit = self._edit(params, state, step.rules, at=await transaction.now())
        edit.use(used)
        edit.write(_drafts(edit, params, messages, segment_id=step.segment_id), step.summary)
        return await self.finish(transaction, params, state, edit=edit)

    def row(self, params: SegmentInput, step: SegmentStep) -> WriteRow | None:
        """What writes down the call of the model that made a step's summary."""
        return self._meter.row(params, step.made)

    async def end_job(
        self,
        transaction: Transaction,
        params: SegmentInput,
        state: WorkingMemory,
        *,
        rules: ShortTerm,
    ) -> WorkingMemory:
        """Ends what segments of tasks have of the job."""
        edit = self._edit(params, state, rules, at=await transaction.now())
        edit.end_job(params.operation.job_id or "")
        return await self.finish(transaction, params, state, edit=edit) if edit.changes else state

    def context(self, state: WorkingMemory, rules: ShortTerm, segment_id: str) -> SegmentContext:
        """What a segment has.

        Raises:
            InvalidInputError: the contract has no such segment.
        """
        entries = tuple(e for e in self.entries(state, rules) if e.segment_id == segment_id)
        return SegmentContext(
            segment_id=segment_id,
            content="\n".join(entry.content for entry in entries),
            tokens=tokens_of(entries),
            max_tokens=rule_of(rules, segment_id).max_tokens,
            created_at=min((entry.at for entry in entries), default=None),
            entries=entries,
        )

    async def replace(
        self,
        transaction: Transaction,
        params: SegmentInput,
        state: WorkingMemory,
        *,
        rules: ShortTerm,
        content: SegmentEntry,
    ) -> WorkingMemory:
        """Puts a text in the place of all that its segment has.

        Raises:
            InvalidInputError: the contract has no such segment, or what stays in others leaves no room.
        """
        edit = self._edit(params, state, rules, at=content.at)
        if edit.replace(edit.segment(content.segment_id), content) is None:
            raise InvalidInputError(what=f"segment {content.segment_id}", why=edit.changes[-1].why)
        return await self.finish(transaction, params, state, edit=edit)

    async def summarize_now(
        self,
        params: SegmentInput,
        state: WorkingMemory,
        *,
        rules: ShortTerm,
        segment_id: str,
        at: datetime,
    ) -> SegmentStep:
        """Makes the summary of all texts of a segment but the newest; none if they are too few.

        Raises:
            InvalidInputError: the contract has no such segment.
        """
        edit = self._edit(params, state, rules, at=at)
        due = edit.oldest(edit.segment(segment_id))
        if not due:
            return SegmentStep(rules=rules)
        summary, made = await self.summarize(params, due, rules=rules, why="somebody asked for it")
        return SegmentStep(rules=rules, summary=summary, made=made)

    async def end_session(
        self,
        transaction: Transaction,
        params: SegmentInput,
        state: WorkingMemory,
        *,
        rules: ShortTerm,
    ) -> WorkingMemory:
        """Ends what segments of the session and of tasks have."""
        edit = self._edit(params, state, rules, at=await transaction.now())
        edit.end_session()
        return await self.finish(transaction, params, state, edit=edit) if edit.changes else state

    async def summarize(
        self,
        params: SegmentInput,
        due: Sequence[SegmentEntry],
        *,
        rules: ShortTerm,
        why: str | None = None,
    ) -> tuple[SegmentSummary, Summary | None]:
        """A summary of entries by the contract's strategy, and the call that was paid for it.

        Without a chat model, or if it does not answer, it is extractive and says so.
        """
        rule = rule_of(rules, due[0].segment_id)
        wanted = rules.summarization.strategy
        turns = tuple(ChatMessage(role=e.role, content=text_to_summarize(e)) for e in due)
        max_chars = summary_chars(due, rule)
        made, fallback = None, ""
        if wanted != "extractive":
            made, fallback = await self._by_model(params, turns, wanted, max_chars=max_chars)
        strategy: SummaryStrategy = wanted if made is not None else "extractive"
        text = (made or await self._extractive.summarise(turns, max_chars=max_chars)).text
        reason = (
            why or f"{rules.summarization.trigger_threshold} percent of {rule.max_tokens} tokens"
        )
        summary = SegmentSummary(
            id=params.new_id("segment-summary"),
            ids=tuple(entry.id for entry in due),
            text=text,
            strategy=strategy,
            reason=f"{reason}; {strategy}{fallback}",
        )
        return summary, made

    async def finish(
        self,
        transaction: Transaction,
        params: SegmentInput,
        state: WorkingMemory,
        *,
        edit: SegmentEdit,
    ) -> WorkingMemory:
        """The state with the segments after an edit. The ledger goes to the audit log too, originals to an episode."""
        for change in edit.changes:
            tokens = f"{change.tokens_before} to {change.tokens_after} tokens"
            target = f"{params.scope.session_id}/{change.segment_id}"
            reason = f"{change.why}; entries: {len(change.ids)}, {tokens}"
            transaction.note(f"segment.{change.kind}", target, reason=reason)
        if edit.summarized:
            episode = _episode(params, state, edit, at=await transaction.now())
            allowed = await allowed_episode(transaction, episode)
            await transaction.episodes.append(allowed, said=state.messages)
        return state.with_segments(edit.result())

    async def _by_model(
        self,
        params: SegmentInput,
        turns: tuple[ChatMessage, ...],
        strategy: SummaryStrategy,
        *,
        max_chars: int,
    ) -> tuple[Summary | None, str]:
        """The summary of the chat model, or None and the reason why there is none."""
        if self._summariser.model is None:
            return None, f", since there is no chat model for {strategy}"
        if strategy == "hybrid":
            chosen = await self._extractive.summarise(turns, max_chars=max_chars * _HYBRID_SHARE)
            turns = (ChatMessage(role="user", content=chosen.text),)
        try:
            made = await self._meter.answer(
                params, self._summariser.summarise(turns, max_chars=max_chars)
            )
        except (ModelUnavailableError, ModelRefusedError) as error:
            log.warning("summarizes without the chat model", extra={"why": str(error)})
            return None, f", since the chat model gave no answer for {strategy}"
        return made, ""

    def _edit(
        self, params: SegmentInput | None, state: WorkingMemory, rules: ShortTerm, *, at: datetime
    ) -> SegmentEdit:
        return SegmentEdit(
            state.segments,
            rules,
            count_tokens=self._count_tokens,
            at=at,
            job_id=params.operation.job_id if params else None,
            contract=params.contract if params else None,
        )


def rule_of(rules: ShortTerm, segment_id: str) -> Segment:
    """The rules of a segment.

    Raises:
        InvalidInputError: the contract has no such segment.
    """
    names = {rule.segment_id: rule for rule in rules.segments}
    if segment_id not in names:
        raise unknown_segment(segment_id, names)
    return names[segment_id]


def _drafts(
    edit: SegmentEdit, params: SegmentInput, messages: Sequence[Message], *, segment_id: str | None
) -> list[SegmentEntry]:
    """Messages as entries of a segment."""
    return [
        SegmentEntry(
            id=message.id,
            segment_id=edit.segment(segment_id),
            role=message.role,
            content=text_of(message),
            at=message.at,
            channel=message.channel,
            job_id=params.operation.job_id,
        )
        for message in messages
    ]


def _episode(
    params: SegmentInput, state: WorkingMemory, edit: SegmentEdit, *, at: datetime
) -> Episode:
    """The summary as an episode, with the originals that are no messages of the session, which has those."""
    made, sources = edit.summarized[0], edit.summarized[1:]
    messages = {message.id for message in state.messages}
    originals: list[dict[str, Any]] = [
        source.model_dump(mode="json", include={"id", "role", "content", "at"})
        for source in sources
        if source.id not in messages and source.source is None
    ]
    stands_for = made.source.model_dump(mode="json") if made.source else {}
    return Episode(
        id=made.id,
        agent_id=params.scope.agent_id,
        session_id=params.scope.session_id,
        job_id=params.operation.job_id,
        summary=made.content,
        payload={SUMMARY_OF: made.segment_id, **stands_for, "originals": originals},
        created_at=at,
    )

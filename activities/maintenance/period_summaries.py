"""Summaries of large memories by time: of sessions first, then of weeks, months, and the life, each of those of the level below."""

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from mnestic.activities.maintenance.run_model import NO_MORE_CALLS
from mnestic.activities.maintenance.steps import CALLS
from mnestic.memory.errors import MnesticError
from mnestic.memory.knowledge.world.period_summaries import (
    LEVELS,
    SummaryLevel,
    SummaryNode,
    SummaryPart,
    name_of,
    periods_of,
)
from mnestic.memory.models.errors import ModelRefusedError
from mnestic.memory.models.messages import ChatMessage, Summary
from mnestic.memory.ports import Summariser, TokenCounter, Transaction

_SESSIONS = 200  # looked at by one statement
_PARTS = 2000  # read by one
_CHARS_AT_ONCE = 24_000  # of what is summarised at once; of more, summaries are summarised
_MOST_CHARS: dict[SummaryLevel, int] = {"session": 400, "week": 500, "month": 500, "life": 600}


class Begin(Protocol):
    """Begins a transaction of an agent."""

    def __call__(self, *, write: bool) -> AbstractAsyncContextManager[Transaction]: ...  # noqa: D102


class PeriodModel(Protocol):
    """The chat model that writes the summaries above those of sessions."""

    async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
        """A summary of at most so many characters.

        Raises:
            MnesticError: one of `NO_MORE_CALLS`, or this text was refused.
        """
        ...

    async def keep(self, transaction: Transaction, answer: Summary) -> None:
        """Writes a call down, in the transaction that stores the summary."""
        ...


class PeriodSummaryBuilder:
    """Builds the summaries of an agent that are missing, or that were made of something else.

    Each is stored in a transaction of its own, so that another attempt goes on where one was killed. No more of the memory
    is read at once than one statement returns.

    Attributes:
        problems: The summaries that the model refused, and why.
        stopped: Why the model is not asked any more.
        left: How many summaries quote since then; the next run asks the model for them.
    """

    def __init__(
        self,
        begin: Begin,
        *,
        at: datetime,
        quoting: Summariser,
        count_tokens: TokenCounter,
        model: PeriodModel | None = None,
    ) -> None:
        """Prepares it.

        Args:
            begin: Begins a transaction of the agent.
            at: The time of the run, which the summaries note.
            quoting: Summarises sessions, of which there are too many to ask a model; without a model all.
            count_tokens: Counts exactly.
            model: Summarises weeks, months and the life.
        """
        self.problems: list[str] = []
        self.stopped: MnesticError | None = None
        self.left = 0
        self._begin, self._at = begin, at
        self._quoting, self._model, self._count_tokens = quoting, model, count_tokens

    async def build(self, *, above: int) -> Counter[str]:
        """Builds what is due, or removes all if the agent has no more messages than `above`; returns the counts of a report."""
        if not await self._is_large(above):
            async with self._begin(write=True) as transaction:
                return Counter(summaries_removed=await transaction.summaries.remove_all())
        async for nodes in self._changed_sessions():
            await self._build_all(nodes)
        for level in LEVELS[1:]:
            async with self._begin(write=False) as transaction:
                nodes = await transaction.summaries.list_changed_periods(level)
            await self._build_all(nodes)
        return await self.count_built()

    async def count_built(self) -> Counter[str]:
        """What the run has built, by earlier attempts too."""
        async with self._begin(write=False) as transaction:
            return Counter(summaries_built=await transaction.summaries.count_built(self._at))

    async def count_due(self, *, above: int) -> Counter[str]:
        """What `build` would count, and the calls of a model that it would make, at least; it changes nothing."""
        if not await self._is_large(above):
            async with self._begin(write=True) as transaction:
                removed = await transaction.summaries.remove_all()
                transaction.discard()
            return +Counter(summaries_removed=removed)
        due = set[tuple[SummaryLevel, datetime | None]]()
        sessions = 0
        async for nodes in self._changed_sessions():
            sessions += len(nodes)
            due.update(periods_of(nodes))
        for level in LEVELS[1:]:  # those that an earlier run has left
            async with self._begin(write=False) as transaction:
                due.update(periods_of(await transaction.summaries.list_changed_periods(level)))
        calls = 0 if self._model is None else len(due)
        return +Counter({"summaries_built": sessions + len(due), CALLS: calls})

    async def _is_large(self, above: int) -> bool:
        async with self._begin(write=False) as transaction:
            return await transaction.summaries.count_messages(at_most=above + 1) > above

    async def _changed_sessions(self) -> AsyncIterator[Sequence[SummaryNode]]:
        sessions: tuple[str, ...] = ("",)  # messages without a session come first
        while sessions:
            async with self._begin(write=False) as transaction:
                nodes = await transaction.summaries.list_changed_sessions(sessions)
            yield nodes
            async with self._begin(write=False) as transaction:
                sessions = await transaction.summaries.list_sessions(sessions[-1], limit=_SESSIONS)

    async def _build_all(self, nodes: Sequence[SummaryNode]) -> None:
        for node in nodes:
            await self._build(node)

    async def _build(self, node: SummaryNode) -> None:
        read, answers = _PartDigest(), list[Summary]()
        text = await self._text(node, read, answers)
        is_left = self.stopped is not None and node.level != "session"
        self.left += is_left
        async with self._begin(write=True) as transaction:
            built = node._replace(digest=read.digest())
            tokens = self._count_tokens(text)
            await transaction.summaries.put(
                built, text, tokens=tokens, at=self._at, is_left=is_left
            )
            if self._model is not None:
                for answer in answers:
                    await self._model.keep(transaction, answer)

    async def _text(self, node: SummaryNode, read: "_PartDigest", answers: list[Summary]) -> str:
        """The summary of a node, in as many steps as its length needs; notes what it has read and what the model answered."""
        written: list[str] = []
        lines: list[str] = []
        async for part in self._parts(node):
            read.add(part)
            new = _lines(node, part)
            if lines and _length(lines) + _length(new) > _CHARS_AT_ONCE:
                written.append(await self._summarise(lines, node, answers))
                lines = []
            lines += new
        written.append(await self._summarise(lines, node, answers))
        while len(written) > 1:
            again = [line for text in written for line in text.splitlines()]
            written = [await self._summarise(some, node, answers) for some in _chunks(again)]
        return written[0]

    async def _parts(self, node: SummaryNode) -> AsyncIterator[SummaryPart]:
        after = None
        more = node.messages > 0
        while more:
            async with self._begin(write=False) as transaction:
                parts = await transaction.summaries.read_parts(node, after=after, limit=_PARTS)
            for part in parts:
                yield part
            after, more = parts[-1] if parts else None, len(parts) == _PARTS

    async def _summarise(
        self, lines: Sequence[str], node: SummaryNode, answers: list[Summary]
    ) -> str:
        """A summary by the model, if it may be asked and does not refuse; else a quoting one."""
        turns = [ChatMessage(role="user", content=line) for line in lines]
        most = _MOST_CHARS[node.level]
        if self._model is not None and self.stopped is None and node.level != "session" and turns:
            try:
                answers.append(await self._model.summarise(turns, max_chars=most))
                return answers[-1].text
            except NO_MORE_CALLS as error:
                self.stopped = error
            except ModelRefusedError as error:
                name = name_of(node.level, node.starts_at, node.session_id)
                self.problems.append(f"summary of {name}: {error}")
        if node.level != "session":  # what a model wrote names no speaker
            turns = [turn.model_copy(update={"role": "assistant"}) for turn in turns]
        return (await self._quoting.summarise(turns, max_chars=most)).text


class _PartDigest:
    """The digest of the parts that were read, as the database computes it."""

    def __init__(self) -> None:
        self._hash, self._is_empty = hashlib.sha256(), True

    def add(self, part: SummaryPart) -> None:
        """Adds the next part."""
        self._hash.update((part.mark if self._is_empty else f",{part.mark}").encode())
        self._is_empty = False

    def digest(self) -> str:
        """The digest; empty of nothing."""
        return "" if self._is_empty else self._hash.hexdigest()


def _lines(node: SummaryNode, part: SummaryPart) -> list[str]:
    """A message, or the lines of a summary, of which each begins with who said it."""
    return [part.text] if node.level == "session" else part.text.splitlines()


def _length(lines: Iterable[str]) -> int:
    return sum(map(len, lines))


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines in parts that are summarised at once; at least one part."""
    chunk: list[str] = []
    for line in lines:
        if chunk and _length(chunk) + len(line) > _CHARS_AT_ONCE:
            yield chunk
            chunk = []
        chunk.append(line)
    yield chunk

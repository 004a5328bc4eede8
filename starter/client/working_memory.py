"""`memory.working_memory`: the state of a session, and its segments for those who are no job.

It stands apart from the other parts of a client because the agent's contract decides what segments may hold.
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mnestic.activities.jobs.segments import (
    SegmentInput,
    SegmentWriter,
    find_contract,
    find_rules,
)
from mnestic.memory.contract.document import ShortTerm
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.short_term.segments import SegmentContext, SegmentEntry
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.resources import check_content
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Transaction
from mnestic.memory.scope import Scope, check_id
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.client_scope import ClientPart
from mnestic.starter.memory_wiring import local_summariser


@dataclass(frozen=True, kw_only=True)
class _OpenSession:
    """A session in a transaction, with the rules in force."""

    transaction: Transaction
    params: SegmentInput
    state: WorkingMemory
    rules: ShortTerm


class WorkingMemoryClient(ClientPart):
    """The working memory of one agent, by session. Jobs write it.

    Its segments are those of the agent's contract in force; without short-term memory in it, calls about them are refused.
    """

    async def get(self, session_id: str) -> WorkingMemory:
        """A session's working memory."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.working.load(session_id)

    async def get_context(self, session_id: str, segment_id: str) -> SegmentContext:
        """What a segment has, with its tokens.

        Raises:
            InvalidInputError: the agent's contract has no such segment.
        """
        async with self._session(session_id, write=False) as session:
            return self._writer().context(session.state, session.rules, segment_id)

    async def set_context(
        self, session_id: str, segment_id: str, content: FreeText
    ) -> SegmentContext:
        """Puts a text in the place of all that a segment has; what is too large is cut at a sentence.

        Raises:
            InvalidInputError: the agent's contract has no such segment, or what stays in others leaves no room.
            KeptOutError: the text speaks of what was forgotten and is kept out.
        """
        check_content(content, what="context")
        async with self._session(session_id, write=True) as session:
            await session.transaction.suppression_list.check(content, what="context")
            entry = SegmentEntry(
                id=session.params.new_id("context"),
                segment_id=segment_id,
                content=content,
                at=await session.transaction.now(),
            )
            state = await self._writer().replace(
                session.transaction,
                session.params,
                session.state,
                rules=session.rules,
                content=entry,
            )
            await session.transaction.working.save(session_id, state)
            return self._writer().context(state, session.rules, segment_id)

    async def summarize(self, session_id: str, segment_id: str) -> str:
        """Summarizes all texts of a segment but the newest, by their key sentences; returns what the segment has then.

        The ledger says so where the contract has another strategy: only workers ask the chat model.

        Raises:
            InvalidInputError: the agent's contract has no such segment.
        """
        async with self._session(session_id, write=True) as session:
            writer, now = self._writer(), await session.transaction.now()
            step = await writer.summarize_now(
                session.params, session.state, rules=session.rules, segment_id=segment_id, at=now
            )
            state = session.state
            if step.summary is not None:
                state = await writer.write(
                    session.transaction, session.params, state, step=step, messages=()
                )
                await session.transaction.working.save(session_id, state)
            return writer.context(state, session.rules, segment_id).content

    async def end_session(self, session_id: str) -> None:
        """Ends a session: what its segments have goes, but for persistent ones. Messages and variables stay.

        Nothing else ends a session: jobs of it may follow one another.

        Raises:
            InvalidInputError: the agent has no contract with short-term memory.
        """
        async with self._session(session_id, write=True) as session:
            state = await self._writer().end_session(
                session.transaction, session.params, session.state, rules=session.rules
            )
            if state is not session.state:
                await session.transaction.working.save(session_id, state)

    @asynccontextmanager
    async def _session(self, session_id: str, *, write: bool) -> AsyncIterator[_OpenSession]:
        caller = self._scope.caller
        async with self._scope.transaction(write=write) as transaction:
            state = await transaction.working.load(check_id(session_id, what="session"), lock=write)
            contract = await find_contract(transaction, caller.agent_id)
            rules = await find_rules(transaction, contract)
            if rules is None:
                why = "has no contract with short-term memory"
                raise InvalidInputError(what=f"agent {caller.agent_id}", why=why)
            scope = Scope(
                tenant_id=caller.tenant_id, agent_id=caller.agent_id, session_id=session_id
            )
            operation = Operation(key=f"client/{uuid.uuid4()}", name="segment")
            params = SegmentInput(scope=scope, operation=operation, contract=contract)
            yield _OpenSession(transaction=transaction, params=params, state=state, rules=rules)

    def _writer(self) -> SegmentWriter:
        local = local_summariser()
        return SegmentWriter(
            self._scope.caller.memory,
            count_tokens=self._scope.count_tokens,
            extractive=local,
            summariser=local,
        )

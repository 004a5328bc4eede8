"""`memory.working_memory`: the state of a session, which jobs write, and its end."""

import uuid

from mnestic.activities.jobs.segments import SegmentInput, find_contract, require_rules
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.operations import Operation
from mnestic.memory.scope import Scope, check_id
from mnestic.starter.client.client_scope import ClientPart


class WorkingMemoryClient(ClientPart):
    """The working memory of one agent, by session. Jobs write it; `memory.contract` has its segments."""

    async def get(self, session_id: str) -> WorkingMemory:
        """A session's working memory."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.working.load(session_id)

    async def end_session(self, session_id: str) -> None:
        """Ends a session: what its segments have goes, but for persistent ones. Messages and variables stay.

        Nothing else ends a session: jobs of it may follow one another.

        Raises:
            InvalidInputError: the agent has no contract with segments in force.
        """
        caller = self._scope.caller
        scope = Scope(
            tenant_id=caller.tenant_id,
            agent_id=caller.agent_id,
            session_id=check_id(session_id, what="session"),
        )
        async with self._scope.transaction(write=True) as transaction:
            params = SegmentInput(
                scope=scope,
                operation=Operation(key=f"client/{uuid.uuid4()}", name="end_session"),
                contract=await find_contract(transaction, caller.agent_id),
            )
            state = await transaction.working.load(session_id, lock=True)
            ended = await self._scope.segment_writer().end_session(
                transaction, params, state, rules=await require_rules(transaction, params)
            )
            if ended is not state:
                await transaction.working.save(session_id, ended)

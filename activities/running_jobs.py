"""Which jobs run: those alone know what they have in mind, and go on with it.

It stands alone because the database tells of jobs that came to their end, and Temporal of those that were
terminated, or are workflows of somebody's own.
"""

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.errors import TemporalUnavailableError
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Transaction

_SESSION = SearchAttributeKey.for_keyword("SessionId")


class RunningJobs:
    """The running jobs of an agent; Temporal is asked about each once."""

    def __init__(self, temporal: Client, *, tenant_id: str, agent_id: str) -> None:
        self._temporal, self._tenant_id, self.agent_id = temporal, tenant_id, agent_id
        self._jobs: dict[str, bool] = {}
        self._visible: frozenset[str] | None = None

    async def has_job(self, transaction: Transaction, job_id: str) -> bool:
        """Whether a job runs.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        if job_id not in self._jobs:
            sessions = await transaction.forgetting.open_sessions(job_id)
            self._jobs[job_id] = sessions is not None and await self._runs(job_id, sessions)
        return self._jobs[job_id]

    async def has_session(self, transaction: Transaction, session_id: str) -> bool:
        """Whether a job runs in a session.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        if session_id in await self._sessions():
            return True
        return any(
            [
                await self.has_job(transaction, job_id)
                for job_id in await transaction.forgetting.jobs_of(session_id)
            ]
        )

    async def _runs(self, job_id: str, sessions: tuple[str, ...]) -> bool:
        handle = self._temporal.get_workflow_handle(job_workflow_id(self._tenant_id, job_id))
        try:
            return (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise _unavailable(error) from error
        # Somebody's own workflow, whose id is theirs, or a job that Temporal has dropped.
        return bool(await self._sessions() & set(sessions))

    async def _sessions(self) -> frozenset[str]:
        """The sessions of workflows that run, as Temporal's visibility tells of them."""
        if self._visible is None:
            query = (
                f"TenantId = '{self._tenant_id}' AND AgentId = '{self.agent_id}' "
                "AND ExecutionStatus = 'Running'"
            )
            try:
                found = [
                    one.typed_search_attributes.get(_SESSION)
                    async for one in self._temporal.list_workflows(query)
                ]
            except RPCError as error:
                raise _unavailable(error) from error
            self._visible = frozenset(session for session in found if session)
        return self._visible


def _unavailable(error: RPCError) -> TemporalUnavailableError:
    return TemporalUnavailableError(where="the server", why=error.message)

"""Which jobs run: those alone know what they have in mind, and go on with it.

The database tells of jobs that came to their end, and Temporal of those that were terminated, or are workflows of
somebody's own.
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
        self._known: dict[str, bool] = {}
        self._visible: dict[str, list[str]] | None = None

    async def has_job(self, transaction: Transaction, job_id: str) -> bool:
        """Whether a job runs.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        sessions = await transaction.forgetting.open_sessions(job_id)
        if sessions is None:
            return False
        found = await self._runs(job_workflow_id(self._tenant_id, job_id))
        if found is not None:
            return found
        # Somebody's own workflow, whose id is theirs, or a job that Temporal has dropped.
        return any([await self._is_visible(session) for session in sessions])

    async def has_session(self, transaction: Transaction, session_id: str) -> bool:
        """Whether a job runs in a session.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        if await self._is_visible(session_id):
            return True
        jobs = await transaction.forgetting.jobs_of(session_id)
        return any([await self.has_job(transaction, job_id) for job_id in jobs])

    async def _is_visible(self, session_id: str) -> bool:
        """Whether a workflow runs in a session; visibility may be late, and tell of one that is over."""
        if self._visible is None:
            self._visible = await self._list()
        workflows = self._visible.get(session_id, [])
        return any([await self._runs(workflow_id) for workflow_id in workflows])

    async def _list(self) -> dict[str, list[str]]:
        """The workflows of the agent that run, by session."""
        query = (
            f"TenantId = '{self._tenant_id}' AND AgentId = '{self.agent_id}' "
            "AND ExecutionStatus = 'Running'"
        )
        found: dict[str, list[str]] = {}
        try:
            async for one in self._temporal.list_workflows(query):
                session_id = one.typed_search_attributes.get(_SESSION)
                found.setdefault(session_id or "", []).append(one.id)
        except RPCError as error:
            raise _unavailable(error) from error
        return found

    async def _runs(self, workflow_id: str) -> bool | None:
        """Whether a workflow runs; None if Temporal does not know it."""
        if workflow_id not in self._known:
            handle = self._temporal.get_workflow_handle(workflow_id)
            try:
                status = (await handle.describe()).status
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    return None
                raise _unavailable(error) from error
            self._known[workflow_id] = status is WorkflowExecutionStatus.RUNNING
        return self._known[workflow_id]


def _unavailable(error: RPCError) -> TemporalUnavailableError:
    return TemporalUnavailableError(where="the server", why=error.message)

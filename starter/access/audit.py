"""The audit log of a tenant: who read or wrote what, and what was denied."""

from pydantic import ValidationError

from mnestic.memory.access.audit import AuditEntry, AuditQuery
from mnestic.memory.ports import Memory
from mnestic.memory.scope import EVERY_AGENT, check_id
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import ChecksTexts


class AuditClient(ChecksTexts):
    """The audit log of a tenant."""

    def __init__(self, memory: Memory, *, tenant_id: str, actor: str = "client") -> None:
        """Prepares the client.

        Raises:
            InvalidInputError: the tenant is no id.
        """
        self._memory, self._tenant_id = memory, check_id(tenant_id, what="tenant")
        self._actor = actor

    async def list(
        self,
        *,
        agent_id: str | None = None,
        key_id: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        denied: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[tuple[AuditEntry, ...], str | None]:
        """Reads and writes, the latest first, and the cursor of the next page.

        Args:
            agent_id: Only of this agent; `*` is what concerns the whole tenant.
            key_id: Only with this API key.
            actor: Only by this job, session, key (`key/ID`) or client.
            action: Only this action, or those that begin so, such as `fact.`.
            denied: Only what was denied.
            limit: The maximum number of results.
            cursor: The cursor of the previous page.

        Raises:
            InvalidInputError: the agent is no id, or the cursor is of another list.
        """
        if agent_id not in {None, EVERY_AGENT}:
            check_id(str(agent_id), what="agent")
        try:
            query = AuditQuery(
                agent_id=agent_id, key_id=key_id, actor=actor, action=action, denied=denied
            )
        except ValidationError as error:
            raise refused("audit query", error, model=AuditQuery) from None
        async with self._memory.transaction(
            tenant_id=self._tenant_id, agent_id=EVERY_AGENT, actor=self._actor, write=False
        ) as transaction:
            return await transaction.audit.list(query, limit=limit, cursor=cursor)

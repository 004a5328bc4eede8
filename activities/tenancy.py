"""Holding activities to the tenant of the workflow that calls them.

One wall in front of all activities covers the next one as well.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from mnestic.activities.failures import failures
from mnestic.memory.errors import ForeignTenantError
from mnestic.memory.names import OWN_ACTIVITIES, tenant_of_workflow

# They read nothing but the history of the workflow that calls them.
_WITHOUT_TENANT = frozenset({"mnestic.find_arrival"})


class TenantGuard(Interceptor):
    """Refuses a call of our activities that names another tenant than the calling workflow's id does.

    A workflow whose id names no tenant may access the worker's own; without one its calls are refused.
    """

    def __init__(self, *, tenant_id: str | None) -> None:
        self._tenant_id = tenant_id

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - Temporal's name
        """See the base class."""
        return _GuardedInbound(next, self._tenant_id)


class _GuardedInbound(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, tenant_id: str | None) -> None:  # noqa: A002 - Temporal's name
        super().__init__(next)
        self._tenant_id = tenant_id

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - Temporal's name
        info = activity.info()
        name = info.activity_type
        if name.startswith(OWN_ACTIVITIES) and name not in _WITHOUT_TENANT:
            with failures():
                self._check(name, input.args, workflow_id=info.workflow_id)
        return await super().execute_activity(input)

    def _check(self, name: str, arguments: Sequence[Any], *, workflow_id: str | None) -> None:
        """Checks that each argument of a call names the tenant that the workflow may reach.

        Raises:
            ForeignTenantError: one names another tenant or none.
        """
        allowed = tenant_of_workflow(workflow_id or "") or self._tenant_id
        for named in map(_tenant_in, arguments):
            if named is None or named != allowed:
                raise ForeignTenantError(caller=name, tenant_id=named, workflow_id=workflow_id)


def _tenant_in(argument: Any) -> str | None:
    """The tenant whose memory an activity's argument asks for."""
    owner = getattr(argument, "scope", argument)
    tenant_id = getattr(owner, "tenant_id", None) if isinstance(argument, BaseModel) else None
    return tenant_id if isinstance(tenant_id, str) else None

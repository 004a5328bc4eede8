"""Holding a workflow to the tenant in its id.

Each of our workflows checks it first, before it shows itself in anybody's lists.
"""

from temporalio import workflow

from mnestic.memory.errors import ForeignTenantError
from mnestic.memory.names import tenant_of_workflow

_REFUSES = "own-tenant"  # the patch: a history that went on replays, also under another id


def require_own_tenant(tenant_id: str) -> None:
    """Checks that the workflow's input names no other tenant than its id does.

    An id that names none is no concern of the workflow: the worker knows its tenant.

    Raises:
        ForeignTenantError: it names another; the workflow fails by it.
    """
    info = workflow.info()
    named = tenant_of_workflow(info.workflow_id)
    if named not in (None, tenant_id) and workflow.patched(_REFUSES):
        raise ForeignTenantError(
            caller=info.workflow_type, tenant_id=tenant_id, workflow_id=info.workflow_id
        )

"""The order in which queued jobs get a worker: by priority, and fairly between tenants."""

import hashlib

from temporalio.common import Priority

from mnestic.memory.errors import InvalidInputError

FIRST, LAST = 1, 5
_LONGEST_KEY = 64  # bytes; Source: temporalio.common.Priority
_DIGEST = 32


def priority_of(*, tenant_id: str, level: int | None, weight: float | None) -> Priority:
    """A job's priority; its activities, and the runs it continues in, inherit it.

    Args:
        tenant_id: Tenants take turns, even if one has queued far more than the others.
        level: 1 is first, 5 is last; 3 by default.
        weight: The number of turns for each turn of a tenant with weight 1.

    Raises:
        InvalidInputError: there is no such level.
    """
    if level is not None and not FIRST <= level <= LAST:
        why = f"must be from {FIRST}, which goes first, to {LAST}, not {level}"
        raise InvalidInputError(what="priority", why=why)
    return Priority(
        priority_key=level, fairness_key=_fairness_key(tenant_id), fairness_weight=weight
    )


def _fairness_key(tenant_id: str) -> str:
    """The tenant's id; one that is too long is cut and ends with its digest.

    No id holds a `~`, so that a cut one is never that of another tenant.
    """
    if len(tenant_id.encode()) <= _LONGEST_KEY:
        return tenant_id
    digest = hashlib.sha256(tenant_id.encode()).hexdigest()[:_DIGEST]
    return f"{tenant_id[: _LONGEST_KEY - _DIGEST - 1]}~{digest}"

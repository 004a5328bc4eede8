"""The guard of maintenance: a run that would remove too much of an agent's memory changes nothing of it.

It counts what is active before and after, so that it holds for every kind of maintenance, whatever that reports of itself.
"""

from typing import NamedTuple

from mnestic.memory.maintenance.policies import MaintenanceKind, MaintenancePolicy


class ActiveMemory(NamedTuple):
    """How many facts and entries of an agent are active; entries that have expired are not."""

    facts: int
    entries: int


def removable(active: int, policy: MaintenancePolicy) -> float:
    """How many of so many active facts, or entries, of an agent a run may remove."""
    return max(policy.always_removable, policy.largest_removal_share * active)


def find_excess(
    agent_id: str,
    *,
    kind: MaintenanceKind,
    before: ActiveMemory,
    after: ActiveMemory,
    policy: MaintenancePolicy,
) -> str | None:
    """Why a run may not go on with an agent, and what a person can do; None if it may.

    Args:
        agent_id: Whose memory it is.
        kind: The kind of maintenance.
        before: What was active before the run; what has expired by then is not counted as removed.
        after: What the run leaves active.
        policy: It says how much may be removed.
    """
    for what, had, has in zip(ActiveMemory._fields, before, after, strict=True):
        removed = had - has
        if removed > removable(had, policy):
            return (
                f"agent {agent_id}: {removed} of {had} active {what} ({removed / had:.0%}) would be removed, and at most "
                f"{policy.largest_removal_share:.0%} may be, so nothing was changed; to allow it, run "
                f"`mnestic maintenance run {kind} --agent {agent_id} --allow-removals`, first with --dry-run"
            )
    return None

"""The guard of maintenance: a run that would remove too much of an agent's memory removes none of it, and does the rest.

It counts what is active before and after, so that it holds for every kind of maintenance, whatever that reports of itself. What
runs have removed in the days before counts too, so that a memory does not go bit by bit.
"""

from datetime import timedelta
from typing import NamedTuple

from mnestic.memory.maintenance.policies import MaintenanceKind, MaintenancePolicy

WINDOW = timedelta(days=30)
"""How far back runs count."""
ALLOWED = "allowed"
"""What the ledger has beside the counts of a run whose removals a person has allowed."""


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
    archived: ActiveMemory,
    earlier: ActiveMemory,
    policy: MaintenancePolicy,
) -> str | None:
    """Why a run may not go on with an agent, and what a person can do; None if it may.

    Args:
        agent_id: Whose memory it is.
        kind: The kind of maintenance.
        before: What was active before the run; what has expired by then is not counted as removed.
        after: What the run leaves active.
        archived: What it archives and nothing takes the place of, unlike of what it merges or compresses.
        earlier: What runs have archived so within the window before, unless a person has allowed it.
        policy: It says how much may be removed.
    """
    many = policy.largest_removal_share_30_days
    each = zip(ActiveMemory._fields, before, after, archived, earlier, strict=True)
    for what, had, has, lost, gone in each:
        of_run = had - has, had, policy.largest_removal_share, ""
        of_window = lost and lost + gone, had + gone, many, " within 30 days"
        for removed, of, share, when in (of_run, of_window):
            if removed > max(policy.always_removable, share * of):
                return (
                    f"agent {agent_id}: {removed} of {of} active {what} ({removed / of:.0%}) would be removed{when}, and at most "
                    f"{share:.0%} may be, so none was, and the rest of the run was done; to allow it, run "
                    f"`mnestic maintenance run {kind} --agent {agent_id} --allow-removals`, first with --dry-run"
                )
    return None

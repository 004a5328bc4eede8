"""Whether a request came too late for its wait.

It stands alone because it is in doubt only when no worker was up at the deadline: then the workflow is
handed what came before and after it at one moment, signals first.
"""

from mnestic.activities.jobs.signal_times import SignalTimeActivities, SignalTimeInput
from mnestic.memory.jobs.waits import OpenWait, ResumeRequest
from mnestic.workflows.calls import run_local_first


async def arrived_late(request: ResumeRequest, *, wait: OpenWait) -> bool:
    """Whether a signal came after the deadline of its wait, by Temporal's clock."""
    params = SignalTimeInput(request=request, opened_at=wait.snapshot.snapshot_at)
    arrival = await run_local_first(SignalTimeActivities.find_signal_time, params)
    # An activity of an earlier version looked in one run only, and gave None for signals of others.
    return arrival.came_at is None or arrival.came_at >= wait.deadline

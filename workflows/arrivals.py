"""Whether a request came too late for its wait.

It stands alone because it is in doubt only when no worker was up at the deadline: then the workflow is
handed what came before and after it at one moment, signals first.
"""

from datetime import datetime

from mnestic.activities.arrivals import ArrivalActivities, ArrivalInput
from mnestic.memory.waits import ResumeRequest
from mnestic.workflows.calls import run_soon


async def came_late(request: ResumeRequest, *, deadline: datetime) -> bool:
    """Whether a signal came after the deadline, by Temporal's clock, or was meant for a later wait."""
    arrival = await run_soon(ArrivalActivities.find_arrival, ArrivalInput(request=request))
    return arrival.came_at is None or arrival.came_at >= deadline

"""A selection of jobs, as terms of a query of Temporal's visibility store.

The words of that query come from outside, and are checked and quoted here.
"""

from collections.abc import Iterator
from typing import NamedTuple, get_args

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.waits import JobState
from mnestic.memory.names import plan_attribute
from mnestic.memory.scope import check_id

_PARKED = ("waiting", "paused", "needs_attention")
# A job that was terminated still publishes its last state.
_ENDED = {
    "completed": ("Completed",),
    "failed": ("Failed", "TimedOut"),
    "cancelled": ("Canceled",),
    "terminated": ("Terminated",),
}


class JobSelection(NamedTuple):
    """A selection of jobs: those that match every field that is set."""

    waiting: bool = False
    state: str | None = None
    agent_id: str | None = None
    plan: str | None = None

    def terms(self) -> Iterator[str]:
        """The terms of the query, which a job must all match.

        Raises:
            InvalidInputError: there is no such state, or the agent is no id.
        """
        if self.state is None:
            yield "ExecutionStatus != 'ContinuedAsNew'"
        elif self.state in _ENDED:
            yield f"ExecutionStatus IN {_quoted(_ENDED[self.state])}"
        elif self.state in get_args(JobState):
            yield f"ExecutionStatus = 'Running' AND JobState = '{self.state}'"
        else:
            why = f"is {self.state!r}; it is one of {', '.join(get_args(JobState))}"
            raise InvalidInputError(what="state", why=why)
        if self.waiting:
            yield f"ExecutionStatus = 'Running' AND JobState IN {_quoted(_PARKED)}"
        if self.agent_id is not None:
            yield f"AgentId = '{check_id(self.agent_id, what='agent')}'"
        if self.plan is not None:  # a user's own workflow has its type in place of a plan
            name = _quoted((plan_attribute(self.plan),))
            yield f"(PlanName IN {name} OR WorkflowType IN {name})"


def _quoted(words: tuple[str, ...]) -> str:
    """Words as a list of the query language; they have no characters that need an escape."""
    return "(" + ", ".join(f"'{word}'" for word in words) + ")"

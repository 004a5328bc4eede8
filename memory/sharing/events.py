"""Events between agents: published on a channel, kept for a while, read in their order, and waited for by jobs."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, ClassVar

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.canonical import canonical_json
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import AccessDeniedError
from mnestic.memory.selectors import Selector, matches

EVENT = "event"  # the outcome of a wait that an event has ended
KEPT_FOR = timedelta(days=30)  # at least; then what is published later removes it

LARGEST_BYTES = (
    65_536  # of a payload, as canonical JSON; that of a wait's event travels through Temporal
)


NOTHING: dict[str, Any] = {"[forgotten]": True}  # what is said of a wait whose event was forgotten


class ChannelEvent(DeferredModel):
    """An event as it was published. Numbers of a tenant have no gaps, and come to be seen in their order."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    number: int
    id: str
    channel: str
    agent_id: str
    payload: dict[str, Any]
    at: AwareDatetime


class EventCondition(DeferredModel):
    """Which event a job waits for: its channel, or a pattern of channels, and members that its payload has to have."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    outcome: ClassVar[str] = EVENT

    channel: Selector
    where: dict[str, Any] = Field(default_factory=dict)

    def __str__(self) -> str:
        """In words."""
        if self.where == NOTHING:
            return f"an event on {self.channel} that was forgotten, so none ends it"
        having = f" with {canonical_json(self.where).decode()}" if self.where else ""
        return f"an event on {self.channel}{having}"


def check_channel(allowed: Iterable[str], channel: str, *, agent_id: str) -> None:
    """Refuses a channel, or a pattern of channels, that is not among those of the agent's contract.

    A pattern is allowed if one that is allowed has all channels that it has.

    Raises:
        AccessDeniedError: names what is allowed.
    """
    names = tuple(allowed)
    if not any(matches(one, channel) for one in names):
        raise AccessDeniedError(
            agent_id=agent_id, what=f"channel {channel}", allowed=", ".join(names) or "none"
        )

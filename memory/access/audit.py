"""The audit log: who read or wrote what, and what was denied."""

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel

DENIED = "access.denied"  # the action of a row about an access that was denied
ALLOWED = "access.allowed"  # of one whose work others do: Temporal, and the workers of jobs and of maintenance


class AuditEntry(DeferredModel):
    """A row of the audit log.

    `actor` is a job, a session, an API key (`key/ID`) or a client; `agent_id` is `*` for what concerns the whole tenant.
    """

    model_config = ConfigDict(frozen=True)

    id: int
    at: AwareDatetime
    agent_id: str
    actor: str
    action: str
    target: str
    operation_key: str | None = None
    reason: str | None = None


class SearchCount(DeferredModel):
    """Searches of an agent's memory within the last 30 days, of one mode and one kind of actor.

    So many had results, and so many were answered from a cache. The source is how the actor begins, such as `key` or `client`.
    """

    model_config = ConfigDict(frozen=True)

    mode: str
    source: str
    searches: int
    with_results: int
    cached: int


class AuditQuery(DeferredModel):
    """Which rows of the audit log are wanted; all of the tenant by default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent_id: str | None = None
    key_id: str | None = None
    actor: str | None = None
    action: str | None = None  # or how it begins, such as `fact.`
    denied: bool = False


def refusal(error: type[Exception]) -> str:
    """The reason in a row about an access that was refused with an error."""
    return f"refused: {error.__name__}"


def key_actor(key_id: str) -> str:
    """The actor of what is done with an API key."""
    return f"key/{key_id}"

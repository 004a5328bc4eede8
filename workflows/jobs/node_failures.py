"""Failures of nodes, as the result that a `catch` successor gets or as the cause of the job's end."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutType
from temporalio.exceptions import TimeoutError as TimedOutError

from mnestic.memory.errors import MnesticError

_LONGEST_TYPE = 256  # characters
_LONGEST_MESSAGE = 1_000  # characters; what is caught travels with the job
_TIMEOUTS = {
    TimeoutType.START_TO_CLOSE: "it did not end within its timeout",
    TimeoutType.HEARTBEAT: "it gave no heartbeat in time",
    TimeoutType.SCHEDULE_TO_START: "no worker took it from its task queue in time",
    TimeoutType.SCHEDULE_TO_CLOSE: "it did not end within its total timeout",
}
_CLEARER = {
    "PayloadsTooLarge": "it gave a result over the size that Temporal carries (2 MiB, if its server says "
    "nothing else); let it store the content, and return where",
}
ForeignText = Annotated[
    str, AfterValidator(lambda text: text.replace("\x00", "\N{REPLACEMENT CHARACTER}"))
]
"""Text of a foreign error; Postgres keeps no NUL."""


class NodeFailure(BaseModel):
    """Why a node failed. `type` names the error, as its language does."""

    model_config = ConfigDict(frozen=True)

    type: ForeignText
    message: ForeignText

    def as_result(self) -> dict[str, dict[str, str]]:
        """The result of the node, when a `catch` handles the failure."""
        error = {"type": self.type[:_LONGEST_TYPE], "message": self.message[:_LONGEST_MESSAGE]}
        return {"error": error}


def failure_of(error: MnesticError | ValidationError | ActivityError) -> NodeFailure:
    """An error as the failure of its node."""
    if isinstance(error, ActivityError):
        return _failure_of_activity(error)
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return NodeFailure(type="InvalidInputError", message=f"{where}: {first['msg']}")
    return NodeFailure(type=type(error).__name__, message=str(error))


def _failure_of_activity(error: ActivityError) -> NodeFailure:
    cause = error.cause
    if isinstance(cause, TimedOutError):
        message = _TIMEOUTS.get(cause.type, str(cause)) if cause.type else str(cause)
        before = f"; before that: {cause.cause}" if cause.cause else ""
        return NodeFailure(type="TimeoutError", message=f"{error.activity_type}: {message}{before}")
    if isinstance(cause, ApplicationError):
        named = cause.type or "NodeFailedError"
        return NodeFailure(type=named, message=_CLEARER.get(named, cause.message))
    return NodeFailure(type="NodeFailedError", message=str(cause or error))

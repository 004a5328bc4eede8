"""Working memory: a session's state, and the pure steps that change it.

A job, a client and a restore all change working memory by the same steps.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from mnestic.memory.canonical import (
    canonical_object,
    check_json,
    may_contain_nul,
    sha256_hex,
    storable_json,
)
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.short_term.segments import Segments
from mnestic.memory.selectors import find_selector
from mnestic.memory.sharing.readers import ReadersOrNobody

Role = Literal["system", "user", "assistant", "tool"]
DRIFT_VARIABLE = "drift"
"""The variable in which a restore tells a job what changed; nobody else writes it."""


class Message(DeferredModel):
    """One message of a session. `speaker` names who said it when the role alone does not; `readers` alone may read it.

    Its fields are in the order of their names, so that pydantic writes messages in canonical form.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: AwareDatetime
    channel: str | None = None
    content: str
    id: str
    readers: ReadersOrNobody | None = Field(None, exclude_if=partial(is_, None))
    role: Role
    speaker: str | None = None


_MESSAGES = TypeAdapter(tuple[Message, ...])


class ToolCall(DeferredModel):
    """One call of a tool, with its arguments and its result."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="constants")

    id: str
    activity: str
    arguments: Any = None
    result: Any = None


@dataclass(frozen=True, kw_only=True)
class WorkingRef:
    """Which state a session is in. `sha256` is of its document."""

    version: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class WorkingDocument:
    """A session's state as it is stored: canonical JSON, which is sealed and moved without being read."""

    version: int
    last_checkpoint: str | None
    message_count: int
    body: bytes

    @property
    def ref(self) -> WorkingRef:
        """Which state it is."""
        return WorkingRef(version=self.version, sha256=sha256_hex(self.body))


class _Uncounted(DeferredModel):
    """A message of which nothing is read."""


class _Messages(DeferredModel):
    """What has to be read of a state to count its messages."""

    messages: tuple[_Uncounted, ...]


def count_messages(body: str) -> int | None:
    """How many messages a document has, which is not read for that; None if it is no state."""
    try:
        return len(_Messages.model_validate_json(body).messages)
    except ValidationError:
        return None


class WorkingMemory(DeferredModel):
    """A session's state. `version` counts its writes; 0 means that nothing was written.

    `segments` are there once a contract with short-term memory was in force; the document of a state without them does not have
    the field.

    A number that JSON does not have is dumped as it is, to be refused; pydantic's default is to make it null.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="constants")

    version: int = 0
    messages: tuple[Message, ...] = ()
    variables: dict[str, Any] = Field(default_factory=dict)
    tool_calls: tuple[ToolCall, ...] = ()
    scratchpad: str = ""
    current_task: str | None = None
    last_checkpoint: str | None = None
    segments: Segments | None = Field(None, exclude_if=lambda segments: segments is None)

    def document(self) -> WorkingDocument:
        """The state as it is stored.

        Raises:
            InvalidInputError: something in it cannot be stored.
        """
        members = {
            name: storable_json(value, what=f"working memory.{name}", depth=1)
            for name, value in self._rest().items()
        }
        return WorkingDocument(
            version=self.version,
            last_checkpoint=self.last_checkpoint,
            message_count=len(self.messages),
            body=canonical_object(members | {"messages": _messages_json(self.messages)}),
        )

    def _rest(self) -> dict[str, Any]:
        """All of the document but the messages, as JSON values."""
        apart = {"version", "last_checkpoint", "messages"}
        with suppress(PydanticSerializationError):  # an object of some other type
            return self.model_dump(mode="json", exclude=apart)
        check_json(self.model_dump(exclude=apart), what="working memory")
        return self.model_dump(mode="json", exclude=apart)

    def is_as(self, other: "WorkingMemory") -> bool:
        """Whether both are stored alike; `==` would hold true, 1 and 1.0 for the same."""
        return self == other and self.document().body == other.document().body

    def for_reader(self, reader: str) -> "WorkingMemory":
        """The state without the messages that a reader may not read."""
        visible = [
            message
            for message in self.messages
            if message.readers is None or find_selector(message.readers, reader)
        ]
        return self.model_copy(update={"messages": tuple(visible)})

    def with_messages(self, messages: Sequence[Message]) -> "WorkingMemory":
        """Appends messages."""
        return self.model_copy(update={"messages": (*self.messages, *messages)})

    def with_variables(self, variables: Mapping[str, Any]) -> "WorkingMemory":
        """Sets variables; a value of None removes one."""
        merged = {**self.variables, **variables}
        present = {name: value for name, value in merged.items() if value is not None}
        return self.model_copy(update={"variables": present})

    def with_tool_call(self, call: ToolCall) -> "WorkingMemory":
        """Appends a tool call."""
        return self.model_copy(update={"tool_calls": (*self.tool_calls, call)})

    def with_note(self, note: str) -> "WorkingMemory":
        """Appends a line to the scratchpad."""
        text = f"{self.scratchpad}\n{note}" if self.scratchpad else note
        return self.model_copy(update={"scratchpad": text})

    def with_task(self, task: str | None) -> "WorkingMemory":
        """Sets the current task."""
        return self.model_copy(update={"current_task": task})

    def with_segments(self, segments: Segments) -> "WorkingMemory":
        """Sets the segments."""
        return self.model_copy(update={"segments": segments})

    def with_checkpoint(self, snapshot_id: str) -> "WorkingMemory":
        """Names the snapshot that was taken last."""
        return self.model_copy(update={"last_checkpoint": snapshot_id})


def _messages_json(messages: tuple[Message, ...]) -> bytes:
    """Messages in canonical form, as pydantic writes them: most of a session, and nothing but text."""
    with suppress(PydanticSerializationError):  # half of a surrogate pair
        content = _MESSAGES.dump_json(messages)
        if not may_contain_nul(content):
            return content
    check_json(_MESSAGES.dump_python(messages, mode="json"), what="working memory.messages")
    return _MESSAGES.dump_json(messages)


def check_variable(name: str) -> str:
    """Returns the name of a variable that a job may write.

    Raises:
        InvalidInputError: it is the variable that holds the drift of a resumed job.
    """
    if name == DRIFT_VARIABLE:
        why = "holds what changed when a job is resumed; choose another name"
        raise InvalidInputError(what=f"the variable {name}", why=why)
    return name

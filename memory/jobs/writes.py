"""Writes: what a job asks its memory to keep. Values may hold templates."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.durations import Duration
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.templates import as_text
from mnestic.memory.jobs.working_memory import Role, check_variable
from mnestic.memory.sharing.readers import ReaderTemplates
from mnestic.memory.validation import Name


def _free(name: str) -> str:
    try:
        return check_variable(name)
    except InvalidInputError as error:
        raise ValueError(str(error)) from None


VariableName = Annotated[str, AfterValidator(_free)]
Text = Annotated[str, BeforeValidator(as_text)]
"""Text; a value that a template put there becomes JSON."""


class RecordWrite(DeferredModel):
    """One long-term record to write; with `expected_version`, only onto that version (0: if new)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    namespace: Name
    key: Name
    value: Any
    ttl: Duration | None = None
    expected_version: int | None = Field(None, ge=0)


class EpisodeWrite(DeferredModel):
    """One episode to write: a summary as given, or one made of the session's last messages."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    summary: Text | None = None
    last_messages: int | str = 50
    max_chars: int = Field(600, ge=40, le=4000)
    payload: dict[str, Any] = Field(default_factory=dict)


class MessageWrite(DeferredModel):
    """One message to append to working memory; with a contract in force, also to a `segment` of it.

    `readers` alone may read what follows from it: its entry, its facts, and the episodes of its session.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    role: Role = "user"
    content: Text
    speaker: str | None = None
    channel: str | None = None
    segment: Name | None = None
    readers: ReaderTemplates | None = None


class MemoryWrite(DeferredModel):
    """Everything that one operation writes, all or nothing.

    `records` is a list, or a template that names a variable which holds one.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    records: tuple[RecordWrite, ...] | str = ()
    episode: EpisodeWrite | None = None
    message: MessageWrite | None = None
    variables: dict[VariableName, Any] = Field(default_factory=dict)
    note: Text | None = None
    task: Text | None = None

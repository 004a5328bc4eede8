"""The retrieval log: which memories and notes were put before messages, by id and path alone.

People and reports of costs read it later, when the memories themselves may have changed.
"""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    ConfigDict,
    Field,
)

from mnestic.memory.canonical import storable
from mnestic.memory.deferred_model import DeferredModel

LONGEST_PREVIEW = 100  # characters of the message
Source = Literal["memories", "notes"]
# Names of files and messages of servers may contain anything.
_StorableText = Annotated[str, AfterValidator(storable)]


class LoggedMemory(DeferredModel):
    """A memory that was put there, and its score."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    score: float


class LoggedNote(DeferredModel):
    """A note that was put there."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    path: _StorableText


class Skipped(DeferredModel):
    """A source, or one of its notes (`name`), that was not asked or did not answer, and why."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    source: Source
    name: _StorableText | None = None
    why: _StorableText


class RetrievalLogEntry(DeferredModel):
    """What was put before one message, and how many tokens it is."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    channel: str
    preview: str
    memories: tuple[LoggedMemory, ...] = ()
    notes: tuple[LoggedNote, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    tokens: Annotated[int, Field(ge=0)] = 0


class StoredLogEntry(RetrievalLogEntry):
    """A stored entry of the log."""

    id: int
    created_at: AwareDatetime


def preview_of(message: str) -> str:
    """The beginning of a message, on one line, as Postgres can keep it."""
    line = " ".join(message.replace("\0", " ").split())
    return line if len(line) <= LONGEST_PREVIEW else line[: LONGEST_PREVIEW - 1] + "…"

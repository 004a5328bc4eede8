"""Entries: one memory each, with what it takes to find it and to judge its worth."""

from typing import Literal, get_args

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

EntryType = Literal[
    "interaction",
    "insight",
    "correction",
    "context",
    "learning",
    "error",
    "success",
    "pattern",
    "preference",
    "knowledge",
]
EntryStatus = Literal["active", "archived"]
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)


class TimeMention(BaseModel):
    """A time that an entry speaks of: the words, and the interval they mean."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    words: str
    start: AwareDatetime
    end: AwareDatetime


class Entry(BaseModel):
    """One memory.

    `content` is what was said, and nothing else: who said it is `speaker`, whom it is about is
    `subjects`. `critical` ones are never deleted by policy.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    entry_type: EntryType
    content: str
    summary: str = ""
    session_id: str | None = None
    source_id: str | None = None
    channel: str | None = None
    speaker: str | None = None
    subjects: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    times: tuple[TimeMention, ...] = ()
    related: tuple[str, ...] = ()
    parent: str | None = None
    facts: tuple[str, ...] = ()
    importance: float = Field(ge=0, le=1, default=0.5)
    critical: bool = False
    access_count: int = 0
    last_accessed: AwareDatetime | None = None
    status: EntryStatus = "active"
    at: AwareDatetime
    created_at: AwareDatetime | None = None
    updated_at: AwareDatetime | None = None
    expires_at: AwareDatetime | None = None


class EntryQuery(BaseModel):
    """Which entries are asked for; newest first. `since` is included, `until` is not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entry_types: tuple[EntryType, ...] = ()
    statuses: tuple[EntryStatus, ...] = ("active",)
    session_id: str | None = None
    channel: str | None = None
    subject: str | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None


class Embedding(BaseModel):
    """The vector of an entry's content, as it was when it was embedded; see `language.Embedded`."""

    model_config = ConfigDict(frozen=True)

    entry_id: str
    content: str
    vector: bytes

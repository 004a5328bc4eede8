"""Entries: one memory each, with what it takes to find it and to judge its worth."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, Self, get_args

from pydantic import (
    AfterValidator,
    AwareDatetime,
    ConfigDict,
    Field,
    computed_field,
    model_validator,
)

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.resources import check_content, check_name
from mnestic.memory.sharing.readers import Readers
from mnestic.memory.timestamps import check_date, check_order
from mnestic.memory.validation import Share, Text

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
EntryKind = Literal["message", "fact", "episode", "compressed"]
IndexedKind = EntryKind | Literal["document"]
"""What is an entry: also a part of a document, in the corpus of its collection."""
EntryStatus = Literal["active", "archived"]
SupersessionReason = Literal["superseded", "replaced", "ended", "corrected", "withdrawn"]
ReplacementReason = Literal["replaced", "ended", "corrected"]
Replacements = tuple[tuple[str, ReplacementReason], ...]  # ids of earlier entries, and why
ArchiveReason = Literal["unimportant", "over_limit", "by_hand", "compressed", "merged"]
UncriticalLevel = Literal["high", "medium", "low", "minimal"]
ImportanceLevel = Literal["critical"] | UncriticalLevel
LEVELS: Mapping[UncriticalLevel, float] = MappingProxyType(
    {"high": 0.8, "medium": 0.6, "low": 0.4, "minimal": 0.0}
)
"""Levels of importance, and the least importance of each; an entry is critical because somebody says so."""
MOST_NAMES = 64  # subjects, tags or aliases of an entry
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)


class TimeMention(DeferredModel):
    """A time that an entry speaks of: the words, and the interval they mean."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    words: str
    start: AwareDatetime
    end: AwareDatetime


class Entry(DeferredModel):
    """One memory.

    `content` is what was said, and nothing else: who said it is `speaker`, whom it is about is
    `subjects`. `critical` ones are never deleted by policy. What was learned from it is not part of it,
    since that goes on changing: see `FactStore.list_from`.

    `merged_into` is the entry that says the same, and for which maintenance has archived this one. Once restored, it is not
    merged any more.

    `replaces` are earlier entries that say what is so no longer because of this one, as a model has named them.

    `reinstated_at` is when somebody took its supersession back; what was decided until then does not count.

    `kind` says what it was made of: a message, or else the fact or the episode of the same id, which it follows; a
    compressed one follows archived entries, whose `merged_into` names it. One of kind `document` is a part of a document.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    kind: IndexedKind = "message"
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
    replaces: Replacements = ()
    parent: str | None = None
    importance: float = Field(ge=0, le=1, default=0.5)
    critical: bool = False
    access_count: int = 0
    last_accessed: AwareDatetime | None = None
    status: EntryStatus = "active"
    merged_into: str | None = None
    at: AwareDatetime
    created_at: AwareDatetime | None = None
    updated_at: AwareDatetime | None = None
    expires_at: AwareDatetime | None = None
    reinstated_at: AwareDatetime | None = None

    @property
    def level(self) -> ImportanceLevel:
        """Its level of importance."""
        if self.critical:
            return "critical"
        return next(level for level, least in LEVELS.items() if self.importance >= least)


class Supersession(DeferredModel):
    """Since when what an entry says is so no longer, which a search leaves out, and why.

    superseded  another value took its place
    replaced    a later message says what is so instead, as a model has understood it
    ended       it has ended, and nothing is so in its place
    corrected   it was never so, or a correction names it
    withdrawn   it was deleted, undone, or is claimed no longer

    `by` is the entry that says what is so instead, or that it has ended, if there is one.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: AwareDatetime
    by: str | None = None
    why: SupersessionReason


class ArchiveMark(DeferredModel):
    """When and why an entry was archived, and by which maintenance run, if one did.

    unimportant  it was of little importance, and nobody used it for a long time
    over_limit   its agent had more entries than the policy allows
    by_hand      somebody archived it
    compressed   another entry says what it and similar ones say
    merged       another entry says the same, which its `merged_into` names
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    archived_at: AwareDatetime
    reason: ArchiveReason
    run: str | None = None


class ArchivedEntry(DeferredModel):
    """An entry in the archive."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    mark: ArchiveMark
    entry: Entry


def _content(text: str) -> str:
    try:
        check_content(text, what="content")
    except InvalidInputError as error:
        raise ValueError(error.why) from None
    return text


def _name(text: str) -> str:
    try:
        check_name(text, what="name")
    except InvalidInputError as error:
        raise ValueError(error.why) from None
    return text.strip()


def _moment(at: datetime) -> datetime:
    try:
        check_date(at, what="date")
    except InvalidInputError as error:
        raise ValueError(error.why) from None
    return at


def _importance(given: float | UncriticalLevel) -> float:
    return LEVELS[given] if isinstance(given, str) else given


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Each name once, however it is spelt."""
    return tuple({name_key(name): name for name in reversed(names)}.values())[::-1]


_Content = Annotated[str, AfterValidator(_content)]
_Name = Annotated[str, AfterValidator(_name)]
Names = Annotated[tuple[_Name, ...], Field(max_length=MOST_NAMES), AfterValidator(_distinct)]
_FilterText = Annotated[Text, Field(max_length=10_000)]
_Moment = Annotated[AwareDatetime, AfterValidator(_moment)]
Importance = Annotated[Share | UncriticalLevel, AfterValidator(_importance)]
"""From 0 to 1, or a level: the least importance of that one."""


class EntryDraft(DeferredModel):
    """An entry that somebody adds.

    Without a `source_id` the same type, content and subjects in the same session are the same entry;
    with one, the same `source_id`. Without a speaker the agent itself says so, `at` is now by default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: _Content
    entry_type: EntryType = "knowledge"
    subjects: Names = ()
    tags: Names = ()
    aliases: Names = ()
    critical: bool = False
    parent: Text | None = None
    speaker: _Name | None = None
    session_id: _Name = "added"
    source_id: _Name | None = None
    channel: _Name = "client"
    at: _Moment | None = None
    expires_at: AwareDatetime | None = None
    readers: Readers | None = None


class EntryChange(DeferredModel):
    """What is to be otherwise with an entry; what is not given stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: _Content = ""
    entry_type: EntryType = "knowledge"
    subjects: Names = ()
    tags: Names = ()
    aliases: Names = ()
    critical: bool = False
    status: EntryStatus = "active"
    parent: Text | None = None
    expires_at: AwareDatetime | None = None


class NameBearers(NamedTuple):
    """Who is known by some names: keys of described ones by the key of the name, and the names of speakers."""

    described: Mapping[str, frozenset[str]]
    speakers: frozenset[str]


class EntryQuery(DeferredModel):
    """Selects entries, the newest first. `since` and `min_importance` are included, `until` and `max_importance` are not.

    Without `kinds`, messages alone are selected. `tags` selects those with one of them, `related` selects those that are related to an entry. Expired entries
    need `expired`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: tuple[EntryKind, ...] = ("message",)
    entry_types: tuple[EntryType, ...] = ()
    statuses: tuple[EntryStatus, ...] = ("active",)
    session_id: _FilterText | None = None
    channel: _FilterText | None = None
    speaker: _FilterText | None = None
    subject: _FilterText | None = None
    tags: tuple[_FilterText, ...] = ()
    parent: _FilterText | None = None
    related: _FilterText | None = None
    expired: bool = False
    min_importance: Importance | None = None
    max_importance: Importance | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None

    @model_validator(mode="after")
    def _is_a_time(self) -> Self:
        check_order(self.since, self.until)
        return self


class Embedding(DeferredModel):
    """The vector of an entry's content, as it was when it was embedded; see `mnestic.memory.models.messages.Embeddings`."""

    model_config = ConfigDict(frozen=True)

    entry_id: str
    content: str
    vector: bytes


class Unembedded(DeferredModel):
    """An entry that has no vector of a model, as far as is needed to give it one."""

    model_config = ConfigDict(frozen=True)

    id: str
    content: str
    session_id: str | None
    source_id: str | None


class EntryStatistics(DeferredModel):
    """An agent's entries in numbers.

    `by_kind` counts messages, facts and episodes; all else counts messages alone. `by_importance` holds how many are in
    each tenth of the range, the least important first.
    `row_bytes` is about what the agent's rows of each table take, without indexes; a reader is not told.
    """

    model_config = ConfigDict(frozen=True)

    by_kind: dict[EntryKind, int] = Field(default_factory=dict)
    by_type: dict[EntryType, int] = Field(default_factory=dict)
    by_status: dict[EntryStatus, int] = Field(default_factory=dict)
    by_importance: tuple[int, ...] = (0,) * 10
    critical: int = 0
    expired: int = 0
    embedded: dict[str, int] = Field(default_factory=dict)
    oldest: AwareDatetime | None = None
    newest: AwareDatetime | None = None
    row_bytes: dict[str, int] = Field(default_factory=dict)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self.by_status.values())

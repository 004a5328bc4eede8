"""The lines of an export: all that an agent's memory is made of, one JSON object a line.

Whoever writes an export and whoever reads it back share these shapes, and nothing else. What follows from other lines
is in none: facts follow from claims, and vectors and the words of full text search from entries. Ids that depend on
tenant and agent are in none either: an entry is named by the session and the source id of its message.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.entries import (
    ArchiveMark,
    Entry,
    EntryStatus,
    EntryType,
    TimeMention,
)
from mnestic.memory.knowledge.extraction import Extracted, Replaced, TurnKind
from mnestic.memory.knowledge.ingestion import IncomingMessage, IngestState, entry_id_at
from mnestic.memory.knowledge.predicates import Predicate
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.scope import Id
from mnestic.memory.sharing.readers import ReaderDefault, ReadersOrNobody
from mnestic.memory.validation import Name

# 1 knew no archived entries, 2 nothing replaced or reinstated, 3 no documents, readers, nodes and edges.
EXPORT_VERSION = 4
Place = tuple[str, str]  # session and source id of a message
_BY_PLACE = frozenset({"id", "parent", "related", "replaces", "content"})


class ExportLine(DeferredModel):
    """A line of an export, of one of the kinds below."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str


class _Part(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HeaderLine(ExportLine):
    """The first line: which version of the format follows, and whose memory it was at which moment."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: Literal["export"] = "export"
    version: int = Field(EXPORT_VERSION, ge=1)
    tenant_id: str
    agent_id: str
    at: AwareDatetime


class SettingsLine(ExportLine):
    """What is set for the agent, by name."""

    kind: Literal["settings"] = "settings"
    values: dict[str, Any]


class PredicateLine(ExportLine):
    """A predicate that the tenant has other rules for than the defaults."""

    kind: Literal["predicate"] = "predicate"
    predicate: Predicate


class ExportedState(_Part):
    """How far it is with learning from a message, and what was extracted from it."""

    state: IngestState
    message_kind: TurnKind = "message"
    entry_type: EntryType = "interaction"
    job_id: str | None = None
    workflow_run: str | None = None
    corrects: str | None = None
    extractor: str | None = None
    extracted: tuple[Extracted, ...] = ()
    replaces: tuple[Replaced, ...] = ()
    reason: str | None = None

    @classmethod
    def of(cls, pending: IncomingMessage) -> Self:
        """The state of a message, without the message."""
        fields = pending.model_dump(exclude={"resource", "number", "kind", "context"})
        return cls(message_kind=pending.kind, **fields)


class ExportedEntry(_Part):
    """The entry of a message as it is now; `content` where it says something else than the message."""

    entry_type: EntryType
    content: str | None = None
    summary: str = ""
    subjects: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    times: tuple[TimeMention, ...] = ()
    related: tuple[Place, ...] = ()
    replaces: tuple[Replaced, ...] = ()
    parent: Place | None = None
    importance: float = Field(ge=0, le=1)
    critical: bool = False
    access_count: int = Field(0, ge=0)
    last_accessed: AwareDatetime | None = None
    status: EntryStatus = "active"
    expires_at: AwareDatetime | None = None
    reinstated_at: AwareDatetime | None = None


class MessageLine(ExportLine):
    """A message with what was made of it: its state, what it claims, and its entry, unless that was removed.

    `archived` says that the entry is in the archive.

    All of it is one line, since it is added as a whole or not at all: what a message that was forgotten claims does not
    come back by an older export.
    """

    kind: Literal["message"] = "message"
    message: Resource
    ingest: ExportedState | None = None
    claims: tuple[Claim, ...] = ()
    entry: ExportedEntry | None = None
    archived: ArchiveMark | None = None

    @property
    def place(self) -> Place:
        """Session and source id, which no other message has."""
        return self.message.place


class ForgottenLine(ExportLine):
    """A message that was forgotten: nothing but its name and readers, so that it is not learned from when it comes again."""

    kind: Literal["forgotten"] = "forgotten"
    session_id: str
    source_id: str
    at: AwareDatetime
    forgotten_at: AwareDatetime
    readers: ReadersOrNobody | None = None
    """Those of what is left of its session."""

    @property
    def place(self) -> Place:
        """Session and source id, which no other message has."""
        return (self.session_id, self.source_id)


class ClaimLine(ExportLine):
    """A claim that is of no message: a fact was added, deleted or reactivated by hand."""

    kind: Literal["claim"] = "claim"
    claim: Claim
    readers: ReadersOrNobody | None = None


class ReadersLine(ExportLine):
    """The readers of what is said in a session or a channel from then on."""

    kind: Literal["readers"] = "readers"
    default: ReaderDefault


class RecordLine(ExportLine):
    """A long-term record at its version."""

    kind: Literal["record"] = "record"
    namespace: str
    key: str
    value: Any
    version: int = Field(ge=1)
    created_at: AwareDatetime
    updated_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    metadata: dict[str, Any] | None = None


class ExportedPart(_Part):
    """A part of a document, and where it begins."""

    content: str
    headings: tuple[str, ...] = ()
    line: int = 1
    page: int | None = None


class DocumentLine(ExportLine):
    """A document of a collection."""

    kind: Literal["document"] = "document"
    collection_id: str
    id: str
    metadata: dict[str, Any]
    source: str | None = None
    parts: tuple[ExportedPart, ...]
    created_at: AwareDatetime
    updated_at: AwareDatetime


class NodeLine(ExportLine):
    """A version of a declared node of the graph."""

    kind: Literal["node"] = "node"
    id: Name
    type: Id
    properties: dict[str, Any]
    valid_from: AwareDatetime
    valid_to: AwareDatetime | None = None


class EdgeLine(ExportLine):
    """A version of a declared edge of the graph, between nodes by their ids."""

    kind: Literal["edge"] = "edge"
    source: Name
    type: Name
    target: Name
    properties: dict[str, Any]
    valid_from: AwareDatetime
    valid_to: AwareDatetime | None = None


class EpisodeLine(ExportLine):
    """An episode."""

    kind: Literal["episode"] = "episode"
    session_id: str | None = None
    job_id: str | None = None
    summary: str
    payload: dict[str, Any]
    created_at: AwareDatetime
    readers: ReadersOrNobody | None = None


class SessionLine(ExportLine):
    """The working memory of a session."""

    kind: Literal["session"] = "session"
    session_id: Id
    state: dict[str, Any]


class EndLine(ExportLine):
    """The last line: how many there were before it. An export without one was cut off."""

    kind: Literal["end"] = "end"
    lines: int = Field(ge=1)


EXPORT_LINE: TypeAdapter[ExportLine] = TypeAdapter(
    Annotated[
        HeaderLine
        | SettingsLine
        | PredicateLine
        | ReadersLine
        | MessageLine
        | ForgottenLine
        | ClaimLine
        | RecordLine
        | DocumentLine
        | NodeLine
        | EdgeLine
        | EpisodeLine
        | SessionLine
        | EndLine,
        Field(discriminator="kind"),
    ],
    config=ConfigDict(defer_build=True),
)


class ImportCount(DeferredModel):
    """What reading an export back has added; what was there before is not counted.

    `lines` were read, and `facts` are believed otherwise.
    """

    model_config = ConfigDict(frozen=True)

    lines: int = 0
    messages: int = 0
    forgotten: int = 0
    facts: int = 0
    records: int = 0
    documents: int = 0
    nodes: int = 0
    edges: int = 0
    episodes: int = 0
    sessions: int = 0
    settings: int = 0
    predicates: int = 0


def exported_entry(entry: Entry, message: Resource, *, places: dict[str, Place]) -> ExportedEntry:
    """An entry as it is exported.

    Args:
        entry: The entry.
        message: Its message.
        places: Where the entries that it names stand; one that is not there is no longer named.
    """
    fields = entry.model_dump(include=set(ExportedEntry.model_fields) - _BY_PLACE)
    return ExportedEntry(
        content=None if entry.content == message.content else entry.content,
        parent=places.get(entry.parent or ""),
        related=tuple(places[name] for name in entry.related if name in places),
        replaces=tuple(
            Replaced(places[name], why) for name, why in entry.replaces if name in places
        ),
        **fields,
    )


def entry_from(line: MessageLine, *, owner: str) -> Entry | None:
    """The entry of a line, as an owner has it; None where the message has none."""
    message, entry = line.message, line.entry
    if entry is None:
        return None
    fields = entry.model_dump(exclude=set(_BY_PLACE))
    return Entry(
        id=entry_id_at(line.place, owner=owner),
        content=message.content if entry.content is None else entry.content,
        session_id=message.session_id,
        source_id=message.source_id,
        channel=message.channel,
        speaker=message.speaker,
        at=message.at,
        parent=None if entry.parent is None else entry_id_at(entry.parent, owner=owner),
        related=tuple(entry_id_at(place, owner=owner) for place in entry.related),
        replaces=tuple((entry_id_at(place, owner=owner), why) for place, why in entry.replaces),
        **fields,
    )

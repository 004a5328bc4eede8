"""What a reader of another program's export yields: messages, records, and what it leaves out and why.

Every reader ends in these values, and the import stores and counts them alike.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import EntryType
from mnestic.memory.knowledge.extraction import NO_SPEAKER
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import LONGEST_NAME, Resource, check_message

DateOrder = Literal["day-first", "month-first"]
_HASH_DIGITS = 16


class ImportOptions(NamedTuple):
    """What a file does not say, and its reader takes from the person who imports it.

    `speaker` speaks where the file names nobody; for ChatGPT it is the person who asks. `owner` speaks in Markdown that names
    nobody at all. `timezone` is that of times
    without an offset, and `start` the time at which times that count from zero begin.
    """

    speaker: str | None = None
    channel: str | None = None
    timezone: ZoneInfo = ZoneInfo("UTC")
    date_order: DateOrder | None = None
    start: datetime | None = None
    owner: str = NO_SPEAKER


class ImportedMessage(NamedTuple):
    """A message, its place in the file for errors, and how many pictures or files it came with."""

    place: str
    message: IncomingMessage
    media: int = 0


class ImportedRecord(NamedTuple):
    """A long-term record."""

    place: str
    namespace: str
    key: str
    value: object


class LeftOut(NamedTuple):
    """What is no message of a person, such as a notice of the program; `media` was attached to it."""

    reason: str
    media: int = 0


class Unstorable(NamedTuple):
    """A message or record that cannot be stored."""

    place: str
    why: str


Item = ImportedMessage | ImportedRecord | LeftOut | Unstorable


class ProgramExport(Protocol):
    """An export of another program. Its items are read one at a time, and again by each call of `items`."""

    @property
    def format(self) -> str:
        """The name of the format, such as `whatsapp`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader assumed, since the file does not say it."""

    def items(self) -> Iterator[Item]:
        """The items, in the order in which they are stored.

        Raises:
            InvalidInputError: the file cannot be read further; names the place.
        """


class Origin(NamedTuple):
    """Where a message comes from: its session, its id there, its channel, and its place in the file."""

    session_id: str
    source_id: str
    channel: str
    place: str


def message_of(
    origin: Origin,
    *,
    speaker: str,
    text: str,
    at: datetime,
    media: int = 0,
    entry_type: EntryType = "interaction",
) -> ImportedMessage | Unstorable:
    """A message that can be stored, or why it cannot."""
    try:
        resource = Resource(
            session_id=short_id(origin.session_id),
            source_id=short_id(origin.source_id),
            channel=short_title(origin.channel),
            speaker=speaker,
            content=text,
            at=at,
        )
        check_message(resource)
    except InvalidInputError as error:
        return Unstorable(origin.place, error.why)
    return ImportedMessage(
        origin.place, IncomingMessage(resource=resource, entry_type=entry_type), media
    )


def without_conflicts(items: Iterable[Item]) -> Iterator[Item]:
    """The items; of messages that share an id, those are skipped that say something else than the first."""
    contents: dict[int, int] = {}  # hashes: there may be millions
    for item in items:
        if isinstance(item, ImportedMessage):
            message = item.message.resource
            content = hash((message.speaker, message.content))
            if contents.setdefault(hash(message.place), content) != content:
                yield Unstorable(item.place, "has the id of another message, with other content")
                continue
        yield item


def short_id(text: str) -> str:
    """An id of another program; a hash of it stands for its end where it is too long for an index."""
    if len(text) <= LONGEST_NAME:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    return f"{text[: LONGEST_NAME - _HASH_DIGITS - 1]}#{digest}"


def short_title(text: str) -> str:
    """A title on one line, cut where it is too long for a channel."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1]}…"

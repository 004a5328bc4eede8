"""Resources: raw messages as they came in, append-only, before anybody made sense of them."""

from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic import AwareDatetime, ConfigDict, Field, model_validator

from mnestic.memory.canonical import check_text, is_blank
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.sharing.readers import ReadersOrNobody
from mnestic.memory.timestamps import check_date

LARGEST_MESSAGE_BYTES = 1_048_576
LONGEST_NAME = 256  # characters; longer ones fit no index
_DAY_MINUTES = 24 * 60


class Resource(DeferredModel):
    """One raw message. The same `source_id` in the same session is the same message.

    `offset_minutes` is what the speaker's clock was ahead of UTC, by which *yesterday* is told; if it is not
    given, it is that of `at`, whose own offset no database keeps. `readers` alone may read it and what follows from it, and the agent
    alone if the list is empty; everybody may by default, unless its session or its channel has readers.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    session_id: str
    source_id: str
    channel: str
    speaker: str
    content: str
    at: AwareDatetime
    offset_minutes: int = Field(0, gt=-_DAY_MINUTES, lt=_DAY_MINUTES)
    readers: ReadersOrNobody | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_offset(cls, data: Any) -> Any:
        at = data.get("at") if isinstance(data, dict) else None
        if not isinstance(at, datetime) or "offset_minutes" in data:
            return data
        return {**data, "offset_minutes": (at.utcoffset() or timedelta()) // timedelta(minutes=1)}

    @property
    def local_at(self) -> datetime:
        """When it was said, by the speaker's clock."""
        return self.at.astimezone(timezone(timedelta(minutes=self.offset_minutes)))

    @property
    def place(self) -> tuple[str, str]:
        """Session and source id, which no other message has."""
        return (self.session_id, self.source_id)

    @property
    def name(self) -> str:
        """How it is named to a person: session and message."""
        return f"{self.session_id}/{self.source_id}"


def check_message(message: Resource, *, limit_bytes: int = LARGEST_MESSAGE_BYTES) -> None:
    """Refuses a message that cannot be learned from.

    Raises:
        InvalidInputError: names the message, what is wrong with it, and what is allowed.
    """
    what = f"message {message.name[:140]!a}"
    for field in ("session_id", "source_id", "channel", "speaker"):
        check_name(getattr(message, field), what=what, field=field)
    check_content(message.content, what=what, limit_bytes=limit_bytes)
    check_date(message.at, what=what)


def check_content(content: str, *, what: str, limit_bytes: int = LARGEST_MESSAGE_BYTES) -> None:
    """Refuses a content that says nothing, is too long, or cannot be stored.

    Raises:
        InvalidInputError: says what is wrong with it.
    """
    check_text(content, what=f"{what}, content")
    if is_blank(content):
        raise InvalidInputError(what=what, why="has no content")
    size = len(content.encode())
    if size > limit_bytes:
        why = f"has {size} bytes of content, the limit is {limit_bytes}; send it in parts"
        raise InvalidInputError(what=what, why=why)


def check_name(name: str, *, what: str, field: str = "name") -> None:
    """Refuses a name of somebody or something that is empty, too long, or cannot be stored.

    Raises:
        InvalidInputError: says what is wrong with it.
    """
    if not 1 <= len(name) <= LONGEST_NAME or is_blank(name):
        why = f"{field} has {len(name)} characters; it has 1 to {LONGEST_NAME}, not all blank"
        raise InvalidInputError(what=what, why=why)
    check_text(name, what=f"{what}, {field}")

"""Claims: what somebody said to be so, and where. A claim never changes; facts follow from claims.

Everybody who learns something makes claims; facts are worked out in one place.
"""

import re
import unicodedata
import uuid
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.canonical import check_text
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError

Cardinality = Literal["single", "multi"]
ClaimKind = Literal[
    "affirmed", "corrected", "ended", "retracted", "reactivated", "deleted", "faded"
]
LONGEST_NAME = 1000  # bytes: an entry of an index holds two names
YEARS = range(1000, 9000)  # of times; what lies outside is no time that anybody meant
PERSON = "person"  # the extractor of a claim that somebody made by hand
MAINTENANCE = "maintenance"  # the extractor of a claim that maintenance has made
_IDS = uuid.UUID("0f9d6a52-6d0e-4c0e-8a9e-6d6e65737469")
_LINKING = frozenset({"a", "an", "at", "for", "in", "my", "of", "on", "our", "the", "to", "with"})
_ARTICLE = re.compile(r"^(?:an?|the)\s+")
_EDGES = " \t\n.,;:!?\"'()[]\u201c\u201d\u2018\u2019"


class Span(DeferredModel):
    """A part of a message: characters `start` up to, not with, `end`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class ClaimSource(DeferredModel):
    """Where a claim comes from. A person's own claim has no message; `extractor` then says who it is.

    `corrects` is the source id of the message, in the same session, that was wrong.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    extractor: str
    session_id: str | None = None
    source_id: str | None = None
    corrects: str | None = None
    span: Span | None = None
    job_id: str | None = None
    workflow_run: str | None = None


class Claim(DeferredModel):
    """Somebody said that something is so, was so, or is so no longer.

    `corrected` says that what was said before it was never so, and what is; `retracted` says the
    first alone. `ended` and `retracted` without an object mean whatever the predicate had. `said_at` orders claims; `valid_from` and `valid_to` are about the
    world, where the message names a time. `reactivated` and `deleted` are decisions of a person about
    a fact. `faded` is one of maintenance: nobody has said or used it for so long that it is not believed any more, which
    does not mean that it is false.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    kind: ClaimKind = "affirmed"
    subject: str
    predicate: str
    object: str | None = None
    confidence: float = Field(ge=0, le=1, default=0.9)
    said_at: AwareDatetime
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    source: ClaimSource

    @property
    def begins(self) -> AwareDatetime:
        """When it began to be so, as far as is known."""
        return self.valid_from or self.said_at


def check_name(name: str, *, what: str) -> str:
    """Returns the name of a subject, or an object, that can be stored and looked up.

    Raises:
        InvalidInputError: it says nothing, or is too long for a name.
    """
    check_text(name, what=what)
    key = name_key(name)
    if not key:
        raise InvalidInputError(what=what, why=f"is {name!r}, which names nothing")
    if len(key.encode()) > LONGEST_NAME:
        size = len(key.encode())
        raise InvalidInputError(
            what=what, why=f"is {size} bytes; a name has at most {LONGEST_NAME}"
        )
    return name


def check_time(moment: datetime, *, what: str) -> None:
    """Refuses a time at which nothing can have been so.

    Raises:
        InvalidInputError: says which times there are.
    """
    if moment.year not in YEARS:
        why = f"is of the year {moment.year}; it is from {YEARS.start} to {YEARS.stop - 1}"
        raise InvalidInputError(what=what, why=why)


def name_key(name: str) -> str:
    """What two spellings of a name or a value have in common."""
    folded = (name if name.isascii() else unicodedata.normalize("NFKC", name)).casefold()
    plain = " ".join(folded.split()).strip(_EDGES)
    return _ARTICLE.sub("", plain) or plain


def may_mean(said: str, known: str) -> bool:
    """Whether words that end or call off something may mean a known thing, both as keys, plural or not.

    They name it by a part of its words, as "the Volvo" of a red one, or with more words about the same noun: "oboe lesson"
    is no oboe.
    """
    words, known_words = (_content_words(name) for name in (said, known))
    if not words or not known_words:
        return False
    return set(words) <= {*known_words} or (
        set(known_words) <= {*words} and _head(said) in known_words
    )


def _content_words(name: str) -> list[str]:
    return [word.removesuffix("s") for word in name.split() if word not in _LINKING]


def _head(name: str) -> str:
    """The noun that other words of a name describe: "membership" of "gym membership at Fitz"."""
    head = ""
    for word in name.split():
        if word not in _LINKING:
            head = word.removesuffix("s")
        elif head:
            break
    return head


def make_id(*parts: str | int | None) -> str:
    """An id that the same parts always give."""
    return str(uuid.uuid5(_IDS, "\x1f".join("" if part is None else str(part) for part in parts)))

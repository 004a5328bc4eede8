"""A conversation as it is read from a file: sessions of turns, what a turn may contain, and how turns make sessions.

Every format ends in the same conversation and refuses the same things.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, ConfigDict, ValidationError

from mnestic.memory.canonical import check_text, is_blank
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import make_id
from mnestic.memory.knowledge.entries import EntryType
from mnestic.memory.knowledge.extraction import TurnKind
from mnestic.memory.knowledge.resources import LARGEST_MESSAGE_BYTES, LONGEST_NAME
from mnestic.memory.sharing.readers import Readers

_MOST_NAMES = 3

Refuse = Callable[[InvalidInputError], None]


class Turn(DeferredModel):
    """What one speaker said, or one tool returned, at one time; `id` is unique within its conversation.

    `content_id` is told by what is in it, where `id` only tells a place in a file. `attached_to` is the
    message, by its `source_id`, that a tool's result came with. `readers` alone may read it.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    speaker: str
    text: str
    at: AwareDatetime
    kind: TurnKind = "message"
    entry_type: EntryType = "interaction"
    content_id: str | None = None
    attached_to: str | None = None
    readers: Readers | None = None

    @property
    def source_id(self) -> str:
        """By which it is known again, in this file and after changes of it."""
        return self.content_id or self.id


class ConversationSession(DeferredModel):
    """Turns in order of time; `at` is when the session began.

    `is_counted` says that its `id` is only which of its conversation's sessions it is.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    at: AwareDatetime
    turns: tuple[Turn, ...]
    is_counted: bool = False

    @property
    def source_id(self) -> str:
        """By which it is known again, whatever sessions are found before it later."""
        return f"{self.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if self.is_counted else self.id


class Conversation(DeferredModel):
    """Sessions in order of time; `others` names the conversations that its file holds beside it."""

    model_config = ConfigDict(frozen=True)

    title: str
    sessions: tuple[ConversationSession, ...]
    others: tuple[str, ...] = ()


def clean_text(text: str) -> str:
    """A text that is not blank and can be stored.

    Raises:
        ValueError: says what is wrong with it.
    """
    if is_blank(text):
        raise ValueError("is empty")
    try:
        check_text(text, what="text")
    except InvalidInputError as error:
        raise ValueError(error.why) from None
    return text


def clean_name(text: str) -> str:
    """A text that is also no longer than a name may be.

    Raises:
        ValueError: says what is wrong with it.
    """
    if len(clean_text(text)) > LONGEST_NAME:
        raise ValueError(f"has {len(text)} characters, the limit is {LONGEST_NAME}")
    return text


def checked_content(text: str) -> str:
    """A text that is also no longer than a message may be.

    Raises:
        ValueError: says what is wrong with it.
    """
    size = len(clean_text(text).encode())
    if size > LARGEST_MESSAGE_BYTES:
        raise ValueError(f"has {size} bytes, the limit is {LARGEST_MESSAGE_BYTES}")
    return text


Name = Annotated[str, AfterValidator(clean_name)]
Content = Annotated[str, AfterValidator(checked_content)]


def refuse_or_raise(error: InvalidInputError, refuse: Refuse | None) -> None:
    """Reports an error to `refuse`, or raises it without one, so that nothing is left out silently.

    Raises:
        InvalidInputError: `refuse` is None.
    """
    if refuse is None:
        raise error
    refuse(error)


def unique_name(name: str, seen: Counter[str]) -> str:
    """The id, with a number if it was used before, so that writes keyed by it stay apart."""
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}#{seen[name]}"


def content_id(kind: TurnKind, speaker: str, text: str, *, at: datetime | None = None) -> str:
    """An id of a turn from its content, independent of its place in the file."""
    timestamp = None if at is None else at.astimezone(UTC).isoformat()
    return make_id("said", kind, speaker, timestamp, text)


def content_keyed(turns: Sequence[Turn]) -> list[Turn]:
    """Turns of one session, in the order of the file, known by their words alone and the order of equals."""
    seen: Counter[str] = Counter()
    names = (unique_name(content_id(turn.kind, turn.speaker, turn.text), seen) for turn in turns)
    return [
        turn.model_copy(update={"content_id": name})
        for turn, name in zip(turns, names, strict=True)
    ]


def session_of(
    name: str, turns: Iterable[Turn], *, is_counted: bool = False
) -> ConversationSession:
    """Turns in the order of time; a tool's result is attached to the message before it."""
    ordered: list[Turn] = []
    message = None
    for turn in sorted(turns, key=lambda turn: turn.at):
        if turn.kind == "message":
            message = turn.source_id
        ordered.append(
            turn if turn.kind == "message" else turn.model_copy(update={"attached_to": message})
        )
    return ConversationSession(
        id=name, at=ordered[0].at, turns=tuple(ordered), is_counted=is_counted
    )


def conversation_of(sessions: Sequence[ConversationSession]) -> Conversation:
    """Sessions in order of time, under the names of who speaks."""
    ordered = tuple(sorted(sessions, key=lambda session: session.at))
    turns = [turn for session in ordered for turn in session.turns]
    messages = [turn for turn in turns if turn.kind == "message"] or turns
    names = list(dict.fromkeys(turn.speaker for turn in messages))
    if len(names) > _MOST_NAMES:
        names = [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more"]
    title = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return Conversation(title=title, sessions=ordered)


def first_problem(error: ValidationError) -> str:
    """The first problem, with its place within and without the input's text."""
    first = error.errors(include_input=False, include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    message = {"Field required": "is missing"}.get(message, message)
    # A union names its members in the place, which say nothing to the reader.
    parts = [
        part for part in first["loc"] if not str(part).startswith("function-") and part != "int"
    ]
    place = ".".join(map(str, parts))
    return f"{place}: {message}" if place else message

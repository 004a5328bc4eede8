"""The signals of an agent's inbox: interactions, insights and corrections.

The signal's sender, in whatever language, and whoever keeps what came share these shapes, and nothing else.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator
from pydantic import ValidationError as Malformed
from pydantic_core import from_json, to_json

from mnestic.memory.canonical import (
    DEEPEST,
    canonical_json,
    check_json,
    is_blank,
    levels_of,
    sha256_hex,
)
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import PERSON, Claim, ClaimSource, make_id
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.predicates import PredicateName
from mnestic.memory.knowledge.resources import Resource, check_message
from mnestic.memory.names import CORRECTION, INSIGHT, INTERACTION
from mnestic.memory.sharing.readers import Readers
from mnestic.memory.timestamps import check_date

INBOX = "inbox"  # the session and the channel of what names none
LARGEST_SIGNAL_BYTES = 1_200_000  # of JSON: a message, with what stands around it
_EXCERPT_BYTES = 100_000  # of what is no signal
_PART = "#"  # parts an id that was given from what is counted behind it
_REFUSED = f"refused{_PART}"
_TICK = timedelta(microseconds=1)
_JSON = "json/plain"
_NUL = "\u2400"  # replaces a NUL, which Postgres cannot store


def _whole(source_id: str) -> str:
    if _PART in source_id:
        raise ValueError(f"holds {_PART!r}, which parts the messages of one interaction")
    return source_id


Words = Annotated[str, Field(min_length=1, max_length=256)]
SourceId = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_whole)]


class ToolOutput(DeferredModel):
    """What a tool returned in the course of an exchange: text, or a JSON document as text."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tool: Words
    content: str


class MessageSignal(DeferredModel):
    """A message, and the results of tools that came with it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    speaker: Words
    content: str
    tool_results: tuple[ToolOutput, ...] = ()


class SignalBody(DeferredModel):
    """The fields that all signals have. A `source_id` in a session identifies the signal, which is stored once.

    Without `at`, the time is that of its arrival. `readers` alone may read it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    source_id: SourceId
    session_id: Words = INBOX
    channel: Words = INBOX
    at: AwareDatetime | None = None
    readers: Readers | None = None


class Interaction(SignalBody, MessageSignal):
    """An exchange: a message with the results of tools, and `replies` that followed it."""

    replies: tuple[MessageSignal, ...] = ()


class Insight(SignalBody):
    """What somebody, usually the agent itself, has found out; `subject` is whom it is about."""

    speaker: Words = "agent"
    content: str
    subject: Words | None = None


class Statement(DeferredModel):
    """A claim in so many words; without an object, that there is none and never was."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    subject: Words
    predicate: PredicateName
    object: Words | None = None


class Correction(SignalBody):
    """What is so, against what was said before: as text, as a `statement`, or both.

    `corrects` is the source id of the message that was wrong.
    """

    speaker: Words = "user"
    content: str = ""
    statement: Statement | None = None
    corrects: SourceId | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if is_blank(self.content) and self.statement is None:
            raise ValueError("has neither content nor a statement")
        return self


class InboxStatus(DeferredModel):
    """Signals by how far they are, and the last that went wrong."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    pending: int = 0
    kept: int = 0
    refused: int = 0
    last_error: str | None = None


class InboxReport(InboxStatus):
    """How an inbox is, and how much of what its agent received is learned.

    `failing` is what is being tried again, with its last failure: activities, and the workflow's own task.
    """

    running: bool = False
    failing: tuple[str, ...] = ()
    waiting: int = 0
    learned: int = 0
    parked: int = 0


class Signal(DeferredModel):
    """A signal as it came, not looked at but for its form; `problem` is what is wrong with that.

    `body` is its JSON, or the beginning of its text where it is none; `size_bytes` is of that.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    body: Any
    size_bytes: int
    at: AwareDatetime
    problem: str | None = None


def signal_of(name: str, payloads: Sequence[tuple[str, bytes]], *, at: AwareDatetime) -> Signal:
    """The signal that came by a name with payloads, each an encoding and its bytes."""
    content = b" ".join(content for _, content in payloads)
    body: Any = content[:_EXCERPT_BYTES].decode(errors="replace")
    problem = None
    if len(payloads) != 1:
        problem = f"has {len(payloads)} arguments, not one"
    elif payloads[0][0] != _JSON:
        problem = f"is encoded as {payloads[0][0][:64] or 'nothing'}, not as {_JSON}"
    else:
        try:
            read = from_json(content, allow_inf_nan=False)
        except ValueError as error:
            problem = f"is no JSON: {error}"
        else:
            problem = _cannot_travel(read)
            body = read if problem is None else body
    return Signal(name=name[:64], body=body, size_bytes=len(to_json(body)), at=at, problem=problem)


def _cannot_travel(body: Any) -> str | None:
    """Why no activity could be given what a signal says; a number of four characters may take eighteen."""
    if levels_of(body) > DEEPEST:
        return f"is nested deeper than {DEEPEST} levels"
    size = len(to_json(body))
    if size > LARGEST_SIGNAL_BYTES:
        return f"is {size} bytes, the limit is {LARGEST_SIGNAL_BYTES}; send it in parts"
    return None


class ExtractableSignal(DeferredModel):
    """What a signal is once it was read: messages, and a claim that somebody made outright."""

    model_config = ConfigDict(frozen=True)

    messages: tuple[IncomingMessage, ...]
    claim: Claim | None = None


_SHAPES: dict[str, type[Interaction | Insight | Correction]] = {
    INTERACTION: Interaction,
    INSIGHT: Insight,
    CORRECTION: Correction,
}


def read_signal(signal: Signal) -> ExtractableSignal:
    """What a signal says.

    Raises:
        InvalidInputError: it is malformed; says where, and what was expected.
    """
    shape = _SHAPES.get(signal.name)
    if shape is None:
        why = f"is no signal of an inbox; there are {', '.join(_SHAPES)}"
        raise InvalidInputError(what=f"signal {signal.name!a}", why=why)
    what = f"signal {signal.name}"
    if signal.problem is not None:
        raise InvalidInputError(what=what, why=signal.problem)
    try:
        body = shape.model_validate(signal.body)
    except Malformed as error:
        raise InvalidInputError(what=what, why=first_problem(error)) from None
    return extractable(body, came_at=signal.at)


def extractable(
    signal: Interaction | Insight | Correction, *, came_at: AwareDatetime
) -> ExtractableSignal:
    """The messages that are learned from, checked, and the claim.

    Raises:
        InvalidInputError: something in it cannot be stored; names it.
    """
    what = f"message {signal.session_id}/{signal.source_id}"
    check_json(signal.model_dump(mode="json"), what=what)
    check_date(signal.at or came_at, what=what)
    signal = signal if signal.at is not None else signal.model_copy(update={"at": came_at})
    if isinstance(signal, Interaction):
        messages = tuple(_exchange(signal))
    elif isinstance(signal, Insight):
        about = () if signal.subject is None else (signal.subject,)
        resource = _resource(signal, speaker=signal.speaker, content=signal.content)
        messages = (IncomingMessage(resource=resource, entry_type="insight", subjects=about),)
    else:
        messages = (_correction(signal),)
    for message in messages:
        check_message(message.resource)
    claim = _claim(signal) if isinstance(signal, Correction) and signal.statement else None
    return ExtractableSignal(messages=messages, claim=claim)


def refused_resource(signal: Signal) -> Resource:
    """A signal that was refused, as it is kept; its id is its digest.

    Under its own id it would keep away the same message sent again, mended. The agent alone reads it: who may read what it says
    may be what is wrong with it.
    """
    text = signal.body if isinstance(signal.body, str) else canonical_json(signal.body).decode()
    name = signal.name.replace("\0", _NUL)
    return Resource(
        session_id=INBOX,
        source_id=f"{_REFUSED}{sha256_hex(canonical_json([signal.name, text]))[:32]}",
        channel=INBOX,
        speaker=name.strip() or INBOX,
        content=text.replace("\0", _NUL),
        at=signal.at,
        readers=(),
    )


def find_refused(resource: Resource) -> Signal | None:
    """The signal that was stored as refused, to be processed again; None for any other message."""
    if resource.session_id != INBOX or not resource.source_id.startswith(_REFUSED):
        return None
    return signal_of(resource.speaker, [(_JSON, resource.content.encode())], at=resource.at)


def first_problem(error: Malformed) -> str:
    """The first thing that is wrong, with its place."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _exchange(signal: Interaction) -> Iterator[IncomingMessage]:
    """The messages in their order, each with its results of tools behind it, a tick apart."""
    parts: Sequence[MessageSignal] = (signal, *signal.replies)
    number = 0
    for place, message in enumerate(parts):
        source_id = signal.source_id if place == 0 else f"{signal.source_id}{_PART}{place}"
        yield IncomingMessage(
            resource=_resource(
                signal,
                speaker=message.speaker,
                content=message.content,
                source_id=source_id,
                ticks=number,
            )
        )
        for nth, result in enumerate(message.tool_results, start=1):
            number += 1
            yield IncomingMessage(
                resource=_resource(
                    signal,
                    speaker=result.tool,
                    content=result.content,
                    source_id=f"{source_id}{_PART}tool{nth}",
                    ticks=number,
                ),
                kind="tool_result",
                attached_to=source_id,
            )
        number += 1


def _correction(signal: Correction) -> IncomingMessage:
    stated = signal.statement
    content = signal.content
    if is_blank(content) and stated is not None:
        content = f"{stated.subject} {stated.predicate} {stated.object or 'nothing'}"
    return IncomingMessage(
        resource=_resource(signal, speaker=signal.speaker, content=content),
        entry_type="correction",
        corrects=signal.corrects,
        subjects=() if stated is None else (stated.subject,),
    )


def _claim(signal: Correction) -> Claim:
    """The claim of a statement; the same correction makes the same one."""
    assert signal.statement is not None
    assert signal.at is not None
    stated = signal.statement
    return Claim(
        id=make_id(signal.session_id, signal.source_id, "statement"),
        kind="retracted" if stated.object is None else "corrected",
        confidence=1,
        said_at=signal.at,
        source=ClaimSource(
            extractor=PERSON,
            session_id=signal.session_id,
            source_id=signal.source_id,
            corrects=signal.corrects,
        ),
        **stated.model_dump(),
    )


def _resource(
    signal: SignalBody, *, speaker: str, content: str, source_id: str | None = None, ticks: int = 0
) -> Resource:
    assert signal.at is not None
    return Resource(
        session_id=signal.session_id,
        source_id=source_id or signal.source_id,
        channel=signal.channel,
        speaker=speaker,
        content=content,
        at=signal.at + ticks * _TICK,
        readers=signal.readers,
    )

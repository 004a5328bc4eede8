"""Reads a conversation from a file, LoCoMo's JSON or JSON lines, told apart by what is in it.

It stands alone because everything that can be wrong with somebody's file ends here, in one error that
names the place.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from mnestic.memory.conversations import Conversation, ConversationSession, Turn
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.moments import Moment
from mnestic.memory.resources import LARGEST_MESSAGE_BYTES

MAX_BYTES = 256 * 1024 * 1024

_BUNDLED = Path(__file__).with_name("samples") / "conversation.jsonl"
_PAUSE = timedelta(hours=6)  # a longer silence starts a new session
_LINE_SHAPE = "{role, content, timestamp, session?}"
_EXPECTED = (
    f"expected JSON lines of {_LINE_SHAPE}, or LoCoMo's JSON: one sample or a list of samples"
)
_SESSION_KEY = re.compile(r"session_([1-9][0-9]{0,5})")
_LOCOMO_DATE = "%I:%M %p on %d %B, %Y"
_MOST_NAMES = 3


Refuse = Callable[[InvalidInputError], None]


def read_conversation(
    path: Path, *, sample: str | None = None, refuse: Refuse | None = None
) -> Conversation:
    """Read a conversation.

    JSON lines: `{role, content, timestamp, session?}`; the role is the speaker, a timestamp without an
    offset is UTC, lines without a session are parted where more than six hours pass. LoCoMo: one sample
    or a list; turns follow each other by a second, and a shared photo's caption follows the text.

    Args:
        path: A regular file of UTF-8.
        sample: Which of LoCoMo's samples; None for the first.
        refuse: Is told of each of the JSON lines that cannot be kept, and the others are read; without
            it the first is raised.

    Raises:
        InvalidInputError: The file cannot be read or is not of these shapes; names file and place.
    """
    source = f"conversation {path}"
    first = _first_line(path, source)
    if _is_chat_line(first):
        if sample is not None:
            raise InvalidInputError(
                what=source, why=f"holds JSON lines, so there is no sample {sample}"
            )
        return _from_lines(_read_lines(path, source, refuse), source, refuse)
    samples = _parse_document(path, source)
    return _from_locomo(samples, source, sample=sample)


def bundled_conversation() -> Conversation:
    """The conversation that comes with the package: two people, thirteen sessions, facts that change."""
    return read_conversation(_BUNDLED)


def _clean(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    if "\0" in text:
        raise ValueError("holds a NUL character")
    return text


def _content(text: str) -> str:
    size = len(_clean(text).encode())
    if size > LARGEST_MESSAGE_BYTES:
        raise ValueError(f"has {size} bytes, the limit is {LARGEST_MESSAGE_BYTES}")
    return text


_Text = Annotated[str, AfterValidator(_clean)]
_Name = Annotated[_Text, Field(max_length=256)]  # as long as the key of a record may be


class _ChatLine(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    role: _Name
    content: Annotated[str, AfterValidator(_content)]
    timestamp: Moment
    session: _Name | int | None = None


class _LocomoTurn(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    speaker: _Name
    dia_id: _Name
    text: str
    blip_caption: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        _clean(self.said)
        return self

    @property
    def said(self) -> str:
        caption = (self.blip_caption or "").strip()
        return (
            f"{self.text.strip()} [shares a photo: {caption}]".strip()
            if caption
            else self.text.strip()
        )


_LOCOMO_TURNS: TypeAdapter[tuple[_LocomoTurn, ...]] = TypeAdapter(tuple[_LocomoTurn, ...])


def _first_line(path: Path, source: str) -> str:
    """The first line that is not blank, once the file is known to be one."""
    try:
        if not path.exists():
            raise InvalidInputError(what=source, why="there is no such file")
        if not path.is_file():
            raise InvalidInputError(what=source, why=f"is a directory or a device; {_EXPECTED}")
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInputError(what=source, why=f"is larger than {MAX_BYTES // 2**20} MB")
    except (OSError, ValueError) as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error}") from error
    for _, line in _read_lines(path, source):
        return line
    raise InvalidInputError(what=source, why=f"is empty; {_EXPECTED}")


def _read_lines(path: Path, source: str, refuse: Refuse | None = None) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, each with its number, one at a time."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    text = _decode(line, f"{source}, line {number}")
                except InvalidInputError as error:
                    if refuse is None:
                        raise
                    refuse(error)
                    continue
                if text.strip():
                    yield number, text
    except OSError as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error.strerror}") from error


def _decode(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        why = f"byte {error.start + 1} is not UTF-8; {_EXPECTED}"
        raise InvalidInputError(what=source, why=why) from error


def _is_chat_line(line: str) -> bool:
    try:
        head = from_json(line) if line.lstrip().startswith("{") else None
    except ValueError:
        return False  # the file is read as one document then, and the place is named
    return isinstance(head, dict) and not head.keys().isdisjoint({"role", "content", "timestamp"})


def _from_lines(
    lines: Iterable[tuple[int, str]], source: str, refuse: Refuse | None
) -> Conversation:
    named: dict[str, list[Turn]] = {}
    unnamed: list[Turn] = []
    for number, text in lines:
        try:
            line = _chat_line(text, f"{source}, line {number}")
        except InvalidInputError as error:
            if refuse is None:
                raise
            refuse(error)
            continue
        turn = Turn(id=f"L{number}", speaker=line.role, text=line.content, at=line.timestamp)
        group = unnamed if line.session is None else named.setdefault(str(line.session), [])
        group.append(turn)
    if not named and not unnamed:
        raise InvalidInputError(what=source, why=f"holds no message that can be kept; {_EXPECTED}")
    names = (name for n in range(1, 2**63) if (name := f"session_{n}") not in named)
    groups = [*named.items(), *zip(names, _parted_by_silence(unnamed), strict=False)]
    return _conversation([_session(name, turns) for name, turns in groups])


def _chat_line(text: str, place: str) -> _ChatLine:
    try:
        return _ChatLine.model_validate_json(text)
    except ValidationError as error:
        problem = _problem(error).replace(" at line 1 column", " at column")
        why = f"{problem}; expected {_LINE_SHAPE}, one JSON object a line"
        raise InvalidInputError(what=place, why=why) from error


def _parted_by_silence(turns: Sequence[Turn]) -> list[list[Turn]]:
    groups: list[list[Turn]] = []
    for turn in sorted(turns, key=lambda turn: turn.at):
        if not groups or turn.at - groups[-1][-1].at > _PAUSE:
            groups.append([])
        groups[-1].append(turn)
    return groups


def _parse_document(path: Path, source: str) -> Any:
    try:
        text = _decode(path.read_bytes(), source)
        return from_json(text)
    except OSError as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInputError(
            what=source, why=f"is no whole JSON ({error}); {_EXPECTED}"
        ) from error


def _from_locomo(document: Any, source: str, *, sample: str | None) -> Conversation:
    place, chosen = _choose_sample(document, source, sample=sample)
    conversation = chosen.get("conversation", chosen)
    if "conversation" in chosen:
        place += ".conversation"
    if not isinstance(conversation, Mapping):
        raise InvalidInputError(what=f"{source}, {place}", why=f"is no object; {_EXPECTED}")
    numbers = sorted(
        int(match[1]) for key in conversation if (match := _SESSION_KEY.fullmatch(key))
    )
    seen: Counter[str] = Counter()
    sessions = [
        _locomo_session(conversation, f"session_{number}", f"{source}, {place}", seen=seen)
        for number in numbers
        if conversation[f"session_{number}"] != []
    ]
    if not sessions:
        raise InvalidInputError(what=f"{source}, {place}", why=f"has no session_1; {_EXPECTED}")
    return _conversation(sessions)


def _choose_sample(
    document: Any, source: str, *, sample: str | None
) -> tuple[str, Mapping[str, Any]]:
    """The sample asked for and its place in the file, in JSONPath."""
    samples = document if isinstance(document, list) else [document]
    if not samples or not all(isinstance(each, dict) for each in samples):
        raise InvalidInputError(what=source, why=f"holds no objects; {_EXPECTED}")
    known = [name if isinstance(name := each.get("sample_id"), str) else "" for each in samples]
    if sample is not None and sample not in known:
        why = f"has no sample {sample}, but {', '.join(filter(None, known)) or 'one without a sample_id'}"
        raise InvalidInputError(what=source, why=why)
    index = known.index(sample) if sample is not None else 0
    return (f"$[{index}]" if isinstance(document, list) else "$"), samples[index]


def _locomo_session(
    conversation: Mapping[str, Any], key: str, place: str, *, seen: Counter[str]
) -> ConversationSession:
    began = conversation.get(f"{key}_date_time")
    try:
        at = datetime.strptime(began, _LOCOMO_DATE).replace(tzinfo=UTC)  # type: ignore[arg-type]
        at + timedelta(days=1)  # room for its turns
    except (TypeError, ValueError, OverflowError):
        why = "is missing" if began is None else f"{str(began)[:40]!r} is no date"
        raise InvalidInputError(
            what=f"{place}.{key}_date_time", why=f"{why}; expected one like 1:56 pm on 8 May, 2023"
        ) from None
    try:
        spoken = _LOCOMO_TURNS.validate_python(conversation[key])
    except ValidationError as error:
        why = f"{_problem(error)}; expected a list of {{speaker, dia_id, text, blip_caption?}}"
        raise InvalidInputError(what=f"{place}.{key}", why=why) from error
    turns = [
        Turn(
            id=_unique(turn.dia_id, seen),
            speaker=turn.speaker,
            text=turn.said,
            at=at + timedelta(seconds=i),
        )
        for i, turn in enumerate(spoken)
    ]
    return _session(key, turns)


def _unique(name: str, seen: Counter[str]) -> str:
    """An id that came before gets a number, so that writes which are keyed by it stay apart."""
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}#{seen[name]}"


def _session(name: str, turns: Sequence[Turn]) -> ConversationSession:
    ordered = tuple(sorted(turns, key=lambda turn: turn.at))
    return ConversationSession(id=name, at=ordered[0].at, turns=ordered)


def _conversation(sessions: Sequence[ConversationSession]) -> Conversation:
    ordered = tuple(sorted(sessions, key=lambda session: session.at))
    names = list(dict.fromkeys(turn.speaker for session in ordered for turn in session.turns))
    if len(names) > _MOST_NAMES:
        names = [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more"]
    title = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return Conversation(title=title, sessions=ordered)


def _problem(error: ValidationError) -> str:
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

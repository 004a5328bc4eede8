"""Reads a conversation from a file: JSON lines, LoCoMo's JSON or Markdown.

It chooses the format of a file, by its name and content.
"""

import json
from collections.abc import Iterable
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import EntryType
from mnestic.memory.knowledge.extraction import TurnKind
from mnestic.memory.sharing.readers import Readers
from mnestic.memory.timestamps import Timestamp
from mnestic.starter.importers.file_formats import check_format, check_markdown
from mnestic.starter.importers.locomo import read_locomo
from mnestic.starter.importers.markdown import read_markdown
from mnestic.starter.importers.text_files import EXPECTED, check_file, read_lines
from mnestic.starter.importers.turns import (
    Content,
    Conversation,
    Name,
    Refuse,
    Turn,
    content_id,
    conversation_of,
    first_problem,
    refuse_or_raise,
    session_of,
)

_BUNDLED = Path(__file__).parents[1] / "samples" / "conversation.jsonl"
MARKDOWN = (".md", ".markdown")
_PAUSE = timedelta(hours=6)  # a longer silence starts a new session
_LINES_LOOKED_AT = 100  # one of them is a message's, or the file is read as one document
_Number = Annotated[int, Field(gt=-(10**18), lt=10**18)]
_LINE_SHAPE = "{role, content, timestamp, session?, tool?, entry_type?, readers?}"


def read_conversation(
    path: Path,
    *,
    sample: str | None = None,
    markdown: bool = False,
    author: str | None = None,
    owner: str = "author",
    name: str | None = None,
    refuse: Refuse | None = None,
) -> Conversation:
    """Read a conversation.

    JSON lines: `{role, content, timestamp, session?, tool?, entry_type?, readers?}`; the role is the speaker, a timestamp
    without an offset is UTC, lines without a session are parted where more than six hours pass. A line
    with a `tool` is what that tool returned, and came with the message before it; it needs no role.
    LoCoMo: one sample or a list; turns follow each other by a second, and a shared photo's caption
    follows the text. Markdown: as docs/ingest.md says.

    Args:
        path: A regular file of UTF-8.
        sample: Which of LoCoMo's samples; None for the first.
        markdown: It is Markdown, whatever its name.
        author: Whose turns are the paragraphs of Markdown that name nobody, if that is known.
        owner: Whose they are otherwise; where others are named they are nobody's, but `notes`.
        name: How errors name it; None for its path.
        refuse: Called with each line and turn that cannot be stored, while the others are read;
            without it the first is raised.

    Raises:
        InvalidInputError: The file cannot be read or is not of these shapes; names file and place, and what
            the file looks like if it is another program's.
    """
    source = f"conversation {name or path}"
    check_file(path, source)
    check_format(path, source)
    if markdown or path.suffix.lower() in MARKDOWN:
        _check_no_sample(sample, source, "Markdown")
        check_markdown(path, source)
        return read_markdown(path, source, author=author, owner=owner, refuse=refuse)
    if not _holds_chat_lines(path, source):
        return read_locomo(path, source, sample=sample, refuse=refuse)
    _check_no_sample(sample, source, "JSON lines")
    return _from_lines(read_lines(path, source, refuse), source, refuse)


def bundled_conversation() -> Conversation:
    """The conversation in the package: two people, thirteen sessions, facts that change."""
    return read_conversation(_BUNDLED)


class _ChatLine(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    role: Name | None = None
    content: Content
    timestamp: Timestamp
    session: Name | _Number | None = None
    tool: Name | None = None
    entry_type: EntryType = "interaction"
    readers: Readers | None = None

    @model_validator(mode="after")
    def _has_speaker(self) -> Self:
        if self.role is None and self.tool is None:
            raise ValueError("role: is missing")
        return self

    def as_turn(self, turn_id: str) -> Turn:
        kind: TurnKind = "message" if self.tool is None else "tool_result"
        speaker = self.tool or self.role or ""
        return Turn(
            id=turn_id,
            speaker=speaker,
            text=self.content,
            at=self.timestamp,
            kind=kind,
            entry_type=self.entry_type,
            content_id=content_id(kind, speaker, self.content, at=self.timestamp),
            readers=self.readers,
        )


def _check_no_sample(sample: str | None, source: str, what: str) -> None:
    if sample is not None:
        raise InvalidInputError(what=source, why=f"holds {what}, so there is no sample {sample}")


def _holds_chat_lines(path: Path, source: str) -> bool:
    bad: list[InvalidInputError] = []
    lines = (text for _, text in read_lines(path, source, bad.append) if text.strip())
    first = list(islice(lines, _LINES_LOOKED_AT))
    if not first and not bad:
        raise InvalidInputError(what=source, why=f"is empty; {EXPECTED}")
    return any(map(_is_chat_line, first))


def _is_chat_line(line: str) -> bool:
    try:
        head = json.loads(line) if line.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return False  # the file is read as one document then, and the place is named
    return isinstance(head, dict) and not head.keys().isdisjoint(
        {"role", "content", "timestamp", "tool"}
    )


def _from_lines(
    lines: Iterable[tuple[int, str]], source: str, refuse: Refuse | None
) -> Conversation:
    named: dict[str, dict[str, Turn]] = {}
    unnamed: dict[str, Turn] = {}
    for number, text in lines:
        if not text.strip():
            continue
        try:
            line = _chat_line(text, f"{source}, line {number}")
        except InvalidInputError as error:
            refuse_or_raise(error, refuse)
            continue
        group = unnamed if line.session is None else named.setdefault(str(line.session), {})
        turn = line.as_turn(f"L{number}")
        group.setdefault(turn.source_id, turn)  # a line that is there twice is one message
    if not named and not unnamed:
        raise InvalidInputError(what=source, why=f"has no message that can be stored; {EXPECTED}")
    names = (name for n in range(1, 2**63) if (name := f"session_{n}") not in named)
    parted = zip(names, _parted_by_silence(unnamed.values()), strict=False)
    return conversation_of(
        [
            *(session_of(name, turns.values()) for name, turns in named.items()),
            *(session_of(name, turns, is_counted=True) for name, turns in parted),
        ]
    )


def _chat_line(text: str, place: str) -> _ChatLine:
    try:
        return _ChatLine.model_validate_json(text)
    except ValidationError as error:
        problem = first_problem(error).replace(" at line 1 column", " at column")
        why = f"{problem}; expected {_LINE_SHAPE}, one JSON object a line"
        raise InvalidInputError(what=place, why=why) from error


def _parted_by_silence(turns: Iterable[Turn]) -> list[list[Turn]]:
    groups: list[list[Turn]] = []
    for turn in sorted(turns, key=lambda turn: turn.at):
        if not groups or turn.at - groups[-1][-1].at > _PAUSE:
            groups.append([])
        groups[-1].append(turn)
    return groups

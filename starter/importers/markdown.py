"""Reads a conversation or notes out of plain Markdown.

What a line means follows from the lines before it, unlike in the other formats.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.extraction import NO_SPEAKER
from mnestic.starter.importers.markdown_lines import FrontMatter, MarkdownLine, split_front_matter
from mnestic.starter.importers.speakers import SpokenTurns, find_turns
from mnestic.starter.importers.spoken_lines import SpokenLine
from mnestic.starter.importers.text_files import EXPECTED, read_lines
from mnestic.starter.importers.turn_times import TurnTimes
from mnestic.starter.importers.turns import (
    Content,
    Conversation,
    ConversationSession,
    Name,
    Refuse,
    Turn,
    content_keyed,
    conversation_of,
    first_problem,
    refuse_or_raise,
    session_of,
    unique_name,
)
from mnestic.starter.importers.written_dates import find_date

_LONGEST_SESSION = 240  # characters; leaves room for the number of a repeated one
_BEFORE_HEADINGS = "notes"
NOTHING = f"has no message that can be stored; {EXPECTED}"
"""Why a file is refused in which nothing is written."""
_NAMELESS = (
    "begins with a time but names nobody, in a file that names who speaks; "
    "write it as `[10:32] Name: text`"
)


def read_markdown(
    path: Path, source: str, *, author: str | None, owner: str, refuse: Refuse | None = None
) -> Conversation:
    """Reads Markdown, as docs/ingest.md describes.

    Args:
        path: A regular file of UTF-8.
        source: How it is named to a person.
        author: Whose turns the paragraphs are that name nobody, if that is known.
        owner: Whose they are otherwise, in a file where nobody else is named.
        refuse: Called with each line, turn and heading's date that cannot be stored, while the others are
            read; without it the first is raised.

    Raises:
        InvalidInputError: The file holds no message; names file and line.
    """
    front, lines = split_front_matter(read_lines(path, source, refuse))
    turns = find_turns(lines, properties=front.text, is_dialogue=author is not None)
    begins = _date_of(front, source) or datetime.fromtimestamp(path.stat().st_mtime, UTC)
    reader = _Reader(
        source,
        author=author or (NO_SPEAKER if turns.begin else owner),
        begins=begins.replace(microsecond=0),
        refuse=refuse,
    )
    sections = _sections_of(lines, turns)
    sessions = [session for section in sections if (session := reader.read(section))]
    if not sessions:
        raise InvalidInputError(what=source, why=NOTHING)
    return conversation_of(sessions)


def _date_of(front: FrontMatter, source: str) -> datetime | None:
    if front.date is None:
        return None
    number, text = front.date
    try:
        return find_date(text)
    except ValueError as error:
        raise InvalidInputError(what=f"{source}, line {number}", why=f"date: {error}") from error


@dataclass
class _Block:
    """Lines that are one turn."""

    line: int
    lines: list[str]
    spoken: SpokenLine | None = None
    is_nameless: bool = False
    is_below_heading: bool = False

    @property
    def is_quoted(self) -> bool:
        """Whether all of it is a quotation, whose marks are not part of the text."""
        return self.spoken is not None and self.spoken.is_quoted


@dataclass
class _Section:
    """The lines under one heading, up to the next."""

    line: int = 1
    level: int = 0
    title: str = ""
    blocks: list[_Block] = field(default_factory=list)


def _sections_of(lines: Iterable[MarkdownLine], turns: SpokenTurns) -> list[_Section]:
    blocks = _Blocks(turns)
    for line in lines:
        blocks.take(line)
    return blocks.sections


class _Blocks:
    """Parts lines into sections and blocks."""

    def __init__(self, turns: SpokenTurns) -> None:
        self.sections = [_Section()]
        self._turns = turns
        self._open: _Block | None = None
        self._skipped = 0

    def take(self, line: MarkdownLine) -> None:
        """The next line."""
        spoken = self._turns.begin.get(line.number)
        if self._skipped:
            self._skipped -= 1
        elif spoken is not None:
            self._begin(_Block(line.number, [spoken.text], spoken, False, line.kind == "heading"))
            self._skipped = spoken.lines - 1
        elif line.kind == "heading":
            self.sections.append(_Section(line.number, line.level, line.text))
            self._open = None
        elif line.kind == "blank":
            self._pause()
        elif line.number in self._turns.labelled and self._is_somebodys():
            self._begin(_Block(line.number, [line.text]))
        elif line.number in self._turns.nameless:
            self._begin(_Block(line.number, [line.text], is_nameless=True))
        else:
            self._continue(line)

    def _begin(self, block: _Block) -> None:
        self._open = block
        self.sections[-1].blocks.append(block)

    def _is_somebodys(self) -> bool:
        """Whether a turn of one who is named has begun, that a label ends."""
        return self._open is not None and self._open.spoken is not None and any(self._open.lines)

    def _pause(self) -> None:
        """A blank line ends a turn; a name alone waits for its words, and a heading speaks until the next."""
        if self._open is None or not any(self._open.lines):
            return
        if self._open.is_below_heading:
            self._open.lines.append("")
        else:
            self._open = None

    def _continue(self, line: MarkdownLine) -> None:
        text = line.text
        if self._open is not None and self._open.is_quoted and line.kind == "text":
            text = text.lstrip("> \t")
            if not text:
                self._pause()
                return
        if self._open is None:
            self._begin(_Block(line.number, [text]))
        else:
            self._open.lines.append(text)


class _SpokenTurn(BaseModel):
    model_config = ConfigDict(frozen=True)

    speaker: Name
    content: Content


class _Reader:
    """Makes sessions of sections, each with the date and the titles of the headings above it."""

    def __init__(
        self, source: str, *, author: str, begins: datetime, refuse: Refuse | None
    ) -> None:
        self._source = source
        self._author = author
        self._refuse = refuse
        self._above: list[tuple[int, str, datetime | None]] = [(0, "", begins)]
        self._seen: Counter[str] = Counter()

    def read(self, section: _Section) -> ConversationSession | None:
        """The session of a section; None if nothing in it can be stored."""
        at = self._enter(section) if section.level else self._above[0][2]
        name = unique_name(self._title(), self._seen)
        if at is None:
            return None
        turns = self._turns_of(section.blocks, begins=at)
        return session_of(name, content_keyed(turns)) if turns else None

    def _turns_of(self, blocks: Sequence[_Block], *, begins: datetime) -> list[Turn]:
        named = [block.spoken.when if block.spoken else None for block in blocks]
        times = TurnTimes(begins, named)
        turns = []
        for block, when in zip(blocks, named, strict=True):
            try:
                spoken_turn = self._spoken_turn(block)
                at = times.next(when)
            except ValueError as error:
                self._leave_out(block, error)
            else:
                speaker, text = spoken_turn.speaker, spoken_turn.content
                turns.append(Turn(id=f"L{block.line}", speaker=speaker, text=text, at=at))
        return turns

    def _enter(self, section: _Section) -> datetime | None:
        """The start of a heading's session; the section of a heading with an invalid date is left out."""
        while self._above[-1][0] >= section.level:
            self._above.pop()
        at = self._above[-1][2]
        try:
            at = find_date(section.title) or at
            _SpokenTurn(speaker=section.title[:_LONGEST_SESSION] or "-", content="-")
        except ValueError as error:
            why = f"heading: {_problem(error)}; its section is left out"
            what = f"{self._source}, line {section.line}"
            refuse_or_raise(InvalidInputError(what=what, why=why), self._refuse)
            at = None
        self._above.append((section.level, section.title, at))
        return at

    def _title(self) -> str:
        titles = [title for _, title, _ in self._above if title]
        return " / ".join(titles)[-_LONGEST_SESSION:].strip() or _BEFORE_HEADINGS

    def _spoken_turn(self, block: _Block) -> _SpokenTurn:
        """The text of a block.

        Raises:
            ValueError: It cannot be stored.
        """
        if block.is_nameless:
            raise ValueError(_NAMELESS)
        speaker = block.spoken.speaker if block.spoken else self._author
        return _SpokenTurn(speaker=speaker, content="\n".join(block.lines).strip())

    def _leave_out(self, block: _Block, error: ValueError) -> None:
        what = f"{self._source}, line {block.line}"
        refuse_or_raise(InvalidInputError(what=what, why=_problem(error)), self._refuse)


def _problem(error: ValueError) -> str:
    return first_problem(error) if isinstance(error, ValidationError) else str(error)

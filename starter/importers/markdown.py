"""Reads a conversation or notes out of plain Markdown.

It stands alone because what a line means follows from the lines before it, unlike in the other formats.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.conversations import Conversation, ConversationSession, Turn
from mnestic.memory.timestamps import parse_timestamp
from mnestic.starter.importers.text_files import EXPECTED, read_lines
from mnestic.starter.importers.turns import (
    Content,
    Name,
    Refuse,
    conversation_of,
    first_problem,
    known_by_content,
    refuse_or_raise,
    session_of,
    unique_name,
)

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
_ITEM = r"(?:[-*+] +)?"
_BOLD_NAME = re.compile(_ITEM + r"\*\*([^*:]+)(?::\*\*|\*\*:)(?:[ \t]+(.*))?")
_WORD = r"[^\W\d_][\w.'\u2019-]*"
_PLAIN_NAME = re.compile(_ITEM + rf"({_WORD}(?: {_WORD}){{0,2}}):[ \t]+(\S.*)")
_ISO = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?")
_DAY_FIRST = re.compile(
    r"\b(?P<day>\d{1,2})(?:st|nd|rd|th)? (?P<month>[A-Za-z]+),? (?P<year>\d{4})\b"
)
_MONTH_FIRST = re.compile(
    r"\b(?P<month>[A-Za-z]+) (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})\b"
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_LONGEST_SESSION = 240  # characters; leaves room for the number of one that comes twice
_BEFORE_HEADINGS = "notes"


def read_markdown(
    path: Path, source: str, *, author: str, refuse: Refuse | None = None
) -> Conversation:
    """Read Markdown, as docs/ingest.md says.

    Args:
        path: A regular file of UTF-8.
        source: How it is named to a person.
        author: Whose turns the paragraphs are that name nobody.
        refuse: Is told of each line, turn and heading's date that cannot be kept, and the others are
            read; without it the first is raised.

    Raises:
        InvalidInputError: The file holds no message; names file and line.
    """
    blocks = _Blocks()
    for number, text in _without_front_matter(read_lines(path, source, refuse)):
        blocks.take(number, text.rstrip())
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(microsecond=0)
    reader = _Reader(source, author=author, written=written, refuse=refuse)
    sessions = [session for section in blocks.sections if (session := reader.read(section))]
    if not sessions:
        raise InvalidInputError(what=source, why=f"holds no message that can be kept; {EXPECTED}")
    return conversation_of(sessions)


@dataclass
class _Block:
    """Lines that are one turn."""

    line: int
    speaker: str | None
    lines: list[str]


@dataclass
class _Section:
    """What stands under one heading, up to the next."""

    line: int = 1
    level: int = 0
    title: str = ""
    blocks: list[_Block] = field(default_factory=list)


class _Blocks:
    """Parts lines into sections and blocks."""

    def __init__(self) -> None:
        self.sections = [_Section()]
        self._open: _Block | None = None
        self._fence = ""

    def take(self, number: int, text: str) -> None:
        """The next line."""
        if self._fence:
            self._go_on(number, text)
            if text.strip().startswith(self._fence) and not text.strip().strip(self._fence[0]):
                self._fence = ""
        elif fence := _FENCE.match(text):
            self._fence = fence[1]
            self._go_on(number, text)
        elif heading := _HEADING.fullmatch(text):
            self.sections.append(_Section(number, len(heading[1]), (heading[2] or "").strip()))
            self._open = None
        elif not text or _RULE.fullmatch(text):
            if self._open is None or any(self._open.lines):  # a name alone waits for its words
                self._open = None
        elif named := _named(text):
            self._begin(number, *named)
        else:
            self._go_on(number, text)

    def _begin(self, number: int, speaker: str | None, text: str) -> None:
        self._open = _Block(number, speaker, [text])
        self.sections[-1].blocks.append(self._open)

    def _go_on(self, number: int, text: str) -> None:
        if self._open is None:
            self._begin(number, None, text)
        else:
            self._open.lines.append(text)


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True)

    speaker: Name
    content: Content


class _Reader:
    """Makes sessions of sections, each with the date and the titles of the headings above it."""

    def __init__(
        self, source: str, *, author: str, written: datetime, refuse: Refuse | None
    ) -> None:
        self._source = source
        self._author = author
        self._refuse = refuse
        self._above: list[tuple[int, str, datetime | None]] = [(0, "", written)]
        self._seen: Counter[str] = Counter()

    def read(self, section: _Section) -> ConversationSession | None:
        """A section's session, or None where nothing of it can be kept."""
        at = self._enter(section) if section.level else self._above[0][2]
        name = unique_name(self._title(), self._seen)
        if at is None:
            return None
        turns = []
        for nth, block in enumerate(section.blocks):
            try:
                said = self._said(block)
            except InvalidInputError as error:
                refuse_or_raise(error, self._refuse)
                continue
            said_at = at + timedelta(seconds=nth)
            turns.append(
                Turn(id=f"L{block.line}", speaker=said.speaker, text=said.content, at=said_at)
            )
        return session_of(name, known_by_content(turns)) if turns else None

    def _enter(self, section: _Section) -> datetime | None:
        """When a heading's session begins; what stands under one whose date is none is left out."""
        while self._above[-1][0] >= section.level:
            self._above.pop()
        at = self._above[-1][2]
        try:
            at = _date_in(section.title) or at
            _Said(speaker=section.title[:_LONGEST_SESSION] or "-", content="-")
        except ValueError as error:
            why = first_problem(error) if isinstance(error, ValidationError) else str(error)
            why = f"heading: {why}; what stands under it is left out"
            what = f"{self._source}, line {section.line}"
            refuse_or_raise(InvalidInputError(what=what, why=why), self._refuse)
            at = None
        self._above.append((section.level, section.title, at))
        return at

    def _title(self) -> str:
        titles = [title for _, title, _ in self._above if title]
        return " / ".join(titles)[-_LONGEST_SESSION:].strip() or _BEFORE_HEADINGS

    def _said(self, block: _Block) -> _Said:
        text = "\n".join(block.lines).strip()
        try:
            return _Said(speaker=block.speaker or self._author, content=text)
        except ValidationError as error:
            what = f"{self._source}, line {block.line}"
            raise InvalidInputError(what=what, why=first_problem(error)) from error


def _without_front_matter(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines after the properties that some editors keep between two lines of `---` at the top."""
    held: list[tuple[int, str]] = []
    rest = iter(lines)
    for number, text in rest:
        is_mark = text.rstrip() == "---"
        if not held and not (is_mark and number == 1):
            yield number, text
            break
        held.append((number, text))
        if is_mark and len(held) > 1:
            held = []
            break
    yield from held
    yield from rest


def _named(text: str) -> tuple[str, str] | None:
    """Who says what, where a line begins with a name."""
    if bold := _BOLD_NAME.fullmatch(text):
        return bold[1].strip(), bold[2] or ""
    plain = _PLAIN_NAME.fullmatch(text)
    if plain is None or any(word[0].islower() for word in plain[1].split()[1:]):
        return None
    return plain[1], plain[2]


def _date_in(title: str) -> datetime | None:
    """The first date that a heading names, in UTC where it does not say otherwise.

    Raises:
        ValueError: it is none, or out of the range of what can be meant.
    """
    if iso := _ISO.search(title):
        return parse_timestamp(iso[0])
    words = _DAY_FIRST.search(title) or _MONTH_FIRST.search(title)
    month = _month(words["month"]) if words else None
    if words is None or month is None:
        return None
    try:
        day = datetime(int(words["year"]), month, int(words["day"]), tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{words[0]!r} is no date") from None
    return parse_timestamp(day)


def _month(word: str) -> int | None:
    """Its number, by its English name or the first three letters or more of it."""
    meant = [n for n, name in enumerate(_MONTHS, start=1) if name.startswith(word.lower())]
    return meant[0] if len(word) >= 3 and meant else None  # noqa: PLR2004

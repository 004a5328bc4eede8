"""Reads the text of a chat as WhatsApp exports it, from Android or an iPhone.

A message of it goes on until a line begins with the next date.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from mnestic.memory.canonical import is_blank
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import make_id
from mnestic.memory.knowledge.resources import LARGEST_MESSAGE_BYTES
from mnestic.starter.importers.programs.items import (
    DateOrder,
    ImportOptions,
    Item,
    LeftOut,
    Origin,
    message_of,
)
from mnestic.starter.importers.programs.text_lines import read_text_lines
from mnestic.starter.importers.programs.whatsapp_dates import (
    STAMP,
    Stamp,
    find_order,
    stamp_of,
)

_WORDS = Path(__file__).with_name("whatsapp_words.yaml")
_MARK = "\u200e"  # before what the program writes itself, on an iPhone
_DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\ufeff"
_HEADERS = (
    re.compile(rf"[{_DIRECTIONS}]*\[{STAMP}\] (?P<rest>.*)"),
    re.compile(rf"[{_DIRECTIONS}]*{STAMP} [-\u2013] (?P<rest>.*)"),
)
# Quotation marks are in notices (`Ana changed the subject to "Trip: Riga"`), not in names.
_SPOKEN = re.compile(
    r"(?P<name>[^:\"\u201c\u201d\u201e\u00ab]{1,100}?):(?:[ \u00a0](?P<text>.*)|$)"
)
_PLACEHOLDER = re.compile(rf"[{_DIRECTIONS}]*<[^<>\n]{{3,60}}>")  # <Media omitted>
_ATTACHED = re.compile(
    rf"(?:[{_DIRECTIONS}]+[^\n]{{1,200}}|[^\s/]{{1,200}})\.[A-Za-z0-9]{{2,5}} \([^()\n]{{3,40}}\)"
    rf"|[{_DIRECTIONS}]*<[^<>\n:]{{3,20}}: [^<>\n]{{1,200}}\.[A-Za-z0-9]{{2,5}}>"
)
_LEFT_OUT_ON_IPHONE = re.compile(
    rf"[{_DIRECTIONS}]+(?:[^\W\d_]+ ){{1,3}}[^\W\d_]+"
)  # image omitted
_COPY = re.compile(r" ?\(\d+\)$")
_IN_FOLDER = "_chat"
_LONGEST_TEXT = LARGEST_MESSAGE_BYTES + 1  # characters that are collected of one message


class WhatsAppChat:
    """The export of one chat. All of its lines are read once before, for the order of day and month."""

    format = "whatsapp"

    def __init__(self, path: Path, options: ImportOptions, *, source: str) -> None:
        self._path, self._options, self._source = path, options, source
        self._channel = options.channel or _chat_name(path)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which zone and order the dates were read in."""
        zone = self._options.timezone.key
        return (
            f"times were read as {zone}; --timezone gives another",
            f"dates were read as {self._order}",
        )

    @cached_property
    def _order(self) -> DateOrder:
        if self._options.date_order is not None:
            return self._options.date_order
        return find_order((said.stamp for said in self._written()), self._source)

    def items(self) -> Iterator[Item]:
        """The messages in the order of the file."""
        order, seen, minute = self._order, Counter[str](), None
        for said in self._written():
            try:
                at = said.stamp.at(order)
            except ValueError:
                why = (
                    f"has a date that is none if it is {order}; --date-order says which order it is"
                )
                raise InvalidInputError(
                    what=f"{self._source}, line {said.stamp.line}", why=why
                ) from None
            spoken = _SPOKEN.match(said.lines[0])
            if spoken is None:
                yield LeftOut("notice")
                continue
            if minute != (minute := at.replace(second=0)):
                seen.clear()  # only within a minute may two messages be equal
            name = spoken["name"].strip(f" ~\u00a0\u202f{_DIRECTIONS}")
            written = "\n".join((spoken["text"] or "", *said.lines[1:]))
            if _is_notice(written):
                yield LeftOut("notice")
                continue
            text, media = _without_media(written)
            if is_blank(text):
                yield LeftOut("media" if media else "empty", media)
            elif said.is_iphone and not media and written.startswith(_MARK):
                yield LeftOut("notice")
            else:
                key = make_id("whatsapp", f"{at.isoformat()}", name, text)
                seen[key] += 1
                origin = Origin(
                    session_id=f"whatsapp/{self._channel}/{at:%Y-%m-%d}",
                    source_id=key if seen[key] == 1 else f"{key}#{seen[key]}",
                    channel=self._channel,
                    place=f"line {said.stamp.line}",
                )
                yield message_of(
                    origin,
                    speaker=name,
                    text=text,
                    at=at.replace(tzinfo=self._options.timezone),
                    media=media,
                )

    def _written(self) -> Iterator["_Written"]:
        """Messages and notices as they are written, each with all of its lines."""
        header, current, size = None, None, 0
        for number, line in read_text_lines(self._path, self._source):
            found = _header(line) if header is None else header.match(line)
            if found is not None:
                header = found.re
                if current is not None:
                    yield current
                size = 0
                is_iphone = header is _HEADERS[0]
                current = _Written(stamp_of(found, number), [found["rest"]], is_iphone)
            elif current is not None and size < _LONGEST_TEXT:
                size += len(line)
                current.lines.append(line)
        if current is not None:
            yield current


class _Written(NamedTuple):
    stamp: Stamp
    lines: list[str]
    is_iphone: bool


def is_whatsapp(line: str) -> bool:
    """Whether a line begins as the messages of an export do."""
    return _header(line) is not None


def _header(line: str) -> re.Match[str] | None:
    return next(filter(None, (header.match(line) for header in _HEADERS)), None)


def _without_media(written: str) -> tuple[str, int]:
    """What is said, and the number of pictures and files, whose names and placeholders are no words of anybody."""
    first, _, rest = written.partition("\n")
    text = first.strip()
    is_media = _ATTACHED.fullmatch(text) or _LEFT_OUT_ON_IPHONE.fullmatch(text)
    if is_media or (not rest and _PLACEHOLDER.fullmatch(text)):
        return rest.strip(), 1
    for edited in _words().edited:
        written = written.removesuffix(edited).rstrip(f" {_DIRECTIONS}")
    return written.strip().strip(_DIRECTIONS), 0


def _is_notice(written: str) -> bool:
    return written.strip(f" .\n{_DIRECTIONS}") in _words().notices


def _chat_name(path: Path) -> str:
    """The name of the chat: of the folder on an iPhone, of the file elsewhere."""
    name = path.absolute().parent.name if path.stem == _IN_FOLDER else path.stem
    name = _COPY.sub("", name)
    begins = next((begin for begin in _words().files if name.startswith(begin)), "")
    return name.removeprefix(begins).strip() or "WhatsApp"


class _LanguageWords(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    files: list[str]
    notices: list[str]
    edited: list[str]


class _Words(NamedTuple):
    files: tuple[str, ...]
    notices: frozenset[str]
    edited: tuple[str, ...]


@cache
def _words() -> _Words:
    languages: Mapping[str, _LanguageWords] = TypeAdapter(
        dict[str, _LanguageWords]
    ).validate_python(yaml.safe_load(_WORDS.read_text(encoding="utf-8")))
    return _Words(
        files=tuple(word for one in languages.values() for word in one.files),
        notices=frozenset(word.rstrip(".") for one in languages.values() for word in one.notices),
        edited=tuple(word for one in languages.values() for word in one.edited),
    )

"""Recognises files of other programs, which are not ingested, so that a refusal names what the file is.

None of them should take such a file for a damaged one of its own: a log of a chat would be read as notes, in the words
of whoever keeps them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import is_zipfile

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.markdown_lines import classify
from mnestic.starter.importers.text_files import EXPECTED, read_lines

_LINES_LOOKED_AT = 40
_LONGEST_LINE = 100_000  # characters of the first line that are looked at as JSON
_BY_NAME = {
    ".csv": "a table (CSV)",
    ".tsv": "a table (TSV)",
    ".xlsx": "a table (Excel)",
    ".vtt": "subtitles (WebVTT)",
    ".srt": "subtitles (SubRip)",
    ".mbox": "mail (mbox)",
    ".eml": "a mail",
    ".html": "a web page",
    ".htm": "a web page",
    ".rtf": "a text of a word processor (RTF)",
    ".docx": "a Word document",
    ".pdf": "a PDF",
}
_ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".7z", ".rar")
_CLOCK = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:[ \u00a0\u202f]?[AaPp]\.?[ ]?[Mm]\.?)?"
_DAY = r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)"  # in an order that the file does not say
_CHAT = "the text of a chat, as WhatsApp exports it"
_MEM0, _LANGGRAPH = "a dump of mem0", "a dump of a LangGraph store"
_MAIL_FIELDS = "From|To|Cc|Subject|Date|Received|Message-ID|MIME-Version|Return-Path|Delivered-To"


class _Signature(NamedTuple):
    """A pattern of the first lines of a format, and how many lines must match: all if they are at the top."""

    what: str
    line: re.Pattern[str]
    least: int
    is_at_top: bool


_SIGNATURES = (
    _Signature("subtitles (WebVTT)", re.compile(r"WEBVTT\b"), 1, True),
    _Signature("mail (mbox)", re.compile(r"From \S+ .*\d\d:\d\d.* \d{4}"), 1, True),
    _Signature("a mail", re.compile(rf"(?:{_MAIL_FIELDS}): ", re.IGNORECASE), 3, True),
    _Signature("a PDF", re.compile(r"%PDF-"), 1, True),
    _Signature("a web page", re.compile(r"<!doctype html|<html\b", re.IGNORECASE), 1, True),
    _Signature(
        "subtitles",
        re.compile(r"(?:\d+:)?\d\d:\d\d[.,]\d{3} +--> +(?:\d+:)?\d\d:\d\d[.,]\d{3}"),
        2,
        False,
    ),
    _Signature(
        _CHAT,
        re.compile(rf"[\u200e\u200f]?\[?{_DAY},? +{_CLOCK}(?:\]| [-\u2013]) [^:\n]{{1,80}}: "),
        2,
        False,
    ),
)


class _Shape(NamedTuple):
    """A JSON document of another program: the keys of its first object, and some of which one must be there."""

    what: str
    keys: frozenset[str]
    others: frozenset[str] = frozenset()

    def fits(self, keys: frozenset[str]) -> bool:
        return self.keys <= keys and (not self.others or not self.others.isdisjoint(keys))


_SHAPES = (
    _Shape("a ChatGPT export", frozenset({"mapping"})),
    _Shape("a Claude export", frozenset({"chat_messages"})),
    _Shape("a Telegram export", frozenset({"messages", "type", "id"})),
    _Shape("a Slack export", frozenset({"ts"}), frozenset({"text", "user", "subtype", "blocks"})),
    _Shape(_MEM0, frozenset({"id", "memory"})),
    _Shape(_LANGGRAPH, frozenset({"key", "value"}), frozenset({"namespace", "prefix"})),
    _Shape("an export of a chat", frozenset({"messages"})),
    _Shape("one JSON list of messages", frozenset({"role", "content"})),
    _Shape("one JSON list of messages", frozenset({"author", "content"})),
)
# What `memory import` reads.
_IMPORTED = frozenset(
    {
        "subtitles (WebVTT)",
        "mail (mbox)",
        _CHAT,
        "a ChatGPT export",
        "a Claude export",
        "a Telegram export",
        "a Slack export",
        _MEM0,
        _LANGGRAPH,
    }
)
_OF_LOCOMO = re.compile(r"conversation|sample_id|session_\d+")


def check_format(path: Path, source: str) -> None:
    """Refuses a text file of another program, by its name or its first lines.

    Raises:
        InvalidInputError: Says what it looks like, and what is read.
    """
    suffix = path.suffix.lower()
    if suffix in _ARCHIVES or (suffix not in _BY_NAME and is_zipfile(path)):
        why = "is an archive; unpack it: `mnestic memory import` reads the folder of an export, or a file in it"
        raise InvalidInputError(what=source, why=why)
    what = _format_of(_first_lines(path, source)) or _BY_NAME.get(suffix)
    if what is not None:
        raise _not_read(what, source)


def check_markdown(path: Path, source: str) -> None:
    """Refuses a file of JSON that is called Markdown: it would be one note, in the words of whoever keeps it.

    Raises:
        InvalidInputError: The file is a JSON document, or its first line is an object.
    """
    texts = (text for _, text in read_lines(path, source, lambda _: None) if text.strip())
    first = next(texts, "")
    if not first.lstrip().startswith(("{", "[")):
        return
    if isinstance(_parsed(first), dict) or _parsed("".join((first, *texts))) is not None:
        why = "looks like JSON, not Markdown; call it .json or .jsonl and leave out --markdown"
        raise InvalidInputError(what=source, why=why)


def _parsed(text: str) -> Any:
    """A document of JSON; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def check_document(document: Any, source: str) -> None:
    """Refuses a JSON document of another program, by the keys of its first object.

    Raises:
        InvalidInputError: Says what it looks like, and what is read.
    """
    keys = _keys_of(document)
    if not keys or any(map(_OF_LOCOMO.fullmatch, keys)):
        return
    raise _not_read(_shape_of(keys) or "JSON of another kind", source)


def _keys_of(document: Any) -> frozenset[str]:
    first = next(iter(document), None) if isinstance(document, list) else document
    return frozenset(map(str, first)) if isinstance(first, Mapping) else frozenset()


def _shape_of(keys: frozenset[str]) -> str | None:
    return next((shape.what for shape in _SHAPES if shape.fits(keys)), None)


def _not_read(what: str, source: str) -> InvalidInputError:
    if what in _IMPORTED:
        why = f"looks like {what}; `mnestic memory import` reads a whole export of it"
        return InvalidInputError(what=source, why=why)
    return InvalidInputError(what=source, why=f"looks like {what}, which is not read; {EXPECTED}")


def _first_lines(path: Path, source: str) -> list[str]:
    """The first lines that are not blank, without code; the reader names those that are not UTF-8."""
    lines = read_lines(path, source, lambda _: None)
    texts = classify((number, text.rstrip()) for number, text in lines)
    texts_of_lines = (line.text for line in texts if line.kind in {"text", "heading"})
    return list(islice(texts_of_lines, _LINES_LOOKED_AT))


def _format_of(lines: Sequence[str]) -> str | None:
    for signature in _SIGNATURES:
        looked_at = lines[: signature.least] if signature.is_at_top else lines
        if sum(map(bool, map(signature.line.match, looked_at))) >= signature.least:
            return signature.what
    return _format_of_object(lines[0]) if lines else None


def _format_of_object(line: str) -> str | None:
    """The format of a file of JSON lines that has no messages; None if it has."""
    if not line.startswith("{") or len(line) > _LONGEST_LINE:
        return None
    keys = _keys_of(_parsed(line))
    return None if keys & {"role", "tool"} else _shape_of(keys)

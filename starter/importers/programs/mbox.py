"""Reads the mails of an mbox file, one at a time.

The standard library's `mailbox` first reads where each mail of the file is, and a mailbox may have tens of gigabytes.
"""

import email
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime
from pathlib import Path

from mnestic.memory.knowledge.claims import make_id
from mnestic.starter.importers.programs.items import (
    ImportOptions,
    Item,
    LeftOut,
    Origin,
    Unstorable,
    message_of,
)
from mnestic.starter.importers.programs.mail_text import html_text, own_text
from mnestic.starter.importers.programs.text_lines import read_byte_lines

_FROM_LINE = re.compile(rb"From \S.*\d{4}\s*$")
_QUOTED_FROM = re.compile(rb">+From ")
_MESSAGE_ID = re.compile(r"<[^<>\s]+>")
_NAMED_LIST = re.compile(r"(?P<name>[^<>]*)<(?P<id>[^<>]+)>")
_LONGEST_HEADER = 10_000  # characters; decoding takes the square of them
_LARGEST_MAIL = 64 * 1024 * 1024  # bytes; what goes beyond is an attachment


class Mailbox:
    """The mails of an mbox file. One mail at a time is in memory, up to 64 MiB of it."""

    format = "mbox"
    notes = ()

    def __init__(self, path: Path, options: ImportOptions, *, source: str) -> None:
        self._path, self._options, self._source = path, options, source
        self._folder = path.absolute().parent.stem if path.name == "mbox" else path.stem

    def items(self) -> Iterator[Item]:
        """The mails in the order of the file."""
        for line, content in self._mails():
            place = f"line {line}"
            try:
                yield self._item(email.message_from_bytes(content), place=place)
            except RecursionError:
                yield Unstorable(place, "has parts within parts too deep")

    def _item(self, mail: Message, *, place: str) -> Item:
        text, media = _text_of(mail)
        at = _date(mail, self._options)
        if at is None:
            return Unstorable(place, "has no Date that can be read")
        name, address = parseaddr(_header(mail, "From"))
        speaker = " ".join((name or address).split()) or self._options.speaker
        if not speaker:
            return Unstorable(place, "has no From")
        subject = " ".join(_header(mail, "Subject").split())
        ids = _ids(mail, "Message-ID")
        above = _ids(mail, "References") or _ids(mail, "In-Reply-To")
        if not text:
            return LeftOut("media" if media else "empty", media)
        if subject and not above:
            text = f"{subject}\n\n{text}"
        source_id = ids[0] if ids else make_id("mail", _header(mail, "Date"), address, subject)
        origin = Origin(
            session_id=f"mail/{above[0] if above else source_id}",
            source_id=source_id,
            channel=self._options.channel or _list_name(mail) or self._folder,
            place=place,
        )
        return message_of(origin, speaker=speaker, text=text, at=at, media=media)

    def _mails(self) -> Iterator[tuple[int, bytes]]:
        """The mails, each with the number of its first line."""
        parts: list[bytes] = []
        begun, size, is_blank = 0, 0, True
        for number, line in read_byte_lines(self._path, self._source):
            if is_blank and _FROM_LINE.match(line):
                if begun:
                    yield begun, b"".join(parts)
                parts, begun, size = [], number, 0
            elif begun and size < _LARGEST_MAIL:
                size += len(line)
                parts.append(line[1:] if _QUOTED_FROM.match(line) else line)
            is_blank = not line.strip()
        if begun:
            yield begun, b"".join(parts)


def _text_of(mail: Message) -> tuple[str, int]:
    """What the sender wrote, from plain text if there is some, and the number of attachments."""
    plain: list[str] = []
    marked_up: list[str] = []
    media = 0
    for part in mail.walk():
        if part.is_multipart():
            continue
        kind = part.get_content_type()
        if part.get_filename() or part.get_content_disposition() == "attachment":
            media += 1
        elif kind == "text/plain":
            plain.append(_content(part))
        elif kind == "text/html":
            marked_up.append(_content(part))
        else:
            media += 1
    text = own_text("\n\n".join(plain))
    if not text and not "".join(plain).strip():
        text = own_text("\n\n".join(map(html_text, marked_up)))
    return text, media


def _content(part: Message) -> str:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    try:
        return content.decode(part.get_content_charset("utf-8"), "replace")
    except (LookupError, ValueError):  # a charset that nobody knows, or that is no name
        return content.decode("utf-8", "replace")


def _header(mail: Message, name: str) -> str:
    """A header with its encoded words decoded."""
    value = str(mail.get(name) or "")[:_LONGEST_HEADER]
    try:
        return str(make_header(decode_header(value)))
    except (MessageError, LookupError, ValueError):
        return value


def _date(mail: Message, options: ImportOptions) -> datetime | None:
    try:
        at = parsedate_to_datetime(str(mail.get("Date") or ""))
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None:  # `-0000`: in UTC, from nobody knows where
        at = at.replace(tzinfo=UTC if "-0000" in str(mail.get("Date")) else options.timezone)
    return at


def _ids(mail: Message, name: str) -> list[str]:
    return [found.strip("<>") for found in _MESSAGE_ID.findall(str(mail.get(name) or ""))]


def _list_name(mail: Message) -> str | None:
    """The name of the mailing list, or its id."""
    found = _NAMED_LIST.fullmatch(_header(mail, "List-Id").strip())
    if found is None:
        return None
    return found["name"].strip(' "') or found["id"]

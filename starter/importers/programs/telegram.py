"""Reads `result.json` of Telegram: an export of one chat, or of an account with all its chats.

It stands alone because a text is in pieces, and what is forwarded is somebody else's.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from mnestic.memory.timestamps import parse_timestamp
from mnestic.starter.importers.programs.items import (
    ImportOptions,
    Item,
    LeftOut,
    Origin,
    Skipped,
    message_of,
)
from mnestic.starter.importers.programs.json_items import read_items

OF_CHAT, OF_ACCOUNT = frozenset({"id", "type", "messages"}), "personal_information"
_CHATS = "chats.list.item"
_MEDIA = ("photo", "file", "media_type", "location_information", "contact_information", "poll")


class TelegramExport:
    """The chats of an export. One chat at a time is in memory."""

    format = "telegram"
    notes = ()

    def __init__(
        self, path: Path, options: ImportOptions, *, source: str, is_account: bool
    ) -> None:
        self._path, self._options, self._source = path, options, source
        self._prefix = _CHATS if is_account else ""

    def items(self) -> Iterator[Item]:
        """The messages, chat by chat."""
        return read_items(self._path, self._prefix, self._source, read=self._messages, place="chat")

    def _messages(self, number: int, chat: Mapping[str, Any]) -> Iterator[Item]:
        messages = chat.get("messages")
        if not isinstance(messages, list):
            yield Skipped(f"chat {number}", "has no messages")
            return
        name = str(chat.get("name") or "").strip() or "Telegram"
        for at, message in enumerate(messages, 1):
            place = f"chat {number}, message {at}"
            if isinstance(message, dict):
                yield self._item(message, chat=str(chat.get("id") or name), name=name, place=place)
            else:
                yield Skipped(place, "is no object")

    def _item(self, message: Mapping[str, Any], *, chat: str, name: str, place: str) -> Item:
        if message.get("type") != "message":
            return LeftOut("notice")
        text = _text_of(message.get("text"))
        media = int(any(message.get(kind) for kind in _MEDIA))
        if not text:
            return LeftOut("media" if media else "empty", media)
        try:
            at = self._time(message)
        except ValueError:
            return Skipped(place, "its date is no time")
        by = message.get("forwarded_from") if "forwarded_from" in message else message.get("from")
        origin = Origin(
            session_id=f"telegram/{chat}/{at:%Y-%m-%d}",
            source_id=str(message.get("id") or place),
            channel=self._options.channel or name,
            place=place,
        )
        speaker = str(by or "").strip() or self._options.speaker or "unknown"
        return message_of(origin, speaker=speaker, text=text, at=at, media=media)

    def _time(self, message: Mapping[str, Any]) -> datetime:
        """When it was sent, in the zone of the options; older exports have a time without an offset alone."""
        zone = self._options.timezone
        seconds = str(message.get("date_unixtime") or "")
        if seconds.isdecimal():
            return parse_timestamp(int(seconds)).astimezone(zone)
        at = datetime.fromisoformat(str(message.get("date")))
        return parse_timestamp((at if at.tzinfo else at.replace(tzinfo=zone)).isoformat())


def _text_of(text: Any) -> str:
    """A text, which may be in pieces: plain ones, and links, names and the like."""
    pieces = text if isinstance(text, list) else [text]
    texts = (piece.get("text") if isinstance(piece, dict) else piece for piece in pieces)
    return "".join(piece for piece in texts if isinstance(piece, str)).strip()

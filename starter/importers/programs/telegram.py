"""Reads `result.json` of Telegram: an export of one chat, or of an account with all its chats.

A text is in pieces, and what is forwarded is somebody else's.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from mnestic.memory.timestamps import parse_timestamp
from mnestic.starter.importers.programs import fields
from mnestic.starter.importers.programs.items import (
    ImportOptions,
    Item,
    LeftOut,
    Origin,
    Unstorable,
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
            yield Unstorable(f"chat {number}", "has no messages")
            return
        for at, message in enumerate(messages, 1):
            place = f"chat {number}, message {at}"
            yield fields.read_object(message, partial(self._item, chat, place=place), place)

    def _item(self, chat: Mapping[str, Any], message: Mapping[str, Any], *, place: str) -> Item:
        if fields.get(message, "type", str) != "message":
            return LeftOut("notice")
        text = _text_of(message)
        media = int(any(message.get(kind) for kind in _MEDIA))
        if not text:
            return LeftOut("media" if media else "empty", media)
        try:
            at = self._time(message)
        except ValueError:
            return Unstorable(place, "its date is no time")
        name = (fields.find(chat, "name", str) or "").strip() or "Telegram"
        by = fields.find(message, "forwarded_from" if "forwarded_from" in message else "from", str)
        origin = Origin(
            session_id=f"telegram/{fields.find_id(chat) or name}/{at:%Y-%m-%d}",
            source_id=fields.find_id(message) or place,
            channel=self._options.channel or name,
            place=place,
        )
        speaker = (by or "").strip() or self._options.speaker or "unknown"
        return message_of(origin, speaker=speaker, text=text, at=at, media=media)

    def _time(self, message: Mapping[str, Any]) -> datetime:
        """When it was sent, in the zone of the options; older exports have a time without an offset alone."""
        zone = self._options.timezone
        seconds = str(message.get("date_unixtime") or "")
        if seconds.isdecimal():
            return parse_timestamp(int(seconds)).astimezone(zone)
        at = datetime.fromisoformat(str(message.get("date")))
        return parse_timestamp((at if at.tzinfo else at.replace(tzinfo=zone)).isoformat())


def _text_of(message: Mapping[str, Any]) -> str:
    """A text, which may be in pieces: plain ones, and links, names and the like."""
    if not isinstance(message.get("text"), list):
        return (fields.find(message, "text", str) or "").strip()
    return "".join(filter(None, fields.texts_of(message, "text", "text"))).strip()

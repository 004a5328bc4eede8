"""Reads `conversations.json` of an export of Claude: each conversation in its order.

A message's text is in parts, among calls of tools and what was attached.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC
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

_UNTITLED = "Claude"
_PERSON, _SENDERS = "human", ("human", "assistant")


class ClaudeExport:
    """All conversations of an account. One conversation at a time is in memory."""

    format = "claude"
    notes = ()

    def __init__(self, path: Path, options: ImportOptions, *, source: str, prefix: str) -> None:
        self._path, self._options, self._source, self._prefix = path, options, source, prefix

    def items(self) -> Iterator[Item]:
        """The messages, conversation by conversation."""
        return read_items(self._path, self._prefix, self._source, read=self._messages)

    def _messages(self, number: int, conversation: Mapping[str, Any]) -> Iterator[Item]:
        place = f"item {number}"
        messages = conversation.get("chat_messages")
        if not isinstance(messages, list):
            yield Unstorable(place, "is no conversation: it has no `chat_messages`")
            return
        for at, message in enumerate(messages, 1):
            origin = Origin(
                session_id=f"claude/{number}",
                source_id=str(at),
                channel=_UNTITLED,
                place=f"{place}, message {at}",
            )
            read = partial(self._item, conversation, origin=origin)
            yield fields.read_object(message, read, origin.place)

    def _item(
        self, conversation: Mapping[str, Any], message: Mapping[str, Any], *, origin: Origin
    ) -> Item:
        sender = fields.get(message, "sender", str)
        if sender not in _SENDERS:
            return LeftOut("internal")
        text = _text_of(message)
        attached = ("attachments", "files")
        media = sum(len(fields.find(message, name, list) or ()) for name in attached)
        if not text:
            return LeftOut("media" if media else "empty", media)
        try:
            at = parse_timestamp(message.get("created_at")).astimezone(UTC)
        except ValueError as error:
            return Unstorable(origin.place, f"its created_at {error}")
        session = fields.find_id(conversation, "uuid")
        title = (fields.find(conversation, "name", str) or "").strip()
        origin = origin._replace(
            session_id=f"claude/{session}" if session else origin.session_id,
            source_id=fields.find_id(message, "uuid") or origin.source_id,
            channel=self._options.channel or title or origin.channel,
        )
        speaker = (self._options.speaker or "user") if sender == _PERSON else sender
        return message_of(origin, speaker=speaker, text=text, at=at, media=media)


def _text_of(message: Mapping[str, Any]) -> str:
    """The texts of the parts, without thoughts and calls of tools; older exports have one text."""
    parts = fields.find(message, "content", list) or ()
    written = [
        part
        for part in parts
        if not isinstance(part, dict) or fields.find(part, "type", str) == "text"
    ]
    text = "\n".join(filter(None, fields.texts_of({"content": written}, "content", "text"))).strip()
    return text or (fields.find(message, "text", str) or "").strip()

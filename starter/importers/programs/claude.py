"""Reads `conversations.json` of an export of Claude: each conversation in its order.

It stands alone because a message's text is in parts, among calls of tools and what was attached.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC
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
            yield Skipped(place, "is no conversation: it has no `chat_messages`")
            return
        title = str(conversation.get("name") or "").strip() or _UNTITLED
        for at, message in enumerate(messages, 1):
            if isinstance(message, dict):
                origin = Origin(
                    session_id=f"claude/{conversation.get('uuid') or number}",
                    source_id=str(message.get("uuid") or at),
                    channel=self._options.channel or title,
                    place=f"{place}, message {at}",
                )
                yield self._item(message, origin)
            else:
                yield Skipped(f"{place}, message {at}", "is no object")

    def _item(self, message: Mapping[str, Any], origin: Origin) -> Item:
        sender = message.get("sender")
        if sender not in _SENDERS:
            return LeftOut("internal")
        text = _text_of(message)
        attached = (message.get("attachments"), message.get("files"))
        media = sum(len(some) for some in attached if isinstance(some, list))
        if not text:
            return LeftOut("media" if media else "empty", media)
        try:
            at = parse_timestamp(message.get("created_at")).astimezone(UTC)
        except ValueError as error:
            return Skipped(origin.place, f"its created_at {error}")
        speaker = (self._options.speaker or "user") if sender == _PERSON else str(sender)
        return message_of(origin, speaker=speaker, text=text, at=at, media=media)


def _text_of(message: Mapping[str, Any]) -> str:
    """The texts of the parts, without thoughts and calls of tools; older exports have one text."""
    parts = message.get("content")
    texts = [
        str(part.get("text") or "")
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    return "\n".join(filter(None, texts)).strip() or str(message.get("text") or "").strip()

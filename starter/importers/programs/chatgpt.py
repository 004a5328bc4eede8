"""Reads `conversations.json` of a ChatGPT export: the branch of each conversation that is shown.

A conversation is a tree, which grows a branch with every answer that is made again.
"""

import re
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

_UNTITLED = "ChatGPT"
# What people read; the others are thoughts, code and results.
_WRITTEN = ("text", "multimodal_text")
# Sources that an answer cites: in the export they are numbers without the text that they stand for.
_CITATION = re.compile(
    "\ue200[^\ue201]*\ue201|\u3010[^\u3010\u3011\n]{1,60}\u2020[^\u3010\u3011\n]{0,80}\u3011"
)


class ChatGPTExport:
    """All conversations of a ChatGPT account. One conversation at a time is in memory."""

    format = "chatgpt"
    notes = ()

    def __init__(self, path: Path, options: ImportOptions, *, source: str, prefix: str) -> None:
        self._path, self._options, self._source, self._prefix = path, options, source, prefix

    def items(self) -> Iterator[Item]:
        """The messages of the current branches, conversation by conversation."""
        return read_items(self._path, self._prefix, self._source, read=self._messages)

    def _messages(self, number: int, conversation: Mapping[str, Any]) -> Iterator[Item]:
        place = f"item {number}"
        nodes = conversation.get("mapping")
        if not isinstance(nodes, dict):
            yield Unstorable(place, "is no conversation: it has no `mapping` of messages")
            return
        branch, is_whole = _branch(nodes, conversation.get("current_node"))
        if branch and not is_whole:
            why = "is no message that can be read; what came before it is skipped"
            yield Unstorable(f"{place}, parent of message {branch[0]}", why)
        begun = conversation.get("create_time")
        for name in branch:
            if (message := nodes[name].get("message")) is not None:
                at = f"{place}, message {name}"
                begun = _created(nodes[name]) or begun
                read = partial(self._item, conversation, name=name, place=at, begun=begun)
                yield fields.read_object(message, read, at)
        shown = set(branch)
        for name, node in nodes.items():
            if not isinstance(node, dict):
                yield Unstorable(f"{place}, message {name}", "is no object")
            elif name not in shown and node.get("message") is not None:
                lost = Unstorable(f"{place}, message {name}", "is on no whole branch")
                yield LeftOut("other branch") if is_whole else lost

    def _item(
        self,
        conversation: Mapping[str, Any],
        message: Mapping[str, Any],
        *,
        name: str,
        place: str,
        begun: Any,
    ) -> Item:
        role = fields.get(fields.get(message, "author", dict), "role", str)
        if role not in ("user", "assistant") or _is_internal(message):
            return LeftOut("internal")
        text, media = _text_of(message)
        if not text:
            return LeftOut("media" if media else "empty", media)
        try:
            at = parse_timestamp(message.get("create_time") or begun)
        except ValueError as error:
            return Unstorable(place, f"its create_time {error}")
        of_item = conversation.get("create_time") or place.partition(",")[0]
        session = fields.find_id(conversation, "conversation_id") or fields.find_id(conversation)
        title = (fields.find(conversation, "title", str) or "").strip()
        origin = Origin(
            session_id=f"chatgpt/{session or of_item}",
            source_id=fields.find_id(message) or name,
            channel=self._options.channel or title or _UNTITLED,
            place=place,
        )
        speaker = (self._options.speaker or role) if role == "user" else role
        return message_of(origin, speaker=speaker, text=text, at=at.astimezone(UTC), media=media)


def _branch(nodes: Mapping[str, Any], current: Any) -> tuple[list[str], bool]:
    """The nodes down to the current one; without one, to the newest leaf. Also whether they begin at a root."""
    is_known = isinstance(current, str) and current in nodes
    name = current if is_known else _newest_leaf(nodes)
    path: dict[str, None] = {}
    while isinstance(name, str) and name not in path and isinstance(nodes.get(name), dict):
        path[name] = None
        name = nodes[name].get("parent")
    return [*path][::-1], bool(path) and not name


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [
        name for name, node in nodes.items() if isinstance(node, dict) and not node.get("children")
    ]
    return max(leaves, key=lambda name: _created(nodes[name]), default=None)


def _created(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, dict) else None
    return at if isinstance(at, (int, float)) else 0.0


def _is_internal(message: Mapping[str, Any]) -> bool:
    """Whether it is a call of a tool, a thought, or hidden from the person."""
    metadata = fields.find(message, "metadata", dict) or {}
    is_hidden = metadata.get("is_visually_hidden_from_conversation")
    to = fields.find(message, "recipient", str) or "all"
    kind = fields.get(fields.get(message, "content", dict), "content_type", str)
    return bool(is_hidden) or to != "all" or kind not in _WRITTEN


def _text_of(message: Mapping[str, Any]) -> tuple[str, int]:
    """The text of the parts, and the number of the pictures and files among them."""
    # An object has the text of what was spoken.
    texts = fields.texts_of(fields.get(message, "content", dict), "parts", "text")
    return _CITATION.sub("", "\n".join(filter(None, texts))).strip(), texts.count(None)

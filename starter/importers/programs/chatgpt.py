"""Reads `conversations.json` of a ChatGPT export: the branch of each conversation that is shown.

It stands alone because a conversation is a tree, which grows a branch with every answer that is made again.
"""

import re
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
            yield Skipped(place, "is no conversation: it has no `mapping` of messages")
            return
        branch = _branch(nodes, conversation.get("current_node"))
        name = conversation.get("conversation_id") or conversation.get("id")
        title = conversation.get("title")
        begun = conversation.get("create_time")
        for node in branch:
            message = node.get("message")
            if not isinstance(message, dict):
                continue
            item = self._item(
                message,
                Origin(
                    session_id=f"chatgpt/{name or begun}",
                    source_id=str(message.get("id") or node.get("id")),
                    channel=self._options.channel or (str(title) if _is_text(title) else _UNTITLED),
                    place=f"{place}, message {message.get('id') or node.get('id')}",
                ),
                begun=begun,
            )
            begun = message.get("create_time") or begun
            yield item

    def _item(self, message: Mapping[str, Any], origin: Origin, *, begun: Any) -> Item:
        author, content = message.get("author"), message.get("content")
        role = author.get("role") if isinstance(author, dict) else None
        if role not in ("user", "assistant") or not isinstance(content, dict):
            return LeftOut("internal")
        if _is_internal(message, content):
            return LeftOut("internal")
        text, media = _text_of(content)
        if not text:
            return LeftOut("media" if media else "empty", media)
        try:
            at = parse_timestamp(message.get("create_time") or begun)
        except ValueError:
            return Skipped(origin.place, "has no time of creation")
        speaker = (self._options.speaker or role) if role == "user" else role
        return message_of(origin, speaker=speaker, text=text, at=at.astimezone(UTC), media=media)


def _branch(nodes: Mapping[str, Any], current: Any) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one; without one, to the newest leaf."""
    node_id = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    path: list[Mapping[str, Any]] = []
    seen = set()
    while isinstance(node := nodes.get(node_id or ""), dict) and node_id not in seen:
        seen.add(node_id)
        path.append(node)
        parent = node.get("parent")
        node_id = parent if isinstance(parent, str) else None
    return path[::-1]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [
        name for name, node in nodes.items() if isinstance(node, dict) and not node.get("children")
    ]
    return max(leaves, key=lambda name: _created(nodes[name]), default=None)


def _created(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, dict) else None
    return float(at) if isinstance(at, (int, float)) else 0.0


def _is_internal(message: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Whether it is a call of a tool, a thought, or hidden from the person."""
    metadata = message.get("metadata")
    is_hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    to = message.get("recipient") or "all"
    return bool(is_hidden) or to != "all" or content.get("content_type") not in _WRITTEN


def _text_of(content: Mapping[str, Any]) -> tuple[str, int]:
    """The text of the parts, and the number of the pictures and files among them."""
    texts: list[str] = []
    media = 0
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and _is_text(part.get("text")):
            texts.append(part["text"])  # what was spoken
        else:
            media += 1
    return _CITATION.sub("", "\n".join(filter(None, texts))).strip(), media


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())

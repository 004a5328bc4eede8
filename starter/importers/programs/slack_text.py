"""The text of a Slack message as a person reads it: names for ids, links by their words, plain characters.

Slack marks up names, channels and links inside of texts.
"""

import html
import re
from collections.abc import Mapping
from typing import Any

from mnestic.starter.importers.programs import fields

_LINK = re.compile(r"<(?P<sign>[@#!]?)(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_NO_SIGN = {"@": "", "#": "#", "!": "@"}


def plain_text(text: str, names: Mapping[str, str]) -> str:
    """A text without Slack's markup.

    Args:
        text: As Slack stores it.
        names: The names of users by their ids.
    """

    def shown(link: re.Match[str]) -> str:
        target, label = link["target"], link["label"]
        if link["sign"] == "@":
            return names.get(target) or label or target
        if link["sign"]:
            return f"{_NO_SIGN[link['sign']]}{label or target.partition('^')[0]}".replace("@@", "@")
        address = target.removeprefix("mailto:")
        return address if label in {None, "", target, address} else f"{label} ({address})"

    return html.unescape(_LINK.sub(shown, text)).strip()


def text_of(message: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The text of a message; of a program's message without one, that of its attachments."""
    text = fields.find(message, "text", str)
    if text and text.strip():
        return plain_text(text, names)
    texts = fields.texts_of(message, "attachments", "text", "fallback")
    return plain_text("\n".join(filter(None, texts)), names)

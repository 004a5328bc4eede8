"""Quotations: somebody's words in a prompt, as material that cannot pass for anything else.

It stands alone because every prompt that holds somebody's words has to quote them by one rule.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

# JSON escapes quotation marks, backslashes and line feeds by itself. The rest of what could end a line,
# the turn of a dialogue (`<|im_end|>`, `</s>`, `[/INST]`) or a quotation, or cannot be seen, is escaped as
# JSON knows it too: brackets, also the wide and small forms that are read as them, line ends of all kinds,
# control characters, those that change the direction of writing, and all that hide text in text, such as
# tags and selectors of variants.
_UNSAFE = re.compile(
    r"[<>\[\ufe64\ufe65\uff1c\uff1e\uff3b"
    r"\x00-\x1f\x7f-\x9f\u2028\u2029"
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def quoted(words: Mapping[str, Any]) -> str:
    """An object of texts and numbers as one line of JSON, which nothing in it can end."""
    text = json.dumps(dict(words), ensure_ascii=False)
    return _UNSAFE.sub(_escaped, text)


def quoted_block(opening: str, name: str, lines: Iterable[str]) -> str:
    """Lines, each as `quoted` gives it, as a prompt holds them: after what they are, between two marks."""
    return "\n".join((opening, f"<{name}>", *lines, f"</{name}>"))


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))

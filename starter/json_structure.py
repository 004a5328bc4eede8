"""The marks of a JSON document outside of its texts, found before a parser sees it: how deep it is, and how long its numbers are.

Bodies of requests and exports of other programs have different limits, and are looked at alike. Each step but the count
of levels is one of C.
"""

import re

_DIGITS = re.compile(rb"\d++")
_NO_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


def without_escapes(document: bytes) -> bytes:
    """A document in which each quotation mark begins or ends a text."""
    return document.replace(rb"\\", b"").replace(rb"\"", b"")


def brackets_of(outside: bytes) -> bytes:
    """The brackets of what is outside of texts."""
    return outside.translate(None, _NO_BRACKETS)


def levels_of(brackets: bytes, *, above: int = 0) -> tuple[int, int]:
    """The highest level that brackets reach, and the last; they begin at the one `above`."""
    highest = levels = above
    for bracket in brackets:
        levels += 1 if bracket in b"[{" else -1
        highest = max(highest, levels)
    return highest, levels


def longest_number(outside: bytes) -> int:
    """The digits of the longest number outside of texts."""
    return max(map(len, _DIGITS.findall(outside)), default=0)

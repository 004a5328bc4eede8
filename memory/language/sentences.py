"""Sentences: where one ends, and how a text is cut to a length without hurting one.

Summaries, extraction and replies all have to agree on what a sentence is.
"""

# ruff: noqa: RUF001 (marks of many scripts are the subject here)

import re
import unicodedata
from collections.abc import Collection
from itertools import takewhile
from pathlib import Path

from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("abbreviations.yaml")
_LONGEST_WORD = 40
_CLOSERS = "\"'”’»›)]}」』）】"
_OPENERS = "\"'“‘«‹([{「『（【¿¡"
# Scripts that put no space after a sentence need none here; a full stop inside 3.5 or a.b is none.
# A row of marks is looked at once, from its beginning: a text may have a million of them.
_MARKS = ".!?…؟۔।॥።။"
_BOUNDARY = re.compile(
    rf"(?P<wide>[。！？｡]+[{re.escape(_CLOSERS)}]*)\s*"
    rf"|(?P<mark>(?<![{_MARKS}])[{_MARKS}]++(?:[ \u00a0\u202f]»)?[{re.escape(_CLOSERS)}]*)(?=\s|$)\s*"
    r"|(?P<line>\n\s*)"
)
_LAST_WORD = re.compile(r"([^\W_](?:[^\W_]|[.'’-](?=[^\W_]))*)$")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_SPACE = re.compile(r"\s+")
_ELLIPSIS = "…"
_JOINERS = "\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences, stripped, none empty, in their order.

    Abbreviations, initials, decimal numbers, ellipses and speech inside a sentence do not end it; a
    line's end does.
    """
    sentences = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match["mark"] and not _ends_sentence(text, start, match):
            continue
        sentences.append(text[start : match.end()].strip())
        start = match.end()
    sentences.append(text[start:].strip())
    return tuple(sentence for sentence in sentences if any(map(str.isalnum, sentence)))


def cut_text(text: str, max_chars: int, *, least_chars: int = 1) -> str:
    """Shorten a text to `max_chars` characters at most: after a sentence, else a word, else anywhere.

    A sentence that ends before `least_chars` leaves too little: then it is cut after a word.
    """
    text = text.strip()
    if len(text) <= max_chars:
        return text
    if max_chars <= 0:
        return ""
    last = 0
    for match in takewhile(lambda found: found.start() < max_chars, _BOUNDARY.finditer(text)):
        end = match.end(match.lastgroup or 0)
        if end <= max_chars and (not match["mark"] or _ends_sentence(text, 0, match)):
            last = end
    cut = text[:last].rstrip()
    return cut if len(cut) >= least_chars else _cut_at_word(text, max_chars)


def cut_around(text: str, part: str, max_chars: int) -> str:
    """The sentences of a text around a part of it, `max_chars` characters at most; `…` marks where it is cut.

    Where sentences leave less than half of the characters, it is cut between words.

    Args:
        text: The text.
        part: Some of it; empty for its beginning.
        max_chars: The limit, marks included; at least 20.
    """
    text, part = text.strip(), part.strip()
    if len(text) <= max_chars:
        return text
    middle = max(0, text.find(part)) + len(part) // 2
    room = max_chars - 2 * len(f"{_ELLIPSIS} ")
    start, end = _sentences_around(text, middle, room)
    if end - start < room // 2:
        start, end = _words_around(text, middle, room)
    before, after = (f"{_ELLIPSIS} " * (start > 0), f" {_ELLIPSIS}" * (end < len(text)))
    return before + text[start:end].strip() + after


def _sentences_around(text: str, middle: int, room: int) -> tuple[int, int]:
    """Where the sentences nearest to a place begin and end that fit together; twice the place if one is too long."""
    first = max(0, middle - room)
    near = text[first : middle + room]
    ends = [
        first + match.end()
        for match in _BOUNDARY.finditer(near)
        if not match["mark"] or _ends_sentence(near, 0, match)
    ]
    before = [0] * (first == 0) + [end for end in ends if end <= middle]
    after = [end for end in ends if end > middle]
    after += [len(text)] * (first + len(near) == len(text))
    if not before or not after or after[0] - before[-1] > room:
        return middle, middle
    start, end = before.pop(), after.pop(0)
    while before or after:  # the nearer one of the next two first
        if not after or (before and middle - before[-1] < after[0] - middle):
            bound = before.pop()
            if end - bound > room:
                before.clear()
            else:
                start = bound
        else:
            bound = after.pop(0)
            if bound - start > room:
                after.clear()
            else:
                end = bound
    return start, end


def _words_around(text: str, middle: int, room: int) -> tuple[int, int]:
    """Where the words around a place begin and end that fit together."""
    start = max(0, min(middle - room // 2, len(text) - room))
    end = min(len(text), start + room)
    if start and (space := _SPACE.search(text, start, start + _LONGEST_WORD)):
        start = space.end()
    while end < len(text) and _joined(text, end):
        end -= 1
    if end < len(text) and not text[end].isspace():
        spaces = [*_SPACE.finditer(text, end - _LONGEST_WORD, end)]
        end = spaces[-1].start() if spaces else end
    return start, end


def _cut_at_word(text: str, max_chars: int) -> str:
    end = max_chars - len(_ELLIPSIS)
    while end > 0 and _joined(text, end):
        end -= 1
    head = text[:end]
    if not text[end].isspace():
        words = head.rsplit(maxsplit=1)
        if len(words) > 1 and len(words[1]) <= _LONGEST_WORD:
            head = words[0]
    return head.rstrip(" ,;:-–—") + _ELLIPSIS


def _joined(text: str, end: int) -> bool:
    """Whether a cut at `end` would part an accent from its letter or an emoji from its tone."""
    return (
        text[end - 1] == "\u200d"
        or unicodedata.category(text[end])[0] == "M"
        or text[end] in _JOINERS
    )


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match["mark"]
    following = text[match.end() : match.end() + len(_OPENERS)].lstrip(_OPENERS)[:1]
    if not following or "\n" in text[match.end("mark") : match.end()]:
        return True
    if following.islower() and (mark[-1] in _CLOSERS or mark.startswith(("…", ".."))):
        return False
    nearby = max(start, match.start() - _LONGEST_WORD)
    return mark != "." or not _is_abbreviation(text[nearby : match.start()], following)


def _is_abbreviation(before: str, following: str) -> bool:
    found = _LAST_WORD.search(before)
    if found is None:
        return False
    word = found[1].lower()
    if word.isdigit():  # "1. Milk" opens a list, "in 2024. Then" ends a sentence
        return not before[: found.start()].strip()
    is_initials = len(word) == 1 or (following.isupper() and _INITIALS.fullmatch(found[1]))
    if is_initials:  # though "so do I." and "in the U.S. It" end
        return found[1].isupper() and word not in _before("no_initials")
    if word in _before("numbers"):
        return following.isdigit()
    if word in _before("anything"):
        return True
    return not following.isupper() and (word in _before("small_letters") or "." in word)


def _before(what: str) -> Collection[str]:
    """The abbreviations before something, such as numbers."""
    abbreviations: Collection[str] = read_word_lists(_FILE, frozenset[str])[what]
    return abbreviations

"""Cuts: a text, and which of its sentences go with a topic.

What is left of a message has to stand where claims say that it stands.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mnestic.memory.knowledge.claims import Span

_MARKS = ".,;:!?…)"
_SEMICOLON = re.compile(r"\s*;(?=\s)")
_UNCUT = re.compile(
    r"""[()\[\]{}"“”„«»|]|:\s"""
)  # a part of another sentence, or fields of one thing
_FEWEST = 3  # words of a statement; shorter ones between semicolons are the items of a list
_END = " \t.!?…"


@dataclass(frozen=True, kw_only=True)
class SentenceCut:
    """A text, and the places of the sentences and statements that go, in their order."""

    text: str
    gone: tuple[tuple[int, int], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences and statements that go."""
        return tuple(self.text[start:end].strip(" ,;") for start, end in self.gone)

    @property
    def blanked(self) -> str:
        """The text with blanks in their place, so that all else stands where it stood."""
        left = self.text
        for start, end in self.gone:
            left = left[:start] + " " * (end - start) + left[end:]
        return left

    @property
    def left(self) -> str:
        """The text without them; empty if nothing is left that says something."""
        remaining: list[str] = []
        place = 0
        for start, end in (*self.gone, (len(self.text), len(self.text))):
            remaining.append(self.text[place:start].strip(" "))
            place = end
        left = _joined(filter(None, remaining))
        return left if any(map(str.isalnum, left)) else ""

    def marked(self, mark: str) -> str:
        """The text with a mark in place of each that goes."""
        marked = ""
        place = 0
        for start, end in self.gone:
            before = self.text[place:start]
            is_close = before[-1:].isalnum()  # a statement goes with its semicolon
            marked += f"{before}{' ' * is_close}{mark}"
            place = end
        return marked + self.text[place:]

    def contains(self, span: Span | None) -> bool:
        """Whether words that stand in the text are left; of words without a place nobody knows."""
        return span is not None and all(
            span.end <= start or end <= span.start for start, end in self.gone
        )


def cut_sentence(sentence: str, goes: Callable[[str, bool], bool]) -> tuple[tuple[int, int], ...]:
    """The places in a sentence that go: all of it, or some of the statements between its semicolons.

    Where a comma or a word such as *and* joins statements nobody knows for sure, so there it is not cut.

    Args:
        sentence: The sentence.
        goes: Whether a statement goes, asked in their order; the flag says that another of the sentence is before it.
    """
    statements = _statements(sentence)
    gone = [goes(sentence[start:end], start > 0) for start, end in statements]
    if all(gone):
        return ((0, len(sentence)),)
    first = gone.index(False)
    before = ((0, statements[first][0]),) if first else ()
    ends = [end for _, end in statements]
    behind = range(first + 1, len(statements))
    return (*before, *((ends[place - 1], ends[place]) for place in behind if gone[place]))


def _statements(sentence: str) -> tuple[tuple[int, int], ...]:
    """Where the statements of a sentence are, without the mark that ends it."""
    end = len(sentence.rstrip(_END))
    joints = [match.span() for match in _SEMICOLON.finditer(sentence, 0, end)]
    starts, ends = (0, *(after for _, after in joints)), (*(before for before, _ in joints), end)
    found = tuple(zip(starts, ends, strict=True))
    is_cut = not _UNCUT.search(sentence) and all(
        len(sentence[start:end].split()) >= _FEWEST for start, end in found
    )
    return found if is_cut else ((0, end),)


def _joined(parts: Iterator[str]) -> str:
    """Parts of a text with a space between them, but before a mark that ends a sentence."""
    joined = ""
    for part in parts:
        is_mark = part[0] in _MARKS
        joined += part if is_mark or not joined else f" {part}"
    return joined.strip()

"""Cuts: a text, and which of its sentences go with a topic.

What is left of a message has to stand where claims say that it stands.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mnestic.memory.forgetting.follow_ups import joins_clauses
from mnestic.memory.knowledge.claims import Span

_MARKS = ".,;:!?…)"
_SEMICOLON = re.compile(r"\s*;(?=\s)")
_JOINT = re.compile(r",?\s+(\w+)\s+")
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


def cut_sentence(
    sentence: str, goes: Callable[[str, bool], bool], *, quoted: Sequence[Span] = ()
) -> tuple[tuple[int, int], ...]:
    """The places in a sentence that go: all of it, or some of its statements.

    Statements are parted by semicolons, and by a word such as *and* where claims quote what it joins. Where else a comma or such
    a word joins statements nobody knows for sure, so there it is not cut.

    Args:
        sentence: The sentence.
        goes: Whether a statement goes, asked in their order; the flag says that another of the sentence is before it.
        quoted: Where in the sentence claims stand.
    """
    statements = _statements(sentence, quoted)
    gone = [goes(sentence[start:end], start > 0) for start, end in statements]
    if all(gone):
        return ((0, len(sentence)),)
    first = gone.index(False)
    before = ((0, statements[first][0]),) if first else ()
    ends = [end for _, end in statements]
    behind = range(first + 1, len(statements))
    return (*before, *((ends[place - 1], ends[place]) for place in behind if gone[place]))


def _statements(sentence: str, quoted: Sequence[Span]) -> tuple[tuple[int, int], ...]:
    """Where the statements of a sentence are, without the mark that ends it."""
    end = len(sentence.rstrip(_END))
    joints = [match.span() for match in _SEMICOLON.finditer(sentence, 0, end)]
    starts, ends = (0, *(after for _, after in joints)), (*(before for before, _ in joints), end)
    found = tuple(
        clause
        for place in zip(starts, ends, strict=True)
        for clause in _clauses(sentence, place, quoted)
    )
    is_cut = not _UNCUT.search(sentence) and all(
        len(sentence[start:end].split()) >= _FEWEST for start, end in found
    )
    return found if is_cut else ((0, end),)


def _clauses(
    sentence: str, place: tuple[int, int], quoted: Sequence[Span]
) -> Iterator[tuple[int, int]]:
    """The clauses of a statement: each but the last is all that a claim quotes, and no claim is of two of them."""
    start, end = place
    for claim in sorted(quoted, key=lambda one: one.end):
        joint = _JOINT.match(sentence, claim.end, end)
        if joint is None or claim.start != len(sentence) - len(sentence[start:].lstrip()):
            continue
        reach = [one for one in quoted if one.start < joint.end() and joint.start() < one.end]
        behind = sentence[joint.end() : end]
        is_claimed = any(joint.end() <= one.start < end for one in quoted)
        if (
            not reach
            and is_claimed
            and joins_clauses(joint[1], sentence[start : claim.end], behind)
        ):
            yield start, claim.end
            start = joint.end()
    yield start, end


def _joined(parts: Iterator[str]) -> str:
    """Parts of a text with a space between them, but before a mark that ends a sentence."""
    joined = ""
    for part in parts:
        is_mark = part[0] in _MARKS
        joined += part if is_mark or not joined else f" {part}"
    return joined.strip()

"""Cuts: a text, and which of its clauses go with a topic.

It stands apart from topics because what is left of a message has to stand where claims say that it stands.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnestic.memory.knowledge.claims import Span
from mnestic.memory.language.main_clauses import Clause

_MARKS = ".,;:!?…)"


@dataclass(frozen=True, kw_only=True)
class SentenceCut:
    """A text, and the places of the sentences and clauses that go, in their order."""

    text: str
    gone: tuple[tuple[int, int], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences and clauses that go."""
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
            is_close = before[-1:].isalnum()  # a clause goes with what joined it
            marked += f"{before}{' ' * is_close}{mark}"
            place = end
        return marked + self.text[place:]

    def contains(self, span: Span | None) -> bool:
        """Whether words that stand in the text are left; of words without a place nobody knows."""
        return span is not None and all(
            span.end <= start or end <= span.start for start, end in self.gone
        )


def cut_clauses(clauses: Sequence[Clause], goes: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The places of the clauses of a sentence that go, each with the words that join it to those that stay.

    Args:
        clauses: Those of the sentence.
        goes: Whether each goes; some stay.
    """
    first = goes.index(False)
    if first:
        yield clauses[0].start, clauses[first].start
    for clause, is_gone in zip(clauses[first:], goes[first:], strict=True):
        if is_gone:
            yield clause.joint, clause.end


def _joined(parts: Iterator[str]) -> str:
    """Parts of a text with a space between them, but before a mark that ends a sentence."""
    joined = ""
    for part in parts:
        is_mark = part[0] in _MARKS
        joined += part if is_mark or not joined else f" {part}"
    return joined.strip()

"""The lines of a Markdown file by what they are: code, heading or text, without the front matter.

Who speaks is decided by all lines, before any turn is made of them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
_DATE_PROPERTY = re.compile(r"date[ \t]*:[ \t]*(.+)", re.IGNORECASE)


class MarkdownLine(NamedTuple):
    """A line; of a heading, `text` is the title, and `level` how many marks it has."""

    number: int
    kind: Literal["text", "blank", "heading", "code"]
    text: str
    level: int = 0


class FrontMatter(NamedTuple):
    """The properties that some editors write between two lines of `---` at the top of a file."""

    text: str = ""
    date: tuple[int, str] | None = None


def split_front_matter(
    lines: Iterable[tuple[int, str]],
) -> tuple[FrontMatter, list[MarkdownLine]]:
    """The front matter, and the lines after it."""
    numbered = [(number, text.rstrip()) for number, text in lines]
    end = 0
    if numbered and numbered[0] == (1, "---"):
        end = next((n for n, (_, text) in enumerate(numbered[1:], 2) if text == "---"), 0)
    properties = numbered[1 : end - 1] if end else []
    dates = (
        (number, found[1]) for number, text in properties if (found := _DATE_PROPERTY.match(text))
    )
    front = FrontMatter("\n".join(text for _, text in properties), next(dates, None))
    return front, list(classify(numbered[end:]))


def classify(lines: Iterable[tuple[int, str]]) -> Iterator[MarkdownLine]:
    """The numbered lines with their kinds; lines in fences are code."""
    fence = ""
    for number, text in lines:
        if fence:
            yield MarkdownLine(number, "code", text)
            if text.strip().startswith(fence) and not text.strip().strip(fence[0]):
                fence = ""
        elif opened := _FENCE.match(text):
            fence = opened[1]
            yield MarkdownLine(number, "code", text)
        elif heading := _HEADING.fullmatch(text):
            title = (heading[2] or "").strip()
            yield MarkdownLine(number, "heading", title, len(heading[1]))
        elif not text or _RULE.fullmatch(text):
            yield MarkdownLine(number, "blank", text)
        else:
            yield MarkdownLine(number, "text", text)

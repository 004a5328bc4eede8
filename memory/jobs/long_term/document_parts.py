"""Cuts a document into parts: at the headings of Markdown and at pages, and within these where too much would stand together."""

import re
from collections.abc import Callable, Iterator

from mnestic.memory.canonical import is_blank
from mnestic.memory.jobs.long_term.documents import DocumentPart

CountTokens = Callable[[str], int]
PART_TOKENS = 400  # of a part, at the most
NEXT_PAGE = "\f"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\n?")
_FENCE = re.compile(r" {0,3}(```|~~~)")
# Where a text is cut, the best first: after a paragraph, a line, a sentence, a word.
_BOUNDARIES = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"[.!?…。!?]\s+|[。!?]", r"\s+")))


def cut_document(
    content: str, *, count_tokens: CountTokens, max_tokens: int = PART_TOKENS
) -> tuple[DocumentPart, ...]:
    """The parts of a document, which together are its text.

    Args:
        content: The text; a form feed begins the next page.
        count_tokens: Counts the tokens of a text.
        max_tokens: How many a part has at the most.
    """
    parts: list[DocumentPart] = []
    for section in _sections(content):
        line = section.line
        for text in _cut(section.content, max_tokens, count_tokens):
            if is_blank(text) and parts:
                last = parts[-1]
                parts[-1] = last.model_copy(update={"content": last.content + text})
            else:
                parts.append(section.model_copy(update={"content": text, "line": line}))
            line += text.count("\n")
    return tuple(parts)


def _sections(content: str) -> Iterator[DocumentPart]:
    """What stands under one heading on one page; headings without a text go with the next one."""
    has_pages = NEXT_PAGE in content
    headings: list[tuple[int, str]] = []
    begun, has_text, fence = 0, False, None
    at: DocumentPart | None = None
    page = 1
    position = 0
    for number, line in enumerate(_LINE.findall(content), start=1):
        heading = None if fence else _HEADING.fullmatch(line.lstrip(NEXT_PAGE))
        if at is not None and ((heading and has_text) or line.startswith(NEXT_PAGE)):
            yield at.model_copy(update={"content": content[begun:position]})
            at = None
        page += line.count(NEXT_PAGE)
        if heading:
            level = len(heading[1])
            headings = [*(one for one in headings if one[0] < level), (level, heading[2])]
        if at is None:
            begun, has_text = position, False
            at = DocumentPart(content="", line=number, page=page if has_pages else None)
        at = at.model_copy(update={"headings": tuple(text for _, text in headings)})
        has_text = has_text or not (heading or is_blank(line))
        mark = _FENCE.match(line)
        if mark:
            fence = None if fence == mark[1] else fence or mark[1]
        position += len(line)
    if at is not None:
        yield at.model_copy(update={"content": content[begun:]})


def _cut(text: str, max_tokens: int, count_tokens: CountTokens) -> list[str]:
    """Halves a text until each piece is small enough."""
    if count_tokens(text) <= max_tokens or len(text) <= 1:
        return [text]
    middle = _boundary(text)
    return [
        *_cut(text[:middle], max_tokens, count_tokens),
        *_cut(text[middle:], max_tokens, count_tokens),
    ]


def _boundary(text: str) -> int:
    """The best place to cut a text, in its middle half."""
    quarter, middle = len(text) // 4, len(text) // 2
    for boundary in _BOUNDARIES:
        ends = [one.end() for one in boundary.finditer(text, quarter, len(text) - quarter)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return middle

"""Finds what the sender of a mail wrote: without the mails that it answers, and without a signature.

Every mail program marks these in its own way, in text and in HTML.
"""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

_WORDS = Path(__file__).with_name("mail_words.yaml")
_SEPARATOR = re.compile(r"-{2,} ?[^-\n]{3,40} ?-{2,}|_{10,}")  # -----Original Message-----
_LABEL = re.compile(r"\*?(?P<label>[^\W\d_][^:\n]{1,19}):\*? ?.+")
# `On 3 May 2025 at 10:00, Ana wrote:` and, without a date, `Ana <ana@example.org> wrote:`
_ATTRIBUTIONS = (
    re.compile(r".*(?:\d{1,2}[:.]\d\d|\d{4}).*:", re.DOTALL),
    re.compile(r".*@.*:"),
)
_SIGNATURE = re.compile(r"--[ \u00a0]?")
_HEADER_LINES = 6  # in which a header has its subject
_ATTRIBUTION_LINES = 3
_HIDDEN = frozenset({"head", "script", "style", "title", "template"})
_QUOTES = frozenset({"blockquote"})
_QUOTE_CLASSES = ("gmail_quote", "moz-cite-prefix", "yahoo_quoted")
_QUOTE_IDS = ("appendonsend", "divRplyFwdMsg")
_BLOCKS = frozenset({"p", "div", "br", "tr", "li", "h1", "h2", "h3", "h4", "table", "ul", "ol"})
_VOID = frozenset({"br", "img", "hr", "meta", "link", "input", "col", "area", "wbr"})


def own_text(text: str) -> str:
    """What the sender wrote, without quoted mails and the signature."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    lines = lines[: _end(lines)]
    left: list[str] = []
    for line in lines:
        if not line.lstrip().startswith(">"):
            left.append(line)
        elif left:
            _drop_attribution(left)
    while left and (not left[-1] or left[-1].startswith(_words().signatures)):
        left.pop()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(left)).strip()


def html_text(markup: str) -> str:
    """The text of HTML; a line `>` stands for what it quotes."""
    parser = _TextParser()
    parser.feed(markup)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _end(lines: list[str]) -> int:
    """The number of lines before the signature or the mail that is answered."""
    for number, line in enumerate(lines):
        if _SIGNATURE.fullmatch(line) or _SEPARATOR.fullmatch(line.strip()):
            return number
        if _is_header(lines[number : number + _HEADER_LINES]):
            return number
    return len(lines)


def _is_header(lines: list[str]) -> bool:
    """Whether lines are the header of a mail that is answered, which begins with its sender."""
    labels = []
    for line in lines:
        found = _LABEL.fullmatch(line.strip())
        if found is None:
            break
        labels.append(found["label"].casefold().strip("* "))
    return (
        bool(labels) and labels[0] in _words().senders and not _words().subjects.isdisjoint(labels)
    )


def _drop_attribution(lines: list[str]) -> None:
    """Removes the line at the end that says who wrote what follows; it may be wrapped."""
    while lines and not lines[-1]:
        lines.pop()
    begin = len(lines)
    while begin and lines[begin - 1] and len(lines) - begin < _ATTRIBUTION_LINES:
        begin -= 1
    for attribution in _ATTRIBUTIONS:
        for first in range(len(lines) - 1, begin - 1, -1):
            if attribution.fullmatch("\n".join(lines[first:])):
                del lines[first:]
                return


class _TextParser(HTMLParser):
    """Collects the text outside of hidden and quoted elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipped: list[str] = []  # open elements from the outermost skipped one on

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begins a line for a block, and skips an element that is hidden or a quotation."""
        if tag in _VOID:
            if tag in _BLOCKS and not self._skipped:
                self.parts.append("\n")
            return
        is_quote = tag in _QUOTES or _is_quote(dict(attrs))
        if is_quote and not self._skipped:
            self.parts.append("\n>\n")
        if self._skipped or is_quote or tag in _HIDDEN:
            self._skipped.append(tag)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """Ends a line after a block, or a skipped element; elements that were not closed end with it."""
        if tag in self._skipped:
            while self._skipped.pop() != tag:
                pass
        elif tag in _BLOCKS - _VOID and not self._skipped:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        """Collects text; its own line breaks are spaces."""
        if not self._skipped:
            self.parts.append(data.replace("\n", " "))


def _is_quote(attributes: dict[str, str | None]) -> bool:
    classes = (attributes.get("class") or "").split()
    return any(name in classes for name in _QUOTE_CLASSES) or attributes.get("id") in _QUOTE_IDS


class _LanguageWords(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    senders: list[str] = Field(alias="from")
    subject: list[str]
    signatures: list[str]


class _Words(NamedTuple):
    senders: frozenset[str]
    subjects: frozenset[str]
    signatures: tuple[str, ...]


@cache
def _words() -> _Words:
    languages = TypeAdapter(dict[str, _LanguageWords]).validate_python(
        yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    )
    return _Words(
        senders=frozenset(word for one in languages.values() for word in one.senders),
        subjects=frozenset(word for one in languages.values() for word in one.subject),
        signatures=tuple(word for one in languages.values() for word in one.signatures),
    )

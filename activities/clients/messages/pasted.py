"""Pasted: the parts of a message that its speaker did not write as a statement, such as a forwarded mail.

They stand apart because they are recognised by how they look on the page, before any word of them is parsed.
"""

# ruff: noqa: RUF001 (typographic marks are meant)

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from mnestic.activities.clients.messages.patterns import Pattern
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("pasted.yaml")
_STRAIGHT = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " "})
_QUOTED = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*|\"[^\"\n]*(?:\"|$)|“[^”\n]*(?:”|$)|«[^»\n]*(?:»|$)|„[^“”\n]*(?:[“”]|$)|''[^\n]*?(?:''|$)"
    r"|(?<![\w'])'(?=\w)[^'\n]{0,80}(?:'\w[^'\n]{0,80}){0,4}'(?!\w)|‘[^\n']{0,300}'(?!\w)",
    re.MULTILINE,
)
_LETTER = re.compile(r"[^\n.!?]|[.!?](?!\W?\Z)")  # the mark at the end still ends the sentence
_NEAR = 12  # characters before a title that may introduce it


class _Pasted(BaseModel):
    """`pasted.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Pattern
    before_title: Pattern
    rest: Pattern
    lines: Pattern


def mask_pasted(content: str) -> str:
    """The message with straight apostrophes; what is quoted or pasted is blanked, place for place.

    A title, such as a name in quotation marks after "called", is not speech and stays.
    """
    signs = _signs()
    masked = signs.lines.sub(_blank, signs.rest.sub(_blank, content.translate(_STRAIGHT)))
    return _QUOTED.sub(_quoted, masked)


def _signs() -> _Pasted:
    pasted: _Pasted = read_word_lists(_FILE, _Pasted)["en"]
    return pasted


def _quoted(match: re.Match[str]) -> str:
    title = _signs().title.match(match[0])
    near = max(0, match.start() - _NEAR)
    if title and _signs().before_title.search(match.string, near, match.start()):
        return f" {title[1]} ".ljust(len(match[0]))
    return _blank(match)


def _blank(match: re.Match[str]) -> str:
    return _LETTER.sub("_", match[0])

"""Pasted: the parts of a message that its speaker did not write as a statement, such as a forwarded mail.

They stand apart because they are told by how they look on the page, before any word of them is read.
"""

# ruff: noqa: RUF001 (typographic marks are meant)

import re

_STRAIGHT = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " "})
_QUOTED = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*|\"[^\"\n]*(?:\"|$)|“[^”\n]*(?:”|$)|«[^»\n]*(?:»|$)|„[^“”\n]*(?:[“”]|$)|''[^\n]*?(?:''|$)"
    r"|(?<![\w'])'(?=\w)[^'\n]{0,80}(?:'\w[^'\n]{0,80}){0,4}'(?!\w)|‘[^\n']{0,300}'(?!\w)",
    re.MULTILINE,
)
_TITLE = re.compile(
    r"[\"“‘'«„]((?:[A-Z\d][\w-]*|of|the|to|and|in|a|de|la)(?: (?:[A-Z\d][\w-]*|of|the|to|and|in|a|de|la)){0,5})[\"”’'»“]\Z"
)
_BEFORE_TITLE = re.compile(r"(?:\b(?:called|named|is|titled)|\w's) *\Z", re.IGNORECASE)
# From such a line to the end of the message: a mail that came along, an earlier one below an answer, a signature.
_FROM_HERE = re.compile(
    r"^[ \t]*(?:[-_=*]{2,} ?(?:forwarded|original|begin|start)\b[^\n]*|begin forwarded message\b[^\n]*|fwd?: [^\n]*"
    r"|on [^\n]{6,80} wrote:[ \t]*$|from:[^\n]*\n(?:[ \t]*(?:to|cc|date|sent|subject|reply-to):[^\n]*\n?)+"
    r"|subject:[^\n]*\n|--[ \t]*$)(?s:.*)|\n[ \t]*dear [^\n]{1,40}(?s:.*)",
    re.IGNORECASE | re.MULTILINE,
)
_CLOCK = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?)?"
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
# A line of a log of a chat; of lyrics, with their notes; of a program or a query.
_LINE = re.compile(
    rf"^[ \t]*(?:[\[(]?(?:{_DAY},? )?{_CLOCK}[\])]?|[\[(]{_DAY}[\])])[ \t]*[-–—|]?[ \t]*<?[^\W\d][^\n:>]{{0,30}}[:>][ \t][^\n]*"
    r"|^[ \t]*<[^\W\d][\w .-]{0,30}>[ \t][^\n]*"
    r"|^[^\n]*[♪♫🎵🎶][^\n]*"
    r"|^[ \t]*(?:(?i:select\b[^\n]*\bfrom|insert into|update \w+ set|delete from|create table)\b"
    r"|def \w+\(|class \w+[(:]|from [\w.]+ import\b|import [\w.]+;?[ \t]*$|(?:const|let|var) \w+ ?=|(?:function|fn|func) \w*\("
    r"|return\b[^\n]*;[ \t]*$|(?:public|private) (?:static )?\w+ \w+\(|//|/\*|<!--|#!|#include\b|\$ \w)[^\n]*"
    r"|^[^\n]*(?:[;{}]|\) ?=>)[ \t]*(?://|#)[^\n]*",
    re.MULTILINE,
)
_SIGNS = ("♪", "♫", "🎵", "🎶", "\n", ":", "<", "//", ";")
_LETTER = re.compile(r"[^\n.!?]|[.!?](?!\W?\Z)")  # the mark at the end still ends the sentence


def mask_pasted(content: str) -> str:
    """The message with straight apostrophes; what is quoted or pasted is blanked, place for place.

    A title, such as a name in quotation marks after "called", is not speech and stays.
    """
    masked = content.translate(_STRAIGHT)
    if any(sign in masked for sign in _SIGNS) or masked.lstrip()[:6].upper() in _QUERIES:
        masked = _LINE.sub(_blank, _FROM_HERE.sub(_blank, masked))
    return _QUOTED.sub(_quoted, masked)


_QUERIES = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE"})


def _quoted(match: re.Match[str]) -> str:
    title = _TITLE.match(match[0])
    if title and _BEFORE_TITLE.search(match.string, max(0, match.start() - 12), match.start()):
        return f" {title[1]} ".ljust(len(match[0]))
    return _blank(match)


def _blank(match: re.Match[str]) -> str:
    return _LETTER.sub("_", match[0])

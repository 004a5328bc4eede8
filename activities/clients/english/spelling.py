"""Spelling: a message with contractions spelled out and lead-ins blanked, and where each character stood.

It stands apart because the parser reads the changed text, while claims point into the message as it was written.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mnestic.activities.clients.english.lexicon import Lexicon, load_lexicon
from mnestic.memory.knowledge.claims import Span

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})


class Spelled(NamedTuple):
    """A text, and at which of its characters the original is `shift` characters longer or shorter."""

    text: str
    starts: tuple[int, ...]
    shifts: tuple[int, ...]

    def place(self, index: int) -> int:
        """Where a character of the text stands in the original."""
        at = bisect_right(self.starts, index) - 1
        return index + (self.shifts[at] if at >= 0 else 0)


def leave_out(text: str, spans: Sequence[Span]) -> Spelled:
    """A text without some spans, which are in order and apart."""
    parts, starts, shifts = [], [], []
    place = shift = 0
    for span in spans:
        parts.append(text[place : span.start])
        starts.append(span.start - shift)
        shift += span.end - span.start
        shifts.append(shift)
        place = span.end
    return Spelled("".join([*parts, text[place:]]), tuple(starts), tuple(shifts))


def spell_out(text: str) -> Spelled:
    """Spells a text out for the parser."""
    plain = text.translate(_APOSTROPHES)
    parts: list[str] = []
    starts: list[int] = []
    shifts: list[int] = []
    place = length = shift = 0
    lexicon = load_lexicon()
    for match in _pattern().finditer(plain):
        full = _full(match, lexicon)
        parts += [plain[place : match.start()], full]
        length += match.start() - place + len(full)
        shift += len(match[0]) - len(full)
        place = match.end()
        if len(match[0]) != len(full):
            starts.append(length)
            shifts.append(shift)
    parts.append(plain[place:])
    return Spelled("".join(parts), tuple(starts), tuple(shifts))


def _full(match: re.Match[str], lexicon: Lexicon) -> str:
    if match.lastgroup == "lead":
        return ""
    if match.lastgroup == "is":
        return " is"
    full = lexicon.grammar.contractions[match[0].lower()]
    return full[0].upper() + full[1:] if match[0][0].isupper() else full


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    grammar = load_lexicon().grammar
    leads = "|".join(sorted(map(re.escape, grammar.lead_ins), key=len, reverse=True))
    words = "|".join(sorted(map(re.escape, grammar.contractions), key=len, reverse=True))
    after = "|".join(sorted(map(re.escape, grammar.after_is), key=len, reverse=True))
    return re.compile(
        rf"(?:\A|(?<=[.!?] ))(?P<lead>(?i:{leads})(?:,? [A-Z][a-z]+(?=[,!.]))?[,:!;.]+ )"
        rf"|(?<![\w'])(?P<word>(?i:{words}))(?![\w'])"
        rf"|(?<=[a-z])(?P<is>'s)(?= (?:{after})\b)"
    )

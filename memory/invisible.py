"""Characters that nobody sees: controls, formats, fillers, selectors of variants.

Text hides in text by them: whoever quotes words or asks whether a text is blank has to know all of them, and a list for
one purpose misses some.
"""

import sys
import unicodedata

_SHOWS_NOTHING = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_MAY_SHOW_NOTHING = frozenset(("Cn", "Co"))
# The property Default_Ignorable_Code_Point. Source: Unicode 16.0, DerivedCoreProperties.txt.
_IGNORABLE = (
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
# The braille pattern without dots, the musical null notehead and the Khitan filler, whose glyphs are empty.
_BLANK_SIGNS = ((0x2800, 0x2800), (0x1D159, 0x1D159), (0x16FE4, 0x16FE4))
_INVISIBLE = frozenset(
    code for first, last in (*_IGNORABLE, *_BLANK_SIGNS) for code in range(first, last + 1)
)
_ASSIGNED_PLANES = 0x40000


def is_invisible(char: str) -> bool:
    """Whether a character shows nothing of itself; blanks (category Zs) part words, which can be seen."""
    return unicodedata.category(char) in _SHOWS_NOTHING or ord(char) in _INVISIBLE


def invisible_class() -> str:
    """All that may be invisible, as what stands in the brackets of a regular expression.

    What this Python's Unicode does not know, or leaves to private use, may be. The planes from 4 on are in
    it as a whole: they hold nothing else.
    """
    codes = [code for code in range(_ASSIGNED_PLANES) if _may_be_invisible(chr(code))]
    firsts = [code for code, before in zip(codes, (-2, *codes), strict=False) if code != before + 1]
    lasts = [code for code, after in zip(codes, (*codes[1:], -2), strict=True) if code != after - 1]
    ranges = [*zip(firsts, lasts, strict=True), (_ASSIGNED_PLANES, sys.maxunicode)]
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _may_be_invisible(char: str) -> bool:
    return is_invisible(char) or unicodedata.category(char) in _MAY_SHOW_NOTHING

"""Quoted words hide nothing: every character that cannot be seen is escaped, whatever property says so."""

import json
import sys
import unicodedata

from mnestic.memory.canonical import is_blank
from mnestic.memory.quotations import quoted

# The whole property Default_Ignorable_Code_Point. Source: Unicode 16.0, DerivedCoreProperties.txt, where it
# has 4,174 code points.
DEFAULT_IGNORABLE = [
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
]
IGNORABLE = [code for first, last in DEFAULT_IGNORABLE for code in range(first, last + 1)]
BLANK_SIGNS = [0x2800, 0x1D159, 0x16FE4]
# All of the planes that have characters, and some of each other one.
EVERY = [*range(0x32000), *range(0x32000, 0xE0000, 997), *range(0xE0000, sys.maxunicode + 1, 97)]


def escaped(codes: list[int]) -> list[str]:
    """The characters that a quotation of all of them still holds."""
    line = quoted({"text": "".join(map(chr, codes))})
    assert json.loads(line)["text"] == json.loads(json.dumps("".join(map(chr, codes))))
    left = set(line)
    return [f"U+{code:04X}" for code in codes if chr(code) in left]


def test_no_character_that_shows_nothing_is_left() -> None:
    nothing = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    codes = [code for code in EVERY if unicodedata.category(chr(code)) in nothing]

    assert len(IGNORABLE) == 4_174, "the property is not whole"
    assert {unicodedata.category(chr(code)) for code in codes} == nothing
    assert escaped([*codes, *IGNORABLE, *BLANK_SIGNS]) == []


def test_all_that_is_seen_and_all_spaces_stay() -> None:
    seen = [
        code
        for code in EVERY
        if unicodedata.category(chr(code)) in {"Lu", "Ll", "Nd", "Sc", "Zs", "Pd"}
        and chr(code) not in "<>["
    ]

    assert len(escaped(seen)) == len(seen) > 3_000


def test_a_text_of_invisible_characters_is_blank() -> None:
    for code in (*IGNORABLE[:40], *BLANK_SIGNS, 0x1BCA0, 0xE0041):
        assert is_blank(f" {chr(code)}\t{chr(code)}")
    assert not is_blank("\U0001fae9")  # a sign that this Unicode does not know yet

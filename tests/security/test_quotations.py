"""Quoted words hide nothing: every character that cannot be seen is escaped, whatever property says so."""

import json
import sys
import unicodedata

import pytest

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
EVERY = range(sys.maxunicode + 1)


def escaped(codes: list[int]) -> list[str]:
    """The characters that a quotation of all of them still holds."""
    line = quoted({"text": "".join(map(chr, codes))})
    assert json.loads(line)["text"] == json.loads(json.dumps("".join(map(chr, codes))))
    return [f"U+{code:04X}" for code in codes if chr(code) in line]


def test_the_property_is_whole() -> None:
    assert len(IGNORABLE) == 4_174


def test_what_unicode_says_to_show_nothing_of_is_escaped() -> None:
    assert escaped(IGNORABLE) == []
    assert escaped(BLANK_SIGNS) == []


@pytest.mark.parametrize("category", ["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])
def test_no_character_of_a_category_that_shows_nothing_is_left(category: str) -> None:
    codes = [code for code in EVERY if unicodedata.category(chr(code)) == category]

    assert codes
    assert escaped(codes) == []


def test_all_that_is_seen_and_all_spaces_stay() -> None:
    seen = [
        code
        for code in EVERY
        if unicodedata.category(chr(code)) in {"Lu", "Ll", "Nd", "Sc", "Zs", "Pd"}
        and chr(code) not in "<>["
    ]

    assert len(escaped(seen)) == len(seen) > 3_000


@pytest.mark.parametrize("code", [*IGNORABLE[:40], *BLANK_SIGNS, 0x1BCA0, 0xE0041])
def test_a_text_of_invisible_characters_is_blank(code: int) -> None:
    assert is_blank(f" {chr(code)}\t{chr(code)}")


def test_a_sign_that_this_unicode_does_not_know_yet_is_no_blank() -> None:
    assert not is_blank("\U0001fae9")

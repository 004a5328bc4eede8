"""Numbers in words: what "thirty-six", "a dozen" and "3rd" count to, up to ninety-nine.

They stand apart because dates, ages and amounts read them alike.
"""

# ruff: noqa: SIM905 (word lists read best as text)

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_FIRST = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()

CARDINALS = {word: number for number, word in enumerate(_SMALL)}
CARDINALS |= {word: 10 * number for number, word in enumerate(_TENS, 2)}
CARDINALS |= {
    f"{ten}{joint}{one}": 10 * tens + ones
    for tens, ten in enumerate(_TENS, 2)
    for ones, one in enumerate(_SMALL[1:10], 1)
    for joint in "- "
}
ORDINALS = {word: number for number, word in enumerate(_FIRST, 1)}
ORDINALS |= {f"twenty{joint}{_FIRST[n - 1]}": 20 + n for n in range(1, 10) for joint in "- "}
ORDINALS |= {"thirtieth": 30, "thirty-first": 31, "thirty first": 31}
_FIGURES = re.compile(r"([0-9]{1,4})(?:st|nd|rd|th)?$")
_VAGUE = {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a couple": 2, "a dozen": 12}


def any_of(words: dict[str, int]) -> str:
    """A pattern of any of the words, the longest first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


CARDINAL = rf"(?:\d{{1,4}}|{any_of(CARDINALS)})"
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{any_of(ORDINALS)})"


def number_of(text: str) -> int | None:
    """The number that a word, a figure or an ordinal says; None for anything else."""
    plain = " ".join(text.casefold().split())
    for known in (CARDINALS, ORDINALS, _VAGUE):
        if plain in known:
            return known[plain]
    figures = _FIGURES.match(plain)
    return int(figures[1]) if figures else None

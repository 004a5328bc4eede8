"""Packing: selects the items of a prompt within a budget of tokens, and says why others are left out.

It is pure: one rule holds for items from all sources. The budget is a hard cap on the block as it is sent, marks and
opening with it, by exact counts.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel

_LONG = 20_000  # characters
_MINUS = re.compile(r"(?<![\w)])-(?=\.?\d)")
# What is a sign between two digits, and the sign that it is then; elsewhere it is punctuation.
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[/.,:](?=\d)")
_SIGN = {"/": "\u2044", ".": "\u22c5", ",": "\u22c5", ":": "\u2236"}
_SIGNS = frozenset(
    ("Sc", "Sm", "So")
)  # of currencies, of mathematics, and others such as ° and emoji
_MORE_SIGNS = "#%\u2030"  # which Unicode calls punctuation


class PromptItem(DeferredModel):
    """An item of a prompt: one quoted line, and the words by which duplicates are found.

    `name` names it in the ledger. `covers` are the words of others that it tells as well. A `score` below `min_score`
    keeps it out.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    name: str
    line: str
    words: str
    covers: tuple[str, ...] = ()
    score: float | None = None
    min_score: float = 0.0


class Tier(DeferredModel):
    """Pieces of one source, the best first; with it, lines may fill that `share` of the budget for them.

    What earlier tiers cannot use because of their share, they get in the end if later ones leave it.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    pieces: tuple[PromptItem, ...]
    share: float = Field(1.0, gt=0, le=1)


class DroppedItem(DeferredModel):
    """An item that is left out, and why."""

    model_config = ConfigDict(frozen=True)

    tier: str
    kind: str
    name: str
    why: str


class PackedPrompt(DeferredModel):
    """The block, its tokens and its items, and the ledger of the items that were left out."""

    model_config = ConfigDict(frozen=True)

    text: str = ""
    tokens: int = 0
    included: tuple[PromptItem, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()


Render = Callable[[Sequence[str]], str]
_Place = tuple[int, int]  # of the tier, and in it


def pack(
    tiers: Iterable[Tier], *, max_tokens: int, count_tokens: Callable[[str], int], render: Render
) -> PackedPrompt:
    """Takes the pieces that fit, tier by tier, and tells why the others are not taken.

    Args:
        tiers: In their order in the prompt.
        max_tokens: What the block may have; 0 gives an empty one.
        count_tokens: Counts exactly.
        render: Makes the block of lines; of none, what it has around them.
    """
    packing = _Packing(tuple(tiers), count_tokens, render)
    around = count_tokens(render(()))
    for number, tier in enumerate(packing.tiers):
        packing.fill(number, up_to=around + (max_tokens - around) * tier.share)
    for number in range(len(packing.tiers)):
        packing.fill(number, up_to=max_tokens)
    return packing.packed()


class _Packing:
    """A block that is being filled; a piece is known by its place in the tiers."""

    def __init__(
        self, tiers: tuple[Tier, ...], count_tokens: Callable[[str], int], render: Render
    ) -> None:
        self.tiers, self._count, self._render = tiers, count_tokens, render
        self._included: dict[_Place, PromptItem] = {}
        self._why: dict[_Place, str] = {}
        self._covered: dict[str, str] = {}

    def fill(self, tier: int, *, up_to: float) -> None:
        """Takes what is not taken yet of a tier and fits into so many tokens."""
        for number, piece in enumerate(self.tiers[tier].pieces):
            place = (tier, number)
            if place in self._included:
                continue
            why = self._refusal(place, piece, up_to)
            if why is None:
                self._included[place] = piece
                for key in (key_of(piece.words), *map(key_of, piece.covers)):
                    self._covered.setdefault(key, piece.name)
            else:
                self._why[place] = why

    def _refusal(self, place: _Place, piece: PromptItem, up_to: float) -> str | None:
        if piece.score is not None and piece.score < piece.min_score:
            return f"below threshold: {piece.score:.2f}, and it takes {piece.min_score:g}"
        by = [self._covered.get(key) for key in map(key_of, piece.covers or (piece.words,))]
        if any(by):
            return f"duplicate of {next(filter(None, by))}"
        if self._count(self._block({**self._included, place: piece})) > up_to:
            return f"over budget: it has {self._count(piece.line)} tokens"
        return None

    def packed(self) -> PackedPrompt:
        """The packed prompt, with the ledger of the items that were left out."""
        text = self._block(self._included) if self._included else ""
        dropped = tuple(
            DroppedItem(tier=tier.name, kind=piece.kind, name=piece.name, why=self._why[place])
            for tier_number, tier in enumerate(self.tiers)
            for number, piece in enumerate(tier.pieces)
            if (place := (tier_number, number)) not in self._included
        )
        included = tuple(self._included[place] for place in sorted(self._included))
        return PackedPrompt(
            text=text, tokens=self._count(text) if text else 0, included=included, dropped=dropped
        )

    def _block(self, pieces: Mapping[_Place, PromptItem]) -> str:
        return self._render([pieces[place].line for place in sorted(pieces)])


def key_of(words: str) -> str:
    """What words say, however they are written; of two pieces with one key the second is a duplicate.

    Punctuation says nothing, signs do: C++ is not C#, -40 not 40, and 1.5 not 1 5. Of a long text only white space says nothing.
    """
    if len(words) > _LONG:
        return " ".join(words.split())
    folded = unicodedata.normalize("NFKC", words).casefold()
    signed = _MINUS.sub("\u2212", folded).replace("!=", "\u2260")
    signed = _BETWEEN_DIGITS.sub(lambda found: _SIGN[found[0]], signed)
    return " ".join("".join(map(_spoken, signed)).split()) or folded


@cache
def _spoken(char: str) -> str:
    """A character of a word, a sign by itself, or a space."""
    category = unicodedata.category(char)
    if category[0] in "LMN" or char == "_":
        return char
    return f" {char} " if category in _SIGNS or char in _MORE_SIGNS else " "

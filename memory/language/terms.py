"""Terms: the words of a text that carry meaning, and how much each of them weighs.

Summaries and replies of the local provider rank sentences by the same terms.
"""

# ruff: noqa: RUF001 (apostrophes of many kinds are meant)

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mnestic.memory.language.function_words import UNSPACED, stop_words

_SHORTEST_PLURAL = 4
_BEGINNING = 1000  # characters
_WORD = re.compile("[a-z0-9\x80-\U0010ffff]+")
_ANY_WORD = re.compile(rf"{UNSPACED.pattern[:-1]}|(?:(?!{UNSPACED.pattern})\w)+")
_SYMBOL = re.compile(
    r"[^\w\x00-\x7f]"
)  # beyond ASCII; accents that stand by themselves are among them
_APOSTROPHE, _SHORTENED = re.compile("['’ʼ]"), re.compile(r"['’](?:s|ll)\b")
_APOSTROPHES = str.maketrans("", "", "'’ʼ")


def terms_of(text: str) -> tuple[str, ...]:
    """The content terms of a text in their order: folded, without stop words, plural s taken off.

    Scripts that put no space between words give pairs of characters instead.
    """
    folded = normalised(text)
    if _APOSTROPHE.search(folded):
        folded = _SHORTENED.sub("", folded).translate(_APOSTROPHES)
    silent = stop_words()
    words = [word for word in _words(folded) if word not in silent]
    if folded.isascii() or not UNSPACED.search(folded):
        return tuple(
            [word[:-1] if word[-1] == "s" and _is_plural(word) else word for word in words]
        )
    return tuple(term for word in words for term in _parts(word))


def first_terms(text: str) -> tuple[str, ...]:
    """The terms that a text begins with, each once: those by which it is compared word by word."""
    return tuple(dict.fromkeys(terms_of(text[:_BEGINNING])))


def words_of(text: str) -> tuple[str, ...]:
    """All words of a text in their order, folded; what stands between apostrophes are words too."""
    return tuple(_words(normalised(text)))


def word_starts(text: str) -> list[int]:
    """Where the words of a text begin, about as full text search counts them: a script without spaces has one in each character."""
    return [match.start() for match in _ANY_WORD.finditer(text)]


def normalised(text: str) -> str:
    """What two spellings of a text have in common, however it is composed and in whichever case."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


def is_unspaced(word: str) -> bool:
    """Whether a word is of scripts that put no space between words."""
    return UNSPACED.fullmatch(word) is not None


def _words(folded: str) -> list[str]:
    return _WORD.findall(folded if folded.isascii() else _SYMBOL.sub(_accent_or_space, folded))


def _accent_or_space(symbol: re.Match[str]) -> str:
    return symbol[0] if unicodedata.category(symbol[0])[0] == "M" else " "


def inverse_document_frequency(documents: Sequence[Iterable[str]]) -> dict[str, float]:
    """How telling each term is: 1 for one in a single document, falling towards 0 for one in all.

    Source: inverse document frequency (Spärck Jones, 1972), smoothed and divided by its maximum.
    """
    counts = Counter(term for document in documents for term in set(document))
    most = math.log(1 + len(documents))
    return {term: math.log(1 + len(documents) / count) / most for term, count in counts.items()}


def term_vector(terms: Iterable[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Weighted terms, L2-normalised; terms without a weight are left out."""
    counts = Counter(term for term in terms if term in weights)
    vector = {term: count * weights[term] for term, count in counts.items()}
    norm = math.sqrt(sum(value * value for value in vector.values()))
    return {term: value / norm for term, value in vector.items()} if norm else {}


def cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """Cosine of two L2-normalised vectors, 0 to 1."""
    small, large = sorted((left, right), key=len)
    return sum(value * large.get(term, 0.0) for term, value in small.items())


def _parts(word: str) -> tuple[str, ...]:
    """The terms of a word that is not a stop word."""
    if is_unspaced(word):
        return tuple(word[i : i + 2] for i in range(len(word) - 1)) or (word,)
    return (word[:-1] if _is_plural(word) else word,)


def _is_plural(word: str) -> bool:
    return (
        len(word) >= _SHORTEST_PLURAL
        and word.endswith("s")
        and not word.endswith(("ss", "us", "is"))
    )

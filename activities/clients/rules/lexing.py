"""Words of a sentence, with their places; contractions are taken apart.

It stands alone because everything after it works on words.
"""

import re
from dataclasses import dataclass

from mnestic.activities.clients.rules.verbs import FORMS

_WORD = re.compile(r"[^\W_][^\W_]*(?:['&+.-][^\W_]+)*\.?(?<!\.)|_+|[^\w\s]")
_ENDINGS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
# As they are written in haste; "ill", "id", "were", "its" and "wed" are words of their own.
_UNMARKED = {
    "im": "i'm", "ive": "i've", "youre": "you're", "youve": "you've", "hes": "he's", "shes": "she's", "theyre": "they're",
    "theyve": "they've", "weve": "we've", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't",
    "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "havent": "haven't", "hasnt": "hasn't", "hadnt": "hadn't",
    "cant": "can't", "couldnt": "couldn't", "wouldnt": "wouldn't", "shouldnt": "shouldn't", "wont": "won't", "aint": "ain't",
}  # fmt: skip
_NOT = {"can't": "can", "won't": "will", "shan't": "shall", "cannot": "can"}
_IS = frozenset("name he she it that there here who what where how".split())  # noqa: SIM905
_BETWEEN = frozenset("already never always just only not also recently finally".split())  # noqa: SIM905
_AFTER_HAS = frozenset({"been", "got", "had"})
_AFTER_IS = frozenset(
    [
        "a",
        "an",
        "the",
        "my",
        "our",
        "in",
        "at",
        "from",
        "not",
        "on",
        "no",
        "now",
        "still",
        "also",
        "so",
        "very",
        "really",
        "already",
        "always",
        "allergic",
        "called",
        "named",
        "about",
        "just",
        "going",
        "married",
        "engaged",
        "pregnant",
        "vegan",
        "vegetarian",
        "years",
    ]
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word or mark: as it is written, in small letters, and its place in the message."""

    text: str
    low: str
    start: int
    end: int

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[0].isupper()


def words_of(text: str, start: int, end: int) -> list[Word]:
    """The words and marks of a part of a text whose apostrophes are straight."""
    words: list[Word] = []
    for match in _WORD.finditer(text, start, end):
        word = _marked(match[0])
        if ("'" in word and len(word) > 2) or word.lower() == "cannot":  # noqa: PLR2004 - a letter, and an apostrophe with its ending
            words += _taken_apart(word, match.start(), match.end())
        else:
            words.append(Word(word, word.lower(), match.start(), match.end()))
    return _with_is(words)


def _marked(word: str) -> str:
    """A word with its apostrophe, which somebody left out."""
    marked = _UNMARKED.get(word.lower())
    return word if marked is None else f"{word[0]}{marked[1:]}"


def _taken_apart(word: str, start: int, end: int) -> list[Word]:
    low = word.lower()
    if low in _NOT or low.endswith("n't"):
        stem = _NOT.get(low, low[:-3])
        if not stem:  # of "did n't", as some programs part words
            return [Word("not", "not", start, end)]
        return [Word(stem, stem, start, end), Word("not", "not", start, end)]
    cut = low.rindex("'")
    head, ending = word[:cut], low[cut:]
    if ending in _ENDINGS:
        verb = _ENDINGS[ending]
        return [Word(head, head.lower(), start, start + cut), Word(verb, verb, start + cut, end)]
    if ending == "'s":
        own = Word("'s", "'s", start + cut, end)
        return [Word(head, head.lower(), start, start + cut), own]
    return [Word(word, low, start, end)]


def _is_had(words: list[Word], index: int) -> bool:
    """Whether `'d` is "had", as in "I'd been" and "I'd already left"."""
    word = words[index]
    if word.low != "would" or word.end - word.start > 2:  # noqa: PLR2004 - an apostrophe and a letter
        return False
    low = next((each.low for each in words[index + 1 :] if each.low not in _BETWEEN), "")
    forms = {form for _, form in FORMS.get(low, ())}
    return low == "been" or ("participle" in forms and "base" not in forms)


def _with_is(words: list[Word]) -> list[Word]:
    """Tells `'s` of a verb from `'s` of an owner, and `'d` of "had", by the words beside it."""
    for index, word in enumerate(words):
        if _is_had(words, index):
            words[index] = Word("had", "had", word.start, word.end)
        if word.low != "'s" or not index:
            continue
        following = words[index + 1].low if index + 1 < len(words) else ""
        is_verb = words[index - 1].low in _IS or following in _AFTER_IS
        if is_verb or (following.endswith("ing") and following in FORMS) or following in _AFTER_HAS:
            verb = "has" if following in _AFTER_HAS else "is"
            words[index] = Word(verb, verb, word.start, word.end)
    return words

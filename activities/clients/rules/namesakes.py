"""Names in a sentence, and those that a message says two people have.

It stands apart because such a name alone is nobody: what is said of it could be of either.
"""

from collections.abc import Iterator, Sequence

from mnestic.activities.clients.rules.lexicon import NOT_NAMES
from mnestic.activities.clients.rules.lexing import Word
from mnestic.activities.clients.rules.verbs import FORMS
from mnestic.memory.knowledge.claims import name_key

_OTHER = frozenset({"another", "other", "different"})
_MANY = frozenset({"two", "three", "four", "both", "several", "many", "all"})
_CALLED = frozenset({"called", "named"})
_TWO_FULL_NAMES = 4  # words written large
_SIGNS = _OTHER | _MANY | _CALLED | {"same"}


def is_name(word: Word) -> bool:
    """Whether a word can be a name."""
    if not word.is_capital or word.low in NOT_NAMES:
        return False
    is_doing = word.low.endswith("ing") and word.low in FORMS  # "Having never been there, …"
    return not is_doing and word.text.replace("-", "").isalpha()


def name_at(words: Sequence[Word], index: int) -> tuple[str, int]:
    """The name that begins at a word, of three parts at most, and what follows it; "" for none."""
    end = index
    while end < len(words) and end - index < 3 and is_name(words[end]):  # noqa: PLR2004
        end += 1
    return " ".join(word.text for word in words[index:end]), end


def shared_names(sentences: Sequence[Sequence[Word]]) -> dict[str, int]:
    """The names that a message says two people have, and from which place on it matters.

    As in "another Anna", "two Davids", "both are called Rosa", "the same name as my father, Peter", and
    "Tom" after Tom Baker and Tom Hardy.
    """
    found: dict[str, int] = {}
    full: dict[str, set[str]] = {}
    large = sum(word.is_capital for words in sentences for word in words)
    for words in sentences:
        for name, place in _shared_in(words):
            found[name_key(name)] = min(place, found.get(name_key(name), place))
        for name, place in _names_in(words) if large >= _TWO_FULL_NAMES else ():
            first, _, rest = name.partition(" ")
            if rest:
                full.setdefault(name_key(first), set()).add(name_key(name))
                if len(full[name_key(first)]) > 1:
                    found.setdefault(name_key(first), place)
    return found


def _shared_in(words: Sequence[Word]) -> Iterator[tuple[str, int]]:
    lows = [word.low for word in words]
    if _SIGNS.isdisjoint(lows):
        return
    is_same = any(lows[index : index + 2] == ["same", "name"] for index in range(len(lows)))
    for index, word in enumerate(words):
        name, _ = name_at(words, index)
        if not name:
            continue
        before = set(lows[max(0, index - 3) : index])
        if is_same or (index and lows[index - 1] in _OTHER):
            yield name, word.start
        elif index and lows[index - 1] in _CALLED and (before & {"are", "were"} or before & _MANY):
            yield name, words[0].start
        elif index and lows[index - 1] in _MANY and name.endswith("s"):
            yield name.removesuffix("s"), words[0].start


def _names_in(words: Sequence[Word]) -> Iterator[tuple[str, int]]:
    index = 0
    while index < len(words):
        following = index + 1
        if words[index].is_capital:
            name, following = name_at(words, index)
            if name:
                yield name, words[index].start
        index = max(following, index + 1)

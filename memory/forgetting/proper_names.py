"""Proper names: the rows of capitalised words of a topic or a text, and whether a text names somebody or something else.

Only here it matters how words are written: the names of a topic are compared without capitals.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.date_words import date_words
from mnestic.memory.language.function_words import stop_words
from mnestic.memory.language.terms import normalised, words_of
from mnestic.memory.language.word_forms import other_forms
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("proper_names.yaml")
_WORD = re.compile(r"[^\W_]+")
_WITHIN = re.compile(r"[^\S\n\r]+|[-'’ʼ./&]|[^\S\n\r]*&[^\S\n\r]*")  # noqa: RUF001 (apostrophes of many kinds are meant)
_AFTER_SHORT = re.compile(r"\.[^\S\n\r]+")  # "Dr. Hall", "J. R. Tolkien"
_INITIALS = re.compile(r"(?<!\w)(?:[A-Z]\.[ \u00a0-]?){2,}")  # "J. R. " and "J.R."
_JOINED_INITIALS = re.compile(r"(?<!\w)[A-Z]{2,3}(?=\s+[A-Z]\w)")  # "JR Tolkien"
_LAST_WORD, _NEXT_WORD = re.compile(r"([^\W_]+)[ \u00a0]$"), re.compile(r"[ \u00a0]([^\W_]+)")
_LONGEST_SHORT = 3
_FEWEST = 2  # words that are a proper name wherever they stand; one may be capitalised because it begins a sentence


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    inside: frozenset[str]
    titles: frozenset[str] = frozenset()
    orders: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()


def proper_names(topic: str) -> tuple[str, ...]:
    """The proper names of several words in a topic, as they are written; capitals say nothing where all letters are."""
    if not any(map(str.islower, topic)):
        return ()
    topic = _nfkc(topic)
    rows = (topic[start:end] for start, end in _spans(topic, given=_all().given))
    return tuple(name for name in rows if len(words_of_name(name)) >= _FEWEST)


def words_of_name(name: str) -> frozenset[str]:
    """The words that tell a name from others, folded: without those that only stand inside it."""
    return frozenset(words_of(name)) - _all().inside - (stop_words() - _all().given)


def is_written_as_name(text: str, words: Collection[str]) -> bool:
    """Whether a text has a proper name with all of these folded words, of which there are several."""
    return len(words) >= _FEWEST and any(
        set(words) <= words_of_name(name) for name in name_rows(text)
    )


def named_alone(words: Collection[str]) -> str | None:
    """The word of a proper name that stands for it alone: the one beside *project* or *hotel*."""
    own = [word for word in words if word not in _all().kinds]
    return own[0] if len(own) == 1 < len(words) and not own[0].isdecimal() else None


def words_of_their_own(words: Collection[str]) -> frozenset[str]:
    """Those of a proper name's folded words that do not say what it is of: without *project* or *hotel*."""
    return frozenset(words) - _all().kinds


def names_with_capitals_alone(words: Collection[str]) -> bool:
    """Whether one of a proper name's folded words is a function word without a capital: *Will* of *Will Cook*."""
    return not stop_words().isdisjoint(words)


def words_in_order(text: str) -> tuple[str, ...]:
    """The words of a text, folded, without those that only stand inside a name, such as *van*."""
    return tuple(word for word in words_of(join_initials(text)) if word not in _all().inside)


def capitalised_words(text: str) -> frozenset[str]:
    """The words of a text that begin with a capital, folded."""
    found = (match[0] for match in _WORD.finditer(_nfkc(text)))
    return frozenset(normalised(word) for word in found if _has_capital(word))


def is_written_small(text: str, words: Collection[str]) -> bool:
    """Whether a text has one of these folded words without a capital."""
    return any(match[0][0].islower() and match[0] in words for match in _WORD.finditer(_nfkc(text)))


def names_other(text: str, words: Collection[str]) -> bool:
    """Whether a text has a proper name that shares a word with a name of these words and differs in another."""
    return any(_is_other(name, words) for name in name_rows(text))


def without_other_names(text: str, words: Collection[str]) -> str:
    """A text without the proper names that share a word with a name of these words and differ in another.

    They are blanked out, and so are such words beside a proper name that shares none: *the Kite project*.
    """
    text = _nfkc(text)
    for start, end in _spans(text):
        row = text[start:end]
        if _is_other(row, words):
            text = _blanked(text, start, end)
        elif not _telling_words(row) & set(words) and _telling_words(row):
            before, after = _LAST_WORD.search(text, 0, start), _NEXT_WORD.match(text, end)
            for match in filter(None, (before, after)):
                if normalised(match[1]) in words:
                    text = _blanked(text, *match.span(1))
    return text


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def join_initials(text: str) -> str:
    """A text with the initials before a name as one word, as some write them: *JR Alvarez* for *J. R. Alvarez*."""
    return _INITIALS.sub(lambda match: "".join(filter(str.isalpha, match[0])) + " ", text)


def initials_of(name: str) -> frozenset[str]:
    """The words of a name that stand for initials, folded: *jr* of *J. R. Alvarez* and of *JR Alvarez*."""
    return frozenset(map(normalised, _JOINED_INITIALS.findall(join_initials(name))))


def parts_in(text: str, words: Collection[str]) -> frozenset[str]:
    """The proper names in a text that are a part of a name of these words, folded."""
    return frozenset(
        normalised(name)
        for name in name_rows(text)
        if words_of_name(name) and words_of_name(name) < set(words)
    )


def name_rows(text: str) -> Iterator[str]:
    """The rows of words with a capital, with what stands inside them; figures belong to the name before them."""
    text = _nfkc(text)
    for start, end in _spans(text):
        yield text[start:end]


def is_one_name(text: str) -> bool:
    """Whether a text is one name and nothing else, which is no title, day or verb."""
    (*rows,) = name_rows(text)
    return rows == [_nfkc(text).strip()] and bool(_telling_words(rows[0]))


def _is_other(row: str, words: Collection[str]) -> bool:
    """Whether a row shares a word with a name and differs in another."""
    name = _telling_words(row, words)
    own = name & set(words)
    return bool(own and name - own) and own < set(words)


def _telling_words(row: str, own: Collection[str] = ()) -> frozenset[str]:
    """The words of a row that tell a name from others: no titles, no days, and no verb that a sentence begins with.

    A verb that is one of a name's `own` words is a name, such as *Drew*.
    """
    dates = date_words()
    first = normalised(_WORD.findall(row)[0])
    is_verb = first not in own and (first in _all().orders or bool(other_forms(first)))
    beside = _all().titles.union(dates.weekdays, dates.days, [first] if is_verb else ())
    return words_of_name(join_initials(row)) - beside


def _spans(text: str, *, given: Collection[str] = ()) -> Iterator[tuple[int, int]]:
    """Where the rows stand in a text in normal form; `given` are function words that may be of a name."""
    start = end = reach = 0  # of a row: where it begins, ends, and up to where it may go on
    for match in _WORD.finditer(text):
        word, is_next = match[0], end > start and _joins(text, reach, match.start())
        if _is_capital(word, given) or (is_next and word.isdecimal()):
            if not is_next:
                if end > start:
                    yield start, end
                start = match.start()
            end = reach = match.end()
        elif is_next and word in _all().inside:
            reach = match.end()
        else:
            reach = -1
    if end > start:
        yield start, end


def _is_capital(word: str, given: Collection[str]) -> bool:
    folded = normalised(word)
    return _has_capital(word) and (folded in given or folded not in stop_words())


def _has_capital(word: str) -> bool:
    return not word[0].islower() and word[0] != word[0].lower()


def _joins(text: str, reach: int, start: int) -> bool:
    """Whether what stands between two words keeps them in one name."""
    if reach < 0:
        return False
    between = text[reach:start]
    if _WITHIN.fullmatch(between):
        return True
    before = _WORD.findall(text[:reach])[-1]
    return bool(_AFTER_SHORT.fullmatch(between)) and len(before) <= _LONGEST_SHORT


def _nfkc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@cache
def _all() -> _Words:
    """The words of all languages: a name says nothing of the language around it."""
    lists = read_word_lists(_FILE, _Words).values()
    return _Words(
        inside=frozenset().union(*(words.inside for words in lists)),
        titles=frozenset().union(*(words.titles for words in lists)),
        orders=frozenset().union(*(words.orders for words in lists)),
        kinds=frozenset().union(*(words.kinds for words in lists)),
        given=frozenset().union(*(words.given for words in lists)),
    )

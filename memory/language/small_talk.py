"""Courtesies: what people say to be polite, to agree or to take their leave, and ask nothing of memory by it.

What becomes of a message that says no more is decided by who reads it. English is understood, and what others begin a
conversation with.
"""

import re
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

from mnestic.memory.language.function_words import stop_words
from mnestic.memory.language.terms import normalised, words_of
from mnestic.memory.language.word_lists import read_patterns

_FILE = Path(__file__).with_name("small_talk.yaml")
_MOST_WORDS, _MOST_CHARS = 16, 1000  # who says more, says something
_APOSTROPHES = re.compile("['’ʼ`´]")  # noqa: RUF001 (apostrophes of many kinds are meant)
_LINES = re.compile(r"\s*[\n\r\u2028\u2029]\s*")
# Behind these something else begins.
_STOPS = frozenset(".!:;-\N{EN DASH}\N{EM DASH}\N{HORIZONTAL ELLIPSIS}")
_FACES = re.compile(r"(?<!\w)(?:[:;=]['-]?[)(\]DPpOo3*/|]+|<3+|[xX]D+)(?!\w)")

# How a word is marked that may be a name: as one, or for its capital letter alone; and one that begins a sentence.
_SURE, _CAPITAL, _FIRST = "@", "^", "."


@cache
def _courtesies(*, is_question: bool) -> re.Pattern[str]:
    """What is said, one after the other, with words that may be marked; made for the first message, as it takes a while."""
    parts = read_patterns(_FILE)
    name = rf"(?!(?:{parts['weekday']})\b)(?:[^\W\d]|-)+"
    one_of_kin = f"(?:{parts['kin']})"
    kin = f"(?: {one_of_kin}(?: and {one_of_kin})?)?"
    called = f"(?: (?:{parts['called']}))*"
    addressed = (
        f"(?:(?:{parts['addressing']}){called}{kin}(?: @{name})?|(?:{parts['calling']}) \\^{name}|"
        f"(?:{parts['plain']}){called})"
    )
    # A greeting and one word without a mark that is no function word, nor looks like several things, as "invoices" does.
    no_names = f"{'|'.join(sorted(stop_words()))}|{parts['of_feasts']}"
    anybody = rf"(?<=\s)(?!(?:{no_names})\b)[^\W\d_]+(?<![^aious]s)"
    to_anybody = f"(?:{parts['greeting']}|(?:{parts['wish']})(?: to)?){kin} {anybody}"
    phrases = addressed if is_question else f"{addressed}|{to_anybody}"
    pattern = f"(?:(?:and |but |so )?(?:{phrases})(?: |$))+"
    return re.compile(pattern.replace(" ", " [@^.]?"))


def without_emoticons(text: str) -> str:
    """A text without faces made of signs, such as ":D", whose letters are no words."""
    return _FACES.sub(" ", text)


def has_letter_or_digit(word: str) -> bool:
    """Whether a word has a letter or a figure; marks alone are parts of an emoji."""
    return any(char.isalnum() for char in word)


def is_small_talk(text: str, *, names: AbstractSet[str] = frozenset()) -> bool:
    """Whether a text is nothing but courtesies, such as "good morning, Tom" or "ok, do that"; a blank one is none.

    The word after a greeting is a name where it begins with a capital letter, and either the word before it does
    not, or a comma parts them, or the greeting is one word such as "hi". "Morning standup" and "Welcome Package"
    are none: to look for a name finds nothing, and to look for no topic loses what is known of it.

    Args:
        text: What somebody says.
        names: Words, folded, by which those who speak are called, however they are written here.
    """
    if len(text) > _MOST_CHARS:
        return False
    is_question = "?" in normalised(text)  # who asks means the word itself: "Hello, Berlin?"
    words = _marked(without_emoticons(text), names, is_question=is_question)
    if not 0 < len(words) <= _MOST_WORDS:
        return False
    return _courtesies(is_question=is_question).fullmatch(" ".join(words)) is not None


def _marked(text: str, names: AbstractSet[str], *, is_question: bool) -> list[str]:
    """The words of a text, folded, with a mark before each that may be a name, or begins a sentence."""
    found: list[str] = []
    before, is_apart = ".", False
    for chunk in _LINES.sub(" . ", text).split():
        words = [
            word for word in words_of(_APOSTROPHES.sub("", chunk)) if has_letter_or_digit(word)
        ]
        if not words:
            is_apart = is_apart or chunk[-1] in _STOPS
            continue
        is_known = names >= {*words}
        is_first = before[-1] in ".!"
        is_capital = chunk.istitle() and not is_first
        if is_question or not (is_known or is_capital):
            is_apart = is_apart or before[-1] in _STOPS
            found += [_FIRST * (is_apart and bool(found)) + words[0], *words[1:]]
        else:
            is_sure = is_known or before.endswith(",") or not before.istitle()
            found.append((_SURE if is_sure else _CAPITAL) + "-".join(words))
        before, is_apart = chunk, False
    return found

"""What reads messages takes time in proportion to a text's length: a search holds the interpreter."""

import time
from collections.abc import Callable

import pytest

import mnestic.activities.clients.english
import mnestic.activities.clients.messages
import mnestic.memory.language
from mnestic.memory.knowledge.spans import QuotedText
from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.identifiers import find_identifiers
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.small_talk import is_small_talk
from mnestic.memory.quotations import BLOCKS, without_blocks
from mnestic.memory.retrieval.clauses import split_clauses
from tests.memory.language.pattern_scan import patterns_of

PACKAGES = (
    mnestic.activities.clients.english,
    mnestic.activities.clients.messages,
    mnestic.memory.language,
)
PATTERNS = {
    (pattern.pattern, pattern.flags): (name, pattern)
    for package in PACKAGES
    for name, pattern in patterns_of(package)
}
RUNS = [".", ",", ", ", " ", "1", "a", "-", "'", '"', "(", "\n", "a "]
OPENING = f"{BLOCKS['memories']}\n<memories>\n"
# What a text begins with, and what is repeated in it.
READERS: dict[Callable[[str], object], tuple[tuple[str, str], ...]] = {
    find_dates: tuple(
        ("", part)
        for part in ("on the ", "1 ", "last ", "the day before ", "in two weeks ", "may 5 of ")
    ),
    find_identifiers: tuple(
        ("", part) for part in ("1-", "1'", "a.", "a@", "+1", "(0", "0 12 ", "1:", "http://", "1")
    ),
    split_sentences: (("Well", "."), ("", "." * 900 + "a")),
    is_small_talk: (("", "hi "), ("", "good good morning "), ("", "see you later then ")),
    split_clauses: (("is Tom there", " "),),
    lambda text: QuotedText(text).find("I live\tin Bruges now"): (("", "I live in Ghent now. "),),
    without_blocks: (
        ("", OPENING),
        ("", f'{OPENING}{{"a": "b\n'),
        ("", f'{OPENING}{{"a": "b '.replace("\n", " ")),
        ("", f'{OPENING}{{"a": 1}}\n</memories'),
        (OPENING, '{"a": 1}\n'),
        (OPENING, '{"a": 1}'),
        (OPENING, '{"a": "'),
        ("", "x"),
    ),
}


def seconds(read: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    read(text)
    return time.thread_time() - began


def is_slow(read: Callable[[str], object], part: str, *, start: str = "", length: int) -> bool:
    """Sixteen times the length may take 32 times as long; what seems slow is measured once more."""
    short, long = ((start + part * size)[:size] + "x" for size in (length, 16 * length))

    def seems_slow() -> bool:
        least = seconds(read, short)
        return least > 0.2 or seconds(read, long) > 0.05 + 32 * least

    return seems_slow() and seems_slow()


@pytest.mark.parametrize("run", RUNS)
def test_each_pattern_takes_time_in_proportion_to_the_length(run: str) -> None:
    slow = [
        f"{name}: {one.pattern[:80]}"
        for name, one in PATTERNS.values()
        if is_slow(lambda text, one=one: [*one.finditer(text)], run, length=500)
    ]

    assert slow == []


def test_each_reader_takes_time_in_proportion_to_the_length() -> None:
    slow = [
        (start[:20], part[:20])
        for read, parts in READERS.items()
        for start, part in parts
        if is_slow(read, part, start=start, length=1_000)
    ]

    assert slow == []


def test_the_patterns_of_files_and_of_lists_are_found() -> None:
    found = {name for name, _ in PATTERNS.values()}

    assert {"lexicon", "corrections", "query_words", "machine_text", "repairs"} <= found
    assert len(PATTERNS) > 100

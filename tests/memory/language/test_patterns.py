"""The patterns of the rooms that read messages take time in proportion to a text's length: a search holds the interpreter."""

import re
import time

import pytest

import mnestic.activities.clients.english
import mnestic.activities.clients.messages
import mnestic.memory.language
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


def seconds(pattern: re.Pattern[str], text: str) -> float:
    began = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - began


@pytest.mark.parametrize("run", RUNS)
def test_each_pattern_takes_time_in_proportion_to_the_length(run: str) -> None:
    """Sixteen times the length may take 32 times as long; what seems slow is measured once more."""

    def is_slow(pattern: re.Pattern[str]) -> bool:
        short, long = ((run * length)[:length] + "x" for length in (500, 8000))
        least = seconds(pattern, short)
        return least > 0.2 or seconds(pattern, long) > 0.05 + 32 * least

    slow = [
        f"{name}: {one.pattern[:80]}"
        for name, one in PATTERNS.values()
        if is_slow(one) and is_slow(one)
    ]

    assert slow == []


def test_the_patterns_of_files_and_of_lists_are_found() -> None:
    found = {name for name, _ in PATTERNS.values()}

    assert {"lexicon", "corrections", "query_words", "machine_text", "repairs"} <= found
    assert len(PATTERNS) > 100

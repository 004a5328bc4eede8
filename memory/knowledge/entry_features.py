"""Marks of entries: what ranking has to know of a text, computed once when the entry is written.

They are stored beside the entries and follow from them: nobody sets them.
"""

from collections.abc import Collection
from enum import IntFlag

from mnestic.memory.knowledge.entries import TimeMention
from mnestic.memory.knowledge.time_mentions import names_time

_QUESTION_MARKS = ("?", "\uff1f")


class EntryFeatures(IntFlag):
    """The bits of the column `entry.features`; a stored bit never changes its meaning, and 2 had one that is gone."""

    ASKS = 1
    """The text ends with a question mark."""
    NAMES_TIME = 4
    """It names a time, or says when something recurs."""


def features_of(content: str, times: Collection[TimeMention]) -> EntryFeatures:
    """The marks of an entry.

    Args:
        content: Its text.
        times: The times that were found in it.
    """
    marks = EntryFeatures(0)
    if content.rstrip().endswith(_QUESTION_MARKS):
        marks |= EntryFeatures.ASKS
    if times or names_time(content):
        marks |= EntryFeatures.NAMES_TIME
    return marks

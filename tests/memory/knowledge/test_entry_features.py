"""Marks of entries: what ranking has to know of a text, computed once."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.knowledge.entries import TimeMention
from mnestic.memory.knowledge.entry_features import EntryFeatures, features_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
YESTERDAY = TimeMention(words="yesterday", start=NOON - timedelta(days=1), end=NOON)


@pytest.mark.parametrize(
    ("content", "marks"),
    [
        ("Mara lives in Ghent.", EntryFeatures(0)),
        ("Where does Mara live? ", EntryFeatures.ASKS),
        ("マラはどこに住んでいますか\uff1f", EntryFeatures.ASKS),
        ("Where? Nobody knows.", EntryFeatures(0)),
        ("We meet on Tuesdays.", EntryFeatures.NAMES_TIME),
        (
            "Has it changed, and do we meet at 9:30 now?",
            EntryFeatures.ASKS | EntryFeatures.NAMES_TIME,
        ),
    ],
)
def test_a_text_has_the_marks_of_what_it_says_and_of_the_times_that_were_found(
    content: str, marks: EntryFeatures
) -> None:
    assert features_of(content, ()) == marks
    assert features_of(content, (YESTERDAY,)) == marks | EntryFeatures.NAMES_TIME

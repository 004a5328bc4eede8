"""The key of entries that may say the same: equal for what a night compares, and of the words that add nothing."""

import re
from typing import Any

import psycopg
import pytest

from mnestic.memory.maintenance.duplicates import words_that_add_nothing

KEY = """
SELECT mnestic.duplicate_key(%(kind)s, %(entry_type)s, %(content)s, %(speaker)s, %(channel)s, %(parent)s, '["Mara"]', '[]', '[]',
                             CAST(%(expires_at)s AS timestamptz))
"""
ENTRY = {
    "kind": "message",
    "entry_type": "interaction",
    "content": "The boiler is in the cellar.",
    "speaker": "Mara",
    "channel": None,
    "parent": None,
    "expires_at": None,
}


def key_of(url: str, **fields: Any) -> int | None:
    with psycopg.connect(url) as owner:
        row = owner.execute(KEY, {**ENTRY, **fields}).fetchone()
    assert row is not None
    found: int | None = row[0]
    return found


@pytest.mark.parametrize(
    "other",
    [
        "the boiler is  in the cellar!",
        "Oh, the boiler really is in the cellar.",
        "THE BOILER IS IN THE CELLAR",
    ],
)
def test_what_may_say_the_same_has_one_key(admin_url: str, other: str) -> None:
    assert key_of(admin_url, content=other) == key_of(admin_url)


def test_other_words_and_other_names_have_other_keys(admin_url: str) -> None:
    others: tuple[dict[str, str], ...] = (
        {},
        {"content": "The boiler is in the attic."},
        {"entry_type": "insight"},
        {"speaker": "Bo"},
        {"channel": "mail"},
        {"parent": "Mara"},
        {"expires_at": "2030-01-01 00:00:00+00"},
    )

    keys = {key_of(admin_url, **fields) for fields in others}

    assert len(keys - {None}) == len(others)


@pytest.mark.parametrize(
    "fields", [{"content": "Oh, really?"}, {"entry_type": "correction"}, {"kind": "fact"}]
)
def test_what_is_never_merged_has_no_key(admin_url: str, fields: dict[str, str]) -> None:
    assert key_of(admin_url, **fields) is None


def test_the_database_leaves_out_the_words_of_the_list(admin_url: str) -> None:
    with psycopg.connect(admin_url) as owner:
        row = owner.execute("SELECT prosrc FROM pg_proc WHERE proname = 'duplicate_key'").fetchone()

    assert row is not None
    listed = re.search(r"\(\?:(.*?)\)", row[0])
    assert listed is not None
    assert set(listed[1].split("|")) == words_that_add_nothing()

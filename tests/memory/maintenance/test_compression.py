"""Which entries are compressed together, given which are similar."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.maintenance.compression import LONGEST, MOST, plan_compressions, values_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The hose is twelve metres long.", "The hose is thirteen metres long."),
        ("It is the hose of Mara.", "It is the hose of Tom."),
        ("The hose leaks.", "The hose doesn't leak."),
        ("The hose leaks.", "Does the hose leak?"),
        ("Order the hose as H-1001.", "Order the hose as H-1010."),
    ],
)
def test_entries_with_other_values_are_kept_apart(one: str, other: str) -> None:
    assert values_of(_entry("1", one)) != values_of(_entry("2", other))


def test_words_are_no_values() -> None:
    one, other = "I bought a long hose.", "A long hose is what I've bought."

    assert values_of(_entry("1", one)) == values_of(_entry("2", other))


def test_an_entry_is_compressed_once_and_the_largest_group_first() -> None:
    entries = {str(one): _entry(str(one), f"Hose {'x' * one}.") for one in range(7)}
    pairs = [("0", "1"), ("0", "2"), ("3", "2"), ("3", "4"), ("3", "5"), ("5", "6")]

    (plan,) = plan_compressions(entries, pairs, most=100)

    assert plan.sources == ("3", "2", "4", "5")
    assert plan_compressions(entries, reversed(pairs), most=100) == (plan,)
    assert plan_compressions(entries, pairs, most=2) == ()


def test_a_group_has_a_limit_of_entries_and_of_characters() -> None:
    short = {str(one): _entry(str(one), f"Hose {'x' * one}.") for one in range(20)}
    long = {name: _entry(name, f"{name * 500} hose.") for name in "abcdefg"}

    (few,) = plan_compressions(short, [("0", str(one)) for one in range(1, 20)], most=100)
    (fitting,) = plan_compressions(long, [("a", name) for name in "bcdefg"], most=100)

    assert len(few.sources) == MOST
    assert 3 <= len(fitting.sources) <= LONGEST // 500


def _entry(entry_id: str, content: str) -> Entry:
    at = NOON + timedelta(hours=len(content))
    return Entry(id=entry_id, entry_type="knowledge", content=content, at=at)

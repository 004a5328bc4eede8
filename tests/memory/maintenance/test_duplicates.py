"""Duplicates: which entries say the same, and which never do however near they are."""

from datetime import UTC, datetime, timedelta

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.time_mentions import times_of
from mnestic.memory.maintenance.duplicates import Merge, joined, plan_merges
from tests.memory.tables import tables, wrong

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_the_same_words_are_merged_into_the_later_entry_and_others_are_none() -> None:
    rows = [
        (*texts, ((Merge("a", "b"),) if is_duplicate else (), ()))
        for *texts, is_duplicate in tables(__file__)["duplicates"]
    ]

    def plan(older: str, newer: str) -> object:
        return plan_merges([entry("a", older), entry("b", newer, days=1)])

    assert wrong(rows, plan) == []


def test_a_day_is_the_day_that_it_means() -> None:
    plan = plan_merges(
        [entry("a", "Today I went running."), entry("b", "Today I went running.", days=1)]
    )

    assert plan == ((), ())


def test_words_that_add_nothing_take_vectors_to_decide() -> None:
    plan = plan_merges(
        [
            entry("a", "Tea is good."),
            entry("b", "tea is good", days=1),
            entry("c", "Tea is really good!", days=2),
        ]
    )

    assert plan.certain == (Merge("a", "b"),)
    assert plan.likely == (Merge("b", "c"),)
    assert joined(plan.certain, plan.likely) == {"a": "c", "b": "c"}
    assert joined(plan.certain, ()) == {"a": "b"}


def test_critical_entries_stay() -> None:
    alarm = "Never open the red valve."

    plan = plan_merges(
        [entry("a", alarm, critical=True), entry("b", alarm, days=1), entry("c", alarm, days=2)]
    )

    assert set(plan.certain) == {Merge("b", "a"), Merge("c", "a")}
    assert plan_merges([entry("a", alarm, critical=True), entry("b", alarm, critical=True)]) == (
        (),
        (),
    )


def entry(name: str, content: str, *, days: int = 0, critical: bool = False) -> Entry:
    at = NOON + timedelta(days=days)
    return Entry(
        id=name,
        entry_type="knowledge",
        content=content,
        times=times_of(content, at=at),
        critical=critical,
        at=at,
    )

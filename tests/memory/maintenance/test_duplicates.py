"""Duplicates: which entries say the same, and which never do however near they are."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.time_mentions import times_of
from mnestic.memory.maintenance.duplicates import Merge, joined, plan_merges

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The boiler is in the cellar.", "the boiler is  in the cellar"),
        ("The boiler: it is in the cellar!", "The boiler, it is in the cellar."),
        ("We pay 1.5 euros.", "we pay 1.5 euros"),
        ("Ist die Tür zu?", "ist die tür zu ?"),
    ],
)
def test_the_same_words_are_merged_into_the_later_entry(older: str, newer: str) -> None:
    plan = plan_merges([entry("a", older), entry("b", newer, days=1)])

    assert plan.certain == (Merge("a", "b"),)
    assert plan.likely == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("See ticket 4812.", "See ticket 4899.", id="numbers"),
        pytest.param("It costs 3.5 euros.", "It costs 35 euros.", id="decimals"),
        pytest.param("It is -5 degrees.", "It is 5 degrees.", id="signs"),
        pytest.param("He writes C++.", "He writes C#.", id="signs of names"),
        pytest.param("Write to kim.lee@x.org.", "Write to kim lee@x.org.", id="addresses"),
        pytest.param("She eats nuts.", "She does not eat nuts.", id="negation"),
        pytest.param("The valve is open.", "The valve is open?", id="questions"),
        pytest.param("We moved to Bergen.", "We moved from Bergen.", id="prepositions"),
        pytest.param("Kim owes Lee money.", "Lee owes Kim money.", id="order"),
        pytest.param("We heat with oil.", "We heat with gas.", id="values"),
        pytest.param("I need vitamin A.", "I need vitamin.", id="letters"),
    ],
)
def test_what_differs_in_what_it_says_is_no_duplicate(one: str, other: str) -> None:
    plan = plan_merges([entry("a", one), entry("b", other, days=1)])

    assert plan == ((), ())


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

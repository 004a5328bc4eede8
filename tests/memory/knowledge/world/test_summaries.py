"""Summaries of categories, out of the facts that hold."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.knowledge.world.summaries import FEWEST_FACTS, LONGEST, summaries_of

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
CATEGORIES: tuple[Category, ...] = ("profile", "preferences", "work")


def fact(
    told: str, number: int, *, category: Category = "preferences", predicate: str = "likes"
) -> Fact:
    return Fact(
        id=f"f{number}",
        subject="Mara",
        predicate=predicate,
        object=told,
        category=category,
        cardinality="multi",
        status="active",
        confidence=0.9,
        valid_from=NOW + timedelta(days=number),
        claims=("c",),
    )


def test_a_summary_puts_what_is_said_of_one_subject_together() -> None:
    facts = [fact("tea", 1), fact("jazz", 3), fact("tripe", 2, predicate="dislikes")]

    (summary,) = summaries_of([*facts, fact("chess", 4).model_copy(update={"subject": "Tom"})])

    assert summary.text == "Tom: likes chess; Mara: likes jazz and tea, dislikes tripe"


def test_what_is_asked_for_is_in_no_summary() -> None:
    facts = [fact(str(number), number) for number in range(5)]

    assert summaries_of(facts, topics={"likes"}) == ()


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=300), st.sampled_from(CATEGORIES)), max_size=30)
)
def test_a_summary_is_short_and_tells_several_facts_the_latest_first(
    told: list[tuple[str, Category]],
) -> None:
    facts = [fact(each, number, category=category) for number, (each, category) in enumerate(told)]

    summaries = summaries_of(facts)

    for summary in summaries:
        newest = [one for one in reversed(facts) if one.category == summary.category]
        assert len(summary.text) <= LONGEST
        assert [one for one in newest if one in summary.facts] == list(summary.facts)
        assert len(summary.facts) >= FEWEST_FACTS

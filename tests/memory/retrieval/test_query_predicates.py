"""Which predicates a question asks for, by its words."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.knowledge.predicates import default_predicates
from mnestic.memory.retrieval.query_predicates import (
    named_predicates,
    query_entry_types,
    query_interval,
    query_predicates,
    query_tags,
    related_predicates,
    touched_predicates,
)


@pytest.mark.parametrize(
    ("question", "predicate"),
    [
        ("Where does live", "lives_in"),
        ("Where is home", "lives_in"),
        ("Which firm does work for", "employer"),
        ("What's job", "job_title"),
        ("How old is", "age"),
        ("Which pets are there", "pet"),
        ("Who is husband", "married_to"),
        ("favourite food", "favourite_food"),
        ("favorite color", "favourite_colour"),
        ("What hobbies does have", "hobby"),
    ],
)
def test_a_question_of_nothing_else_is_answered_whole(question: str, predicate: str) -> None:
    assert query_predicates(question.split(), number=1)[predicate] == 1


def test_words_of_any_script_may_name_a_predicate() -> None:
    assert {"schuhgröße", "любимый_чай"} <= named_predicates(["Schuhgröße", "любимый", "чай"])


def test_other_words_of_a_question_take_their_share() -> None:
    asked = query_predicates(["What", "food", "made", "employer", "happy"], number=4)

    assert asked["employer"] == pytest.approx(1 / 4)


def test_what_is_the_favourite_of_its_kind_needs_both_words() -> None:
    assert "favourite_food" not in query_predicates(["food"], number=1)
    assert "favourite_film" not in query_predicates(["favourite", "food"], number=2)


def test_what_somebody_eats_touches_what_is_their_favourite_food() -> None:
    assert {"eats", "favourite_food"} <= related_predicates(["eat"], number=1)
    assert "favourite_food" not in related_predicates(["eat", "train", "harbour"], number=3)
    assert related_predicates([], number=0) == frozenset()


def test_words_ask_for_tags_and_types_of_entries() -> None:
    assert query_tags(["What", "problems", "were", "there"]) == {"problem"}
    assert query_entry_types(["What", "problems", "were", "there"]) == {"type:error"}
    assert query_entry_types(["lessons"]) == {"type:learning"}
    assert query_tags(["the", "harbours", "a-b@example.com"]) == {"harbour"}


@pytest.mark.parametrize("words", [[], ["the", "of"], ["photosynthesis"]])
def test_a_question_about_something_else_asks_for_none(words: list[str]) -> None:
    assert query_predicates(words, number=len(words)) == {}


def test_each_default_is_asked_for_by_its_own_words() -> None:
    silent = {"comes_from", "knows_that", "is_a", "part_of", "said", "knows", "happens_on"}
    for name in default_predicates().by_name.keys() - silent:
        asked = query_predicates(name.replace("_", " ").split(), number=1)
        assert name in asked, name


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("What does like", {"likes"}),
        ("What did like", {"likes"}),
        ("What is like", set()),
        ("What was it like for", set()),
        ("does like to drink", {"drinks"}),
    ],
)
def test_like_is_asked_where_somebody_does_it_and_nothing_else_is(
    words: str, asked: set[str]
) -> None:
    assert set(query_predicates(words.split(), number=0)) == asked


def test_where_asks_for_no_predicate_without_a_place() -> None:
    assert "lives_with" not in query_predicates(["Where", "does", "live"], number=1)
    assert "lives_with" in query_predicates(["Whom", "live", "with"], number=1)
    assert "job_title" not in query_predicates(["Where", "does", "work"], number=1)
    assert "job_title" not in related_predicates(["Where", "does", "work"], number=1)
    assert "job_title" in touched_predicates(["Where", "does", "work"], number=1)
    assert "job_title" in query_predicates(["What", "does", "work"], number=1)


def test_what_is_so_is_asked_for_before_what_was_so_once() -> None:
    now = query_predicates(["Where", "does", "live"], number=1)
    before = query_predicates(["Where", "did", "live", "previously"], number=2)

    assert now["lives_in"] > now["lived_in"]
    assert before["lived_in"] > before["lives_in"]


def test_what_is_one_after_the_other_is_asked_of_all_of_a_time_that_is_past() -> None:
    year = (datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))
    moment = timedelta(microseconds=1)

    asked = query_interval(year, {"employer", "worked_at"}, now=year[1])

    assert asked == (year[0], year[1] - moment, {"employer", "worked_at"})
    assert query_interval(year, {"employer"}, now=year[1] - moment) is None
    assert query_interval(year, {"visited", "likes"}, now=year[1]) is None
    assert query_interval(None, {"employer"}, now=year[1]) is None

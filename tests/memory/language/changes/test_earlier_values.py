"""Which questions ask for what was so before something changed, and which texts say it."""

import pytest

from mnestic.memory.language.changes.change_words import stems_of
from mnestic.memory.language.changes.earlier_values import (
    boundary_spans,
    find_earlier_question,
    is_earlier_value,
)
from mnestic.memory.language.changes.update_texts import UpdateText


def _is_earlier(
    query: str, old: str, new: str, *, is_before: bool = True, names: str = "mara"
) -> bool:
    found = find_earlier_question(query, is_about_past=True)
    assert found is not None
    first, second = (UpdateText(text, query_stems=stems_of(query)) for text in (old, new))
    return is_earlier_value(
        first, second, boundary=found.boundary, is_before=is_before, names=stems_of(names)
    )


@pytest.mark.parametrize(
    ("query", "boundary"),
    [
        ("What did Mara ride before the Vespa?", {"vespa"}),
        ("Who ran the lab before Ingrid Falk?", {"ingrid", "falk"}),
        ("Which Django did we run before 4.2?", {"4", "2"}),
        ("Who did Ingrid Falk replace as head of the lab?", {"ingrid", "falk"}),
        ("Who was Tom's predecessor?", {"tom"}),
        ("Where did Mara live before she moved to Graz?", {"graz"}),
        ("When was the fair before it was moved?", set()),
        ("What was the former price?", set()),
    ],
)
def test_a_question_may_name_the_value_that_came_after(query: str, boundary: set[str]) -> None:
    found = find_earlier_question(query, is_about_past=True)

    assert found is not None
    assert found.boundary == boundary


def test_the_value_that_came_after_has_a_place_in_the_question() -> None:
    query = "Which Django did we run before 4.2?"

    assert [query[start:end] for start, end in boundary_spans(query)] == ["4.2?"]
    assert boundary_spans("Which Django do we run?") == ()


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("What did Mara ride before the Vespa?", "I rode a Puch.", "I ride a Vespa."),
        ("Who ran the lab before Ingrid Falk?", "Otto Berg runs the lab.", "Ingrid Falk runs the lab."),
        ("Which Django did we run before 4.2?", "We run Django 3.1.", "We upgraded to Django 4.2."),
        ("What did we drink before oat milk?", "We drink soy milk.", "We drink oat milk."),
        ("Who did Ingrid Falk replace as head of the lab?", "The head of the lab is Otto Berg.", "The head of the lab is Ingrid Falk."),
        ("What was Mara's former choir?", "My choir is Cantus.", "My choir is Vox."),
        ("Who was the caretaker earlier?", "The caretaker is Bo.", "The caretaker is Finn."),
    ],
)  # fmt: skip
def test_an_older_text_about_the_same_says_what_was_so_before(
    query: str, old: str, new: str
) -> None:
    assert _is_earlier(query, old, new)
    assert not _is_earlier(query, new, old, is_before=False)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("Which instrument did Mara previously play?", "I used to play the zither.", "I play the bassoon."),
        ("Where did Mara live before Graz?", "We lived in Linz.", "I live in Graz."),
        ("What did Mara formerly teach?", "I taught Latin until 2019.", "I teach Greek."),
    ],
)  # fmt: skip
def test_a_statement_in_the_past_tense_is_the_earlier_one_whatever_its_date(
    query: str, old: str, new: str
) -> None:
    assert _is_earlier(query, old, new, is_before=False)
    assert not _is_earlier(query, new, old, is_before=True)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("What did Mara ride before the Vespa?", "I feed the parrot.", "I ride a Vespa."),
        ("What did Mara eat before the concert?", "I eat lentils.", "After the concert I eat crisps."),
        ("Who ran the lab before Ingrid Falk?", "Otto Berg runs the choir.", "Ingrid Falk runs the lab."),
        ("Who was the caretaker earlier?", "The caretaker painted the hall.", "The caretaker is Finn."),
        ("When was the trip to Oslo before?", "The trip to Bari in May is on.", "The tour of Oslo is in June."),
    ],
)  # fmt: skip
def test_a_text_about_something_else_is_no_earlier_value(query: str, old: str, new: str) -> None:
    assert not _is_earlier(query, old, new)

"""A message is split into what it asks and what it remarks."""

import pytest

from mnestic.memory.retrieval.clauses import MOST_CLAUSES, is_question, split_clauses
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def texts(message: str, *, are_questions: bool) -> list[str]:
    return [one for one in split_clauses(message) if is_question(one) is are_questions]


@pytest.mark.parametrize("rule", CASES["questions"])
def test_the_questions_of_a_message_are_found(rule: str) -> None:
    rows = CASES["questions"][rule]

    assert wrong(rows, lambda message: texts(message, are_questions=True)) == []


def test_a_message_of_one_clause_or_of_one_statement_stays_as_it_is() -> None:
    clauses = {
        message: split_clauses(message) for message in (*CASES["whole"], *CASES["statements"])
    }

    assert [one for one, found in clauses.items() if found != (one,)] == []
    assert [one for one in CASES["statements"] if is_question(one)] == []


@pytest.mark.parametrize(
    "message", ["I am planning Ana's birthday. Any ideas?", "Ana went to Ghent.\nand her sister?"]
)
def test_a_question_that_says_too_little_goes_with_what_is_before_it(message: str) -> None:
    (clause,) = split_clauses(message)

    assert is_question(clause)
    assert clause.split() == message.split()


def test_beside_a_question_a_remark_of_few_words_is_left_out_unless_it_names_something() -> None:
    def remarks(message: str) -> list[str]:
        return texts(message, are_questions=False)

    assert remarks("A long day. What does Ana drink?") == []
    assert remarks("Dinner with Omar tonight. What does Ana drink?") == [
        "Dinner with Omar tonight."
    ]
    assert remarks("A long day.") == ["A long day."]


def test_of_many_clauses_the_questions_and_the_longest_remarks_are_kept_in_their_order() -> None:
    short = [f"Basket {number} holds apples." for number in range(20)]
    last = ["Where does Ana keep the red ladder?", "The harbour crane permit lapsed."]

    clauses = split_clauses(" ".join([*short, *last]))

    assert len(clauses) == MOST_CLAUSES
    assert clauses[-2:] == (*last,)

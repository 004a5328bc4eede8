"""Relatives: whom a question calls by somebody else."""

import pytest

from mnestic.memory.retrieval.possessive_references import find_possessive_references
from mnestic.memory.retrieval.query_parsing import parse_words
from tests.memory.retrieval.test_query_parsing import NOON


@pytest.mark.parametrize(
    ("text", "key", "predicate"),
    [
        ("Where does Mara's sister live?", "mara's sister", "sibling"),
        ("Where does Mara\u2019s mother live?", "mara's mum", "parent"),
        ("Where does Tom Hale's wife work?", "tom hale's wife", "married_to"),
        ("Where does Mara's younger brother live?", "mara's brother", "sibling"),
        ("Where does Mara's younger brother live?", "mara's younger brother", "sibling"),
        ("Where does the cousin of Mara live?", "mara's cousin", "cousin"),
        ("What is Mara's dog afraid of?", "mara's dog", None),
        ("What is Mara's sister's job?", "mara's sister", "sibling"),
    ],
)
def test_they_are_called_by_whose_they_are(text: str, key: str, predicate: str | None) -> None:
    found = [*find_possessive_references(parse_words(text, asked_at=NOON).words)]

    assert key in frozenset().union(*(one.keys for one in found))
    assert predicate in {one.predicate for one in found}


@pytest.mark.parametrize("text", ["Where does Mara live?", "What does the end of it mean?", "Mara"])
def test_without_an_owner_there_is_none(text: str) -> None:
    assert not [*find_possessive_references(parse_words(text, asked_at=NOON).words)]


def test_one_who_is_known_by_name_is_also_called_by_both() -> None:
    boss, *_ = find_possessive_references(
        parse_words("Where does Mara's boss live?", asked_at=NOON).words
    )

    assert {"dele", "dele (manager of mara"} <= boss.called("dele")


def test_the_relatives_of_a_relative_are_not_those_of_the_first() -> None:
    found = [
        *find_possessive_references(
            parse_words("Where does Mara's sister's husband work?", asked_at=NOON).words
        )
    ]

    assert all("mara" not in one.owners for one in found)

"""Names of a topic: what is typed to have something forgotten, and what is looked for then."""

from typing import Any

import pytest

from mnestic.memory.forgetting.topic_names import LONGEST_TOPIC, covers, parse_topic
from mnestic.memory.forgetting.topics import Topic
from tests.memory.tables import not_refused, tables, wrong

CASES = tables(__file__)


@pytest.mark.parametrize("rows", CASES["terms"].values(), ids=CASES["terms"])
def test_a_topic_has_the_terms_of_its_names(rows: list[Any]) -> None:
    assert wrong(rows, lambda text: [name.terms for name in parse_topic(text)]) == []


def test_an_identifier_is_matched_whole_in_each_form() -> None:
    assert (
        wrong(CASES["speaks"], lambda topic, text: Topic(parse_topic(topic), {}).is_in(text)) == []
    )


def test_a_topic_that_names_nothing_or_is_no_text_is_refused() -> None:
    more = [("x" * (LONGEST_TOPIC + 1), "1001 characters"), ("\ud800", "surrogate")]

    assert not_refused([*CASES["refused"], *more], parse_topic) == []


def test_a_wider_topic_covers_a_narrower_one() -> None:
    wide, narrow = parse_topic("Olena / +33 6 12 34 56 78"), parse_topic("Olena Koval")

    assert covers(wide, narrow)
    assert covers(wide, parse_topic("0033612345678"))
    assert not covers(narrow, wide)


def test_stop_words_do_not_count() -> None:
    (name,) = parse_topic("the trip to Paris, the trip")

    assert name.words == ("trip", "paris")

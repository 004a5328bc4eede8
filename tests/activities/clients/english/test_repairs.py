"""A message is put right before it is parsed, and each of its characters remembers where it stood."""

from pathlib import Path

import pytest
import yaml

from mnestic.activities.clients.english.repairs import repair

REPAIRS = yaml.safe_load(Path(__file__).with_name("repairs.yaml").read_text(encoding="utf-8"))


def test_letters_marks_and_clauses_are_put_right() -> None:
    for text, repaired in REPAIRS:
        assert repair(text).text == repaired


@pytest.mark.parametrize(
    ("text", "word"), [("aunt: Vera", "aunt"), ("quit the choir", "quit"), ("im from Bari", "from")]
)
def test_a_word_stands_where_it_did_also_behind_words_that_are_put_in(text: str, word: str) -> None:
    found = repair(text)
    start = found.text.index(word)

    span = found.span(start, start + len(word))

    assert text[span.start : span.end] == word


def test_names_that_are_known_get_their_capital_in_small_letters() -> None:
    assert repair("noa lives here", names={"Noa"}).text == "Noa lives here"

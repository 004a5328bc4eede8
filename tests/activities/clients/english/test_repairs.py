"""A message is put right before it is parsed, and each of its characters remembers where it stood."""

import pytest

from mnestic.activities.clients.english.repairs import repair


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("i live in Bari", "I live in Bari"),
        ("im tired, dont call", "I'm tired. Don't call"),
        ("I live in \U0001f1f3\U0001f1f4 Oslo", "I live in Oslo"),
        ("We live in Lund \U0001f1f8\U0001f1ea", "We live in Lund. "),
        ("I live in Bari now haha", "I live in Bari now. "),
        ("I live in Bari\nmy cat is Mio", "I live in Bari.\nMy cat is Mio"),
        ("I moved to Bari, I work at Enel", "I moved to Bari. I work at Enel"),
        ("If I move to Bari, I work at Enel", "If I move to Bari, I work at Enel"),
        ("btw my dads flat is big", "My dad's flat is big"),
        ("quit the choir", "I quit the choir"),
    ],
)
def test_letters_marks_and_clauses_are_put_right(text: str, repaired: str) -> None:
    assert repair(text).text == repaired


def test_a_span_points_at_the_words_as_they_were_typed() -> None:
    text = "omg im from \U0001f1ee\U0001f1f9 Bari lol"
    found = repair(text)
    start = found.text.index("Bari")

    span = found.span(start, start + len("Bari"))

    assert text[span.start : span.end] == "Bari"


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

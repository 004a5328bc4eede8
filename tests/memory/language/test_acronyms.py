"""Acronyms in a text, told from function words by how they are written."""

from mnestic.memory.language.acronyms import content_terms, find_acronyms
from tests.memory.tables import tables, wrong


def test_an_acronym_has_one_form_however_it_is_written_and_emphasis_is_none() -> None:
    rows = tables(__file__)["acronyms"]

    assert wrong(rows, lambda text: [one.key for one in find_acronyms(text)]) == []


def test_an_acronym_stands_where_it_was_found() -> None:
    text = "Ask the U.S. office."

    (one,) = find_acronyms(text)

    assert text[one.start : one.end] == "U.S."


def test_an_acronym_alone_says_something() -> None:
    assert content_terms("What about the WHO?") == ("who",)
    assert content_terms("what about the who?") == ()

"""Acronyms in a text, told from function words by how they are written."""

import pytest

from mnestic.memory.language.acronyms import content_terms, find_acronyms


def keys(text: str) -> list[str]:
    return [one.key for one in find_acronyms(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Call AT&T about the line.", ["at&t"]),
        ("Our IT desk closes early.", ["it"]),
        ("The WHO's list is new.", ["who"]),
        ("A depot in the US, another in the U.S. south", ["us", "us"]),
        ("Die Mensa am MIT ist gut.", ["mit"]),
        ("R&D and Q&A share the A/C.", ["r&d", "q&a", "a/c"]),
        ("He knows C++, C# and .NET.", ["c++", "c#", ".net"]),
        ("IT", ["it"]),
    ],
)
def test_an_acronym_has_one_form_however_it_is_written(text: str, found: list[str]) -> None:
    assert keys(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Who parked it for us?",
        "IT RAINS AND NOBODY HELPS US",
        "I did NOT say that.",
        "salt &amp; pepper, and/or oil",
        "NASA and IBM",  # words for text search
        "No. 5, see rfc#7 and x.NETWORK",
        "",
    ],
)
def test_words_and_emphasis_are_no_acronyms(text: str) -> None:
    assert keys(text) == []


def test_an_acronym_stands_where_it_was_found() -> None:
    text = "Ask the U.S. office."

    (one,) = find_acronyms(text)

    assert text[one.start : one.end] == "U.S."


def test_an_acronym_alone_says_something() -> None:
    assert content_terms("What about the WHO?") == ("who",)
    assert content_terms("what about the who?") == ()

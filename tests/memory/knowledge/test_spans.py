"""Where quoted words stand in a text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.knowledge.spans import QuotedText


def told(text: str, words: str) -> str | None:
    """The part of the text that the words' span holds."""
    span = QuotedText(text).find(words)
    return None if span is None else text[span.start : span.end]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("I live in Ghent.", "live in Ghent", "live in Ghent"),
        ("I live in Ghent.", "  I live in Ghent. ", "I live in Ghent."),
        ("I  live\n in\u00a0Ghent", "live in Ghent", "live\n in\u00a0Ghent"),
        ("I don\u2019t smoke", "don't smoke", "don\u2019t smoke"),
        ('He said "no"', "said \u201cno\u201d", 'said "no"'),
        (unicodedata.normalize("NFD", "In Malmö, Elin"), "Malmö", "Malmo\u0308"),
        ("In Malmö", unicodedata.normalize("NFD", "Malmö"), "Malmö"),
        (
            unicodedata.normalize("NFD", "서울에 살아요"),
            "서울에",
            unicodedata.normalize("NFD", "서울에"),
        ),
        ("Ghentbrugge, no: Ghent", "Ghent", "Ghent"),
        ("私はゲントに住んでいます", "ゲントに住んで", "ゲントに住んで"),
        ("aged 4, not 42", "4", "4"),
    ],
)
def test_words_that_are_there_are_found(text: str, words: str, found: str) -> None:
    assert told(text, words) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I live in Ghent.", "live in Bruges"),
        ("I live in Ghent.", "live at Ghent"),
        ("I live in Ghent.", "LIVE IN GHENT"),
        ("I live in Ghentbrugge.", "live in Ghent"),
        ("She is 42", "is 4"),
        ("Relive it", "live it"),
        ("I live. In Ghent", "live in Ghent"),
        ("I live in Ghent", "live … Ghent"),
        ("We met in cafe\u0301 Noir", "in cafe"),
        ("I live in Ghent", ""),
        ("I live in Ghent.", " . "),
        ("", "Ghent"),
        ("00\u093a", "00"),
        ("a 00\u093a", "a\t00"),
    ],
)
def test_words_that_are_not_there_are_not_found(text: str, words: str) -> None:
    assert told(text, words) is None


def test_the_place_is_that_of_whole_words_and_not_the_first_letters() -> None:
    span = QuotedText("Ghentbrugge is not Ghent").find("Ghent")

    assert span is not None
    assert span.start == 19


def plain(text: str) -> str:
    marks = {0x2018: "'", 0x2019: "'", 0x201B: "'", 0x02BC: "'"}
    marks |= {0x201C: '"', 0x201D: '"', 0x201F: '"'}
    return " ".join(unicodedata.normalize("NFC", text).translate(marks).split())


@given(st.text() | st.text("0\u093a e\u0301"), st.data())
def test_what_is_found_reads_as_what_was_quoted(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    words = text[start : data.draw(st.integers(start, len(text)))]

    found = told(text, words)

    assert found is None or plain(found) == plain(words)


@given(
    st.lists(st.sampled_from(["Ghent", "is", "Malmo\u0308", "don\u2019t", "서울", "4", "."])),
    st.data(),
)
def test_whole_words_are_always_found(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words)))
    quoted = plain(" ".join(words[first : data.draw(st.integers(first, len(words)))]))

    found = told("  \n ".join(words), quoted)

    assert (found is not None) == any(map(str.isalnum, quoted))


def test_a_long_text_is_searched_in_time() -> None:
    text = "I live in Ghent now. " * 50_000

    assert told(text, "I live\tin Ghent now") == "I live in Ghent now"
    assert told(text, "I live in Bruges now") is None

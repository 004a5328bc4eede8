"""Where quoted words stand in a text."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.knowledge.spans import QuotedText
from tests.memory.tables import tables, wrong


def told(text: str, words: str) -> str | None:
    """The part of the text that the words' span holds."""
    span = QuotedText(text).find(words)
    return None if span is None else text[span.start : span.end]


def test_words_are_found_where_they_stand_as_whole_words() -> None:
    span = QuotedText("Ghentbrugge is not Ghent").find("Ghent")

    assert wrong(tables(__file__)["found"], told) == []
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

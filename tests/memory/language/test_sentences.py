# ruff: noqa: RUF001 (marks of other scripts are meant)

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.sentences import cut_around, cut_text, split_sentences

TEXTS = {
    "titles and initials": (
        "Dr. Lee met J. R. Smith. He left.",
        ["Dr. Lee met J. R. Smith.", "He left."],
    ),
    "hours": (
        "It was 5 p.m. We left at 6 p.m. sharp.",
        ["It was 5 p.m.", "We left at 6 p.m. sharp."],
    ),
    "initials": (
        "I met J.R. Alvarez and T. S. Pell. It was in the U.S. It rained.",
        ["I met J.R. Alvarez and T. S. Pell.", "It was in the U.S.", "It rained."],
    ),
    "decimals and addresses": (
        "It cost 3.5 at example.com today.",
        ["It cost 3.5 at example.com today."],
    ),
    "numbered things": ("No. 5 is mine. No. I meant 6.", ["No. 5 is mine.", "No.", "I meant 6."]),
    "the word I": ("So do I. You too.", ["So do I.", "You too."]),
    "speech inside a sentence": ('"Really?" she asked. "Yes."', ['"Really?" she asked.', '"Yes."']),
    "French speech": ("« Où ? » dit-il. Rien.", ["« Où ? » dit-il.", "Rien."]),
    "ellipses": ("He nodded... then left… at last.", ["He nodded... then left… at last."]),
    "small letters": ("i moved. now i live in oslo", ["i moved.", "now i live in oslo"]),
    "Chinese": ("我搬到了上海。你呢？我很好！", ["我搬到了上海。", "你呢？", "我很好！"]),
    "Hindi": ("मैं ओस्लो में हूँ। तुम कहाँ हो?", ["मैं ओस्लो में हूँ।", "तुम कहाँ हो?"]),
    "Arabic": ("أين أنت؟ أنا هنا.", ["أين أنت؟", "أنا هنا."]),
    "a list": ("I like:\n1. Milk\n2. Bread", ["I like:", "1. Milk", "2. Bread"]),
    "marks alone": ("!!! … 🎉", []),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("text", "sentences"), TEXTS.values(), ids=TEXTS.keys())
def test_a_text_is_split_where_its_sentences_end(text: str, sentences: list[str]) -> None:
    found = split_sentences(text)

    assert list(found) == sentences


@pytest.mark.parametrize(
    ("text", "max_chars", "expected"),
    [
        ("One two. Three four.", 20, "One two. Three four."),
        ("One two. Three four.", 19, "One two."),
        ("abcdef ghijk lmnop", 10, "abcdef…"),
        ("abcdef ghijk lmnop", 13, "abcdef ghijk…"),
        ("我" * 50, 10, "我" * 9 + "…"),
        ("cafe\u0301 noir", 5, "caf…"),
        ("👩‍💻" * 3, 3, "…"),
        ("abc def", 1, "…"),
        ("abc def", 0, ""),
    ],
)
def test_a_text_is_cut_at_a_sentence_else_a_word_else_a_letter(
    text: str, max_chars: int, expected: str
) -> None:
    cut = cut_text(text, max_chars)

    assert cut == expected


@pytest.mark.parametrize(
    ("text", "least_chars", "expected"),
    [
        ("Title\nOne two three four", 10, "Title\nOne…"),
        ("Title\nOne two three four", 5, "Title"),
        ("One two. Three four", 8, "One two."),
    ],
)
def test_a_sentence_that_leaves_too_little_is_not_cut_after(
    text: str, least_chars: int, expected: str
) -> None:
    assert cut_text(text, 12, least_chars=least_chars) == expected


@pytest.mark.parametrize("text", ["One. " * 200_000, "." * 60_000 + "a", ("." * 900 + "a") * 900])
def test_only_the_beginning_of_a_long_text_is_looked_at(text: str) -> None:
    began = time.process_time()

    assert len(cut_text(text, 500)) <= 500
    assert time.process_time() - began < 0.5


def test_a_row_of_marks_is_looked_at_once() -> None:
    began = time.process_time()

    assert split_sentences("Well" + "." * 60_000 + "a. Yes.") == (
        "Well" + "." * 60_000 + "a.",
        "Yes.",
    )
    assert time.process_time() - began < 2


@given(
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_chars=st.integers(0, 60)
)
def test_a_cut_text_never_exceeds_its_cap(text: str, max_chars: int) -> None:
    cut = cut_text(text, max_chars)

    assert len(cut) <= max_chars


@given(text=st.text(alphabet="aB1 .!?…\"'()\n«»。", max_size=80))
def test_sentences_hold_every_letter_in_order(text: str) -> None:
    letters = [char for sentence in split_sentences(text) for char in sentence if char.isalnum()]

    assert letters == [char for char in text if char.isalnum()]


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("One is here. Two is.", "Two", "One is here. Two is."),
        ("One is here. Two is here. Three is.", "Two", "… Two is here. …"),
        ("One is here. Two is here. Three is here.", "", "One is here. …"),
        ("One is here. Two is here. Three is here.", "gone", "One is here. …"),
        ("One is here. Two is here. Three is here.", "Three", "… Three is here."),
        ("One. Two is. Three is. Four is here now.", "Two is", "One. Two is. …"),
        ("one two three four five six seven eight", "four", "… four five …"),
        ("我" * 50, "我" * 50, f"… {'我' * 16} …"),
    ],
)
def test_a_text_is_cut_around_a_part_at_sentences_else_words(
    text: str, part: str, expected: str
) -> None:
    assert cut_around(text, part, 20) == expected


@given(
    text=st.text(alphabet=st.sampled_from("aB1 .!?…\n。\u0301👩"), max_size=200),
    start=st.integers(0, 200),
    max_chars=st.integers(20, 60),
)
def test_what_is_cut_around_a_part_is_of_the_text_and_within_the_limit(
    text: str, start: int, max_chars: int
) -> None:
    part = text[start : start + 10]

    cut = cut_around(text, part, max_chars)

    assert len(cut) <= max_chars
    assert cut.removeprefix("… ").removesuffix(" …") in text


def test_only_the_surroundings_in_a_long_text_are_looked_at() -> None:
    text, began = f"{'One. ' * 200_000}Here it is. {'Two. ' * 200_000}", time.process_time()

    assert "Here it is." in cut_around(text, "Here", 500)
    assert time.process_time() - began < 0.5

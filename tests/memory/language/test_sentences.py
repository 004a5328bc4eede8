from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.sentences import cut_around, cut_text, split_sentences
from tests.memory.steps import steps_of
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def test_a_text_is_split_where_its_sentences_end() -> None:
    assert wrong(CASES["sentences"], lambda text: list(split_sentences(text))) == []


def test_a_text_is_cut_at_a_sentence_that_leaves_enough_else_a_word_else_a_letter() -> None:
    def cut(text: str, max_chars: int, least_chars: int) -> str:
        return cut_text(text, max_chars, least_chars=least_chars)

    assert wrong(CASES["cut"], cut) == []


def test_a_text_is_cut_around_a_part_at_sentences_else_words() -> None:
    assert wrong(CASES["around"], cut_around) == []
    assert cut_around("One is here. Two is here. Three is here.", "", 20) == "One is here. …"


def test_only_the_beginning_or_the_surroundings_in_a_long_text_are_looked_at() -> None:
    text = f"{'One. ' * 200_000}Here it is. {'Two. ' * 200_000}"

    assert "Here it is." in cut_around(text, "Here", 500)
    assert steps_of(lambda: cut_around(text, "Here", 500))["calls"] < 10_000
    assert steps_of(lambda: cut_text(text, 500))["calls"] < 10_000


@given(
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_chars=st.integers(0, 60)
)
def test_a_cut_text_never_exceeds_its_cap(text: str, max_chars: int) -> None:
    assert len(cut_text(text, max_chars)) <= max_chars


@given(text=st.text(alphabet="aB1 .!?…\"'()\n«»。", max_size=80))
def test_sentences_hold_every_letter_in_order(text: str) -> None:
    letters = [char for sentence in split_sentences(text) for char in sentence if char.isalnum()]

    assert letters == [char for char in text if char.isalnum()]


@given(
    text=st.text(alphabet=st.sampled_from("aB1 .!?…\n。\u0301👩"), max_size=200),
    start=st.integers(0, 200),
    max_chars=st.integers(20, 60),
)
def test_what_is_cut_around_a_part_is_of_the_text_and_within_the_limit(
    text: str, start: int, max_chars: int
) -> None:
    cut = cut_around(text, text[start : start + 10], max_chars)

    assert len(cut) <= max_chars
    assert cut.removeprefix("… ").removesuffix(" …") in text

"""Identifiers: which texts name one thing, in whichever written form, and which name another."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.identifiers import (
    Identifier,
    find_all_identifiers,
    find_identifiers,
    is_identifier_noun,
)
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def only(text: str) -> Identifier:
    return find_identifiers(text)[-1]


def texts_of(text: str) -> list[str]:
    return [one.text for one in find_identifiers(text)]


def test_written_forms_of_one_thing_are_the_same_in_both_directions() -> None:
    def is_same(one: str, other: str) -> bool:
        found, same = only(one), only(f"Is it ({other})?")
        return found.is_same(same) and same.is_same(found)

    assert [pair for pair in CASES["same"] if not is_same(*pair)] == []


def test_what_differs_in_a_character_is_another_thing() -> None:
    def is_same(one: str, other: str) -> bool:
        found, differs = only(one), only(other)
        return found.is_same(differs) or differs.is_same(found)

    assert [pair for pair in CASES["other"] if is_same(*pair)] == []


def test_codes_and_numbers_beside_each_other_or_beside_another_script_are_found() -> None:
    assert wrong(CASES["codes"], texts_of) == []


def test_dates_amounts_and_measures_are_no_identifiers() -> None:
    assert {text: texts_of(text) for text in CASES["none"] if texts_of(text)} == {}


def test_each_is_found_where_it_stands() -> None:
    text = "Mail alma@north.example, about ticket OPS-311 (v2.0); call +33 6 12 34 56 78 or @otto."

    found = find_identifiers(text)

    assert [(one.kind, text[one.start : one.end]) for one in found] == [
        ("email", "alma@north.example"),
        ("code", "OPS-311"),
        ("version", "v2.0"),
        ("phone", "+33 6 12 34 56 78"),
        ("handle", "@otto"),
    ]
    assert all(one.text == text[one.start : one.end] for one in found)


def test_a_url_has_identifiers_inside() -> None:
    def is_inside(url: str, inside: str) -> bool:
        return any(one.is_same(only(inside)) for one in find_all_identifiers(f"See {url}."))

    assert [row for row in CASES["inside"] if not is_inside(*row)] == []
    assert find_all_identifiers("ferry.example/times")[1:] == ()


def test_a_short_number_is_what_it_is_called() -> None:
    room, order, plain = only("room 412"), only("order no. 412"), only("#412")

    assert not room.is_same(order)
    assert room.is_same(plain)
    assert order.is_same(plain)


def test_nouns_say_of_which_kind_an_identifier_is() -> None:
    assert list(map(is_identifier_noun, ("ticket", "rechnung", "alma"))) == [True, True, False]


figures = st.text("0123456789", min_size=9, max_size=14).filter(lambda text: text[0] in "123456789")


@given(figures, st.sampled_from(["-", "/"]), st.integers(1, 8))
def test_figures_are_the_same_however_they_are_grouped(text: str, mark: str, place: int) -> None:
    grouped = f"{text[:place]}{mark}{text[place:]}"

    whole, parts = only(f"no. {text}"), find_identifiers(f"no. {grouped}")

    assert [one.is_same(whole) for one in parts] == [True]


@given(figures, figures)
def test_other_figures_are_never_the_same(one: str, other: str) -> None:
    assert only(f"id {one}").is_same(only(f"id {other}")) is (one == other)


words = st.text("abcdefghkmnprsuvwyz", min_size=2, max_size=8)
mails = st.builds("{}.{}@{}.example".format, words, words, words)


@given(mails, mails)
def test_an_address_is_the_same_in_any_case_alone(one: str, other: str) -> None:
    assert only(one.title()).is_same(only(one.upper()))
    assert only(one).is_same(only(other)) is (one == other)


codes = st.builds("{}-{}".format, words.map(str.upper), st.integers(0, 99_999))


@given(codes)
def test_a_code_is_the_same_with_and_without_its_mark(code: str) -> None:
    found = {one.key for form in (code, code.replace("-", "_")) for one in find_identifiers(form)}

    assert len(found) <= 1  # none where it is a part of a year, such as MAR-20


@given(st.text(max_size=300))
def test_any_text_is_taken_and_none_overlaps(text: str) -> None:
    found = find_identifiers(text)

    assert all(one.text == text[one.start : one.end] != "" for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(
    st.lists(
        st.sampled_from([one for pair in CASES["same"] for one in pair]), min_size=1, max_size=4
    )
)
def test_the_core_stands_in_every_written_form(texts: list[str]) -> None:
    for one, other in combinations([only(text) for text in texts], 2):
        if one.is_same(other) and other.text.isascii():
            left = "".join(filter(str.isalnum, other.text.lower()))
            assert one.core in left or other.core in one.core


def test_a_long_text_has_the_identifiers_of_its_parts() -> None:
    """It is read window by window; wherever these end, no identifier is lost, doubled or cut."""
    said = "ask mara@ferry.example about ticket OPS-311, IBAN DE89 3704 0044 0532 0130 00 or +33 6 12 34 56 78; "
    short = find_identifiers(said)
    many = 800

    found = find_identifiers(said * many)

    assert [one.key for one in found] == [one.key for one in short] * many
    assert all((said * many)[one.start : one.end] == one.text for one in found)


def test_identifiers_side_by_side_are_not_cut_by_a_window() -> None:
    cards = " ".join(f"{4000 + number} 1111 2222 {number:04}" for number in range(2000))

    assert len({one.key for one in find_identifiers(cards)}) == 2000

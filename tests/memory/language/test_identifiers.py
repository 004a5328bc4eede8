"""Identifiers: which texts name one thing, in whichever written form, and which name another."""

import time
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.identifiers import (
    Identifier,
    find_all_identifiers,
    find_identifiers,
    is_identifier_noun,
)

SAME = [
    ("1Z999AA10123456784", "1z999aa10123456784"),
    ("carla.m@posteo.example", "Carla.M@Posteo.EXAMPLE"),
    ("carla.m@posteo.example", "carla.m [at] posteo [dot] example"),
    ("carla.m@posteo.example", "carla dot m AT posteo dot example"),
    ("carla.m@posteo.example", "carla.m {at} posteo.example"),
    ("carla-m@mail.posteo.example", "carla-m -at- mail -dot- posteo -dot- example"),
    ("carla.m@posteo.example", "carla.m @ posteo.example"),
    ("carla.m@posteo.example", "EMAIL;TYPE=work:carla.m@posteo.example"),
    ("carla.m@posteo.example", "Carla Meyer <carla.m@posteo.example>"),
    ("carla.m@posteo.example", "carla.m+shop@posteo.example"),
    ("carla.m@posteo.example", '"carla.m"@posteo.example'),
    ("carla.m@posteo.example", "'carla.m'@posteo.example"),
    ("carla.m@posteo.example", "_carla.m@posteo.example_"),
    ("carla.m@posteo.example", "to=carla.m%40posteo.example&x=1"),
    ("carla.m@posteo.example", "carla.m&#64;posteo.example"),
    ("carla.m@posteo.example", "carla.m@posteo[.]example"),
    ("carla.m@posteo.example", "carla.m\u200b@posteo.\u00adexample"),
    ("carla.m@posteo.example", "carla.m+shop (at) posteo (dot) example"),
    ("rk_test_7Hd2Kp9Wz", "rk.test.7Hd2Kp9Wz"),
    ("rk_test_7Hd2Kp9Wz", "rk-test-7hd2kp9wz"),
    ("rk.test.7Hd2Kp9Wz", "7Hd2Kp9Wz"),
    ("AB12.CD34.EF56", "ab12-cd34-ef56"),
    ("3c.81.fe.07", "3c81fe07"),
    ("OPS-311", "#ops-311"),
    ("+33 6 12 34 56 78", "0033612345678"),
    ("+44 20 7946 0055", "TEL;TYPE=CELL:+44-20-7946-0055"),
    ("+44 20 7946 0055", "+44 (0) 20 79460055"),
    ("+44 20 7946 0055", "020 7946 0055"),
    ("+44 20 7946 0055", "(020) 7946-0055"),
    ("312-555-0188", "13125550188"),
    ("+33 6 12 34 56 78", "+33 (0)6.12.34.56.78"),
    ("+33 6 12 34 56 78", "06 12 34 56 78"),
    ("06/12.34.56.78", "0612345678"),
    ("+1 (312) 555-0188", "312-555-0188"),
    ("1-312-555-0188", "+13125550188"),
    ("312.555.0188", "3125550188"),
    ("5500 0000 0000 0004", "5500-0000-0000-0004"),
    ("5500 0000 0000 0004", "5500000000000004"),
    ("3400 000000 00009", "340000000000009"),
    ("5500 0000 0000 0004", "5500.0000.0000.0004"),
    ("5500 0000 0000 0004", "5500 0000 00000004"),
    ("NL91ABNA0417164300", "NL91.ABNA.0417.1643.00"),
    ("219-09-9999", "219099999"),
    ("219 09 9999", "219-09-9999"),
    ("NL91 ABNA 0417 1643 00", "NL91ABNA0417164300"),
    ("nl91-abna-0417-1643-00", "NL91 ABNA 0417 1643 00"),
    ("https://www.Ferry.example/times", "ferry.example/times/"),
    ("http://ferry.example:80", "ferry.example"),
    ("@Otto_K", "@otto_k"),
    ("OPS-311", "ops-311"),
    ("OPS-311", "OPS 311"),
    ("KL1021", "KL 1021"),
    ("INV-2023-07", "INV/2023/07"),
    ("v3.1.4", "version 3.1.4"),
    ("release 2.0", "v2.0"),
    ("2001:db8:0:0::7", "2001:0DB8::7"),
    ("00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7"),
    ("9f0c1c1e-6a39-4a0c-8df1-0d2f5b9a7c11", "9F0C1C1E6A394A0C8DF10D2F5B9A7C11"),
    ("order #88120", "88120"),
    ("Order no. 412", "order 412"),
    ("ticket 412", "#412"),
    ("Rechnung Nr. 90017", "invoice 90017"),
    ("85.07.30-033.28", "85073003328"),
    ("4111\u20111111\u20111111\u20111111", "4111\u00a01111\u00a01111\u00a01111"),
    ("\uff10\uff16 12 34 56 78", "06 12 34 56 78"),
    ("HH-KL 2093", "hhkl2093"),
    ("7B 40 16 QD", "7B4016QD"),
    ("7B 40 16 QD", "7b-40-16-qd"),
    ("Q9T4-88MX-KK20", "Q9T4 88MX KK20"),
    ("Q9T4-88MX-KK20", "q9t488mxkk20"),
    ("LX 2280 C", "lx-2280-c"),
    ("VC7-0042-X", "VC7 0042 X"),
]

OTHER = [
    ("1Z999AA10123456784", "1Z999AA10123456748"),
    ("9X12AB34", "9X12AB43"),
    ("carla.m@posteo.example", "carla@posteo.example"),
    ("alma@north.example", "alma.berg@north.example"),
    ("alma@north.example", "elma@north.example"),
    ("alma@north.example", "alma@north.example.org"),
    ("alma+news@north.example", "alma+shop@north.example"),
    ("alma+news@north.example", "elma@north.example"),
    ("alma@north.example", "north.example"),
    ("+33 6 12 34 56 78", "+33 6 12 34 56 79"),
    ("+33 6 12 34 56 78", "+34 612 34 56 78"),
    ("06 12 34 56 78", "06 12 34 56 7"),
    ("312-555-0188", "312-555-0189"),
    ("5500 0000 0000 0004", "5500 0000 0000 0040"),
    ("219-09-9999", "219-09-9998"),
    ("012-34-5678", "12345678"),
    ("NL91 ABNA 0417 1643 00", "NL91 ABNA 0417 1643 01"),
    ("ferry.example/times", "ferry.example"),
    ("ferry.example/times", "ferry.example/Times"),
    ("docs.ferry.example", "ferry.example"),
    ("@otto", "@otto_k"),
    ("OPS-311", "OPS-312"),
    ("OPS-311", "OPS-3110"),
    ("OPS-311", "DEV-311"),
    ("T-1731", "T-2713"),
    ("KL1021", "KL1012"),
    ("A1-23", "A12-3"),
    ("v3.1.4", "v3.1.40"),
    ("v1.2", "v1.2.0"),
    ("10.1.2.3", "10.1.2.30"),
    ("10.0.0.0/8", "10.0.0.0"),
    ("order #88120", "order #88121"),
    ("order 412", "room 412"),
    ("ticket 412", "#4120"),
    ("user_42", "user_421"),
    ("rk.test.7Hd2Kp9Wz", "rk.test.7Hd2Kp9Wx"),
    ("rk.test.7Hd2Kp9Wz", "rk.live.7Hd2Kp9Wz"),
    ("scale-annual-2026", "scale-monthly-2026"),
    ("HH-KL 2093", "HH-KL 2039"),
    ("7B 40 16 QD", "7B 40 61 QD"),
    ("7B 40 16 QD", "7B4061QD"),
    ("Q9T4-88MX-KK20", "Q9T4 88MX KK02"),
    ("LX 2280 C", "LX 2280 D"),
    ("X8842171", "X8842172"),
    ("x8842171", "h8842171"),
    ("8842171X", "8842172X"),
]

NONE = [
    "The card of 10x15cm, a 5km-run, 2h30m and 1080p60.",
    "A 12v-5a plug, a 50mm-f2 lens and the 10am-R2 slot.",
    "We meet on 3 July 2024 at 7:15, or on 2024-07-03, 03.07.2024, 7/3/24 or 03-07-2024.",
    "She was 20 in 2019-2023, a 20-year-old, 1.92 m tall, and ran 5km in 24min, the 3rd of 120.",
    "It costs $12,500 or 12500 EUR, 1.234.567,89, 1,000,000 or 50%, and pi is 3.14159265.",
    "An ultra of 250000m in 100000s, and a Q3 with 120000km.",
    "The mid-90s, Q3, FY24, the top-10, a 24-hour shop, 16GB and 5G at 100 km/h.",
    "The U.S. and e.g. node.js, README.md, a.b, and/or 24/7, TCP/IP; I met him.It rained.",
    "From 10:30:15 to 11:00, 3-4 times, 2 x 4, 10 20 30, and 1/2 of it.",
    "Look at the dot in the corner, at a dot or at dots; I met Ida at noon, 10 dot 5.",
    "",
    "I HAVE 2 CATS AND 3 DOGS, AND I AM 30. IN 2024 A FIRE BROKE OUT.",
]


def only(text: str) -> Identifier:
    return find_identifiers(text)[-1]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_written_forms_of_one_thing_are_the_same(one: str, other: str) -> None:
    found, same = only(one), only(f"Is it ({other})?")

    assert found.is_same(same)
    assert same.is_same(found)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_differs_in_a_character_is_another_thing(one: str, other: str) -> None:
    found, differs = only(one), only(other)

    assert not found.is_same(differs)
    assert not differs.is_same(found)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("SEATS A12 B14 C16", ["A12", "B14", "C16"]),
        ("LH1804 22 MAY", ["LH1804"]),
        ("WE MEET AT 10 IN B2", ["B2"]),
        ("room B2 0171 555 0133", ["B2", "0171 555 0133"]),
    ],
)
def test_codes_beside_each_other_are_not_one(text: str, codes: list[str]) -> None:
    assert [one.text for one in find_identifiers(text)] == codes


@pytest.mark.parametrize("text", NONE)
def test_dates_amounts_and_measures_are_no_identifiers(text: str) -> None:
    assert [(one.kind, one.text) for one in find_identifiers(text)] == []


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


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("https://tickets.example/browse/OPS-311", "OPS-311"),
        ("https://shop.example/?mail=alma%40north.example&x=1", "alma@north.example"),
        ("wa.me/33612345678", "+33 6 12 34 56 78"),
        ("http://10.1.2.3:8080/", "10.1.2.3"),
    ],
)
def test_a_url_has_identifiers_inside(url: str, inside: str) -> None:
    found = find_all_identifiers(f"See {url}.")

    assert any(one.is_same(only(inside)) for one in found)
    assert find_all_identifiers("ferry.example/times")[1:] == ()


def test_two_numbers_beside_each_other_are_two() -> None:
    found = find_identifiers("+33 (0)6/12.34.56.78 0612 34 56 79")

    assert [one.text for one in found] == ["+33 (0)6/12.34.56.78", "0612 34 56 79"]


@pytest.mark.parametrize(
    "text", ["番号はOPS-311です", "电话+33612345678。", "邮箱alma@north.example"]
)
def test_scripts_without_spaces_may_stand_beside_one(text: str) -> None:
    assert len(find_identifiers(text)) == 1


def test_a_short_number_is_what_it_is_called() -> None:
    room, order, plain = only("room 412"), only("order no. 412"), only("#412")

    assert not room.is_same(order)
    assert room.is_same(plain)
    assert order.is_same(plain)


@pytest.mark.parametrize(
    ("word", "says_a_kind"), [("ticket", True), ("rechnung", True), ("alma", False)]
)
def test_nouns_say_of_which_kind_an_identifier_is(word: str, says_a_kind: bool) -> None:
    assert is_identifier_noun(word) is says_a_kind


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


@given(st.lists(st.sampled_from([one for pair in SAME for one in pair]), min_size=1, max_size=4))
def test_the_core_stands_in_every_written_form(texts: list[str]) -> None:
    for one, other in combinations([only(text) for text in texts], 2):
        if one.is_same(other) and other.text.isascii():
            left = "".join(filter(str.isalnum, other.text.lower()))
            assert one.core in left or other.core in one.core


@pytest.mark.parametrize(
    "part", ["1-", "1'", "a.", "a@", "+1", "(0", "0 12 ", "1:", "http://", "1"]
)
def test_a_long_text_takes_time_by_its_length_alone(part: str) -> None:
    began = time.process_time()

    find_identifiers(part * (100_000 // len(part)))

    assert time.process_time() - began < 3


def test_a_long_text_has_the_identifiers_of_its_parts() -> None:
    """It is read window by window; wherever these end, no identifier is lost, doubled or cut."""
    said = "ask mara@ferry.example about ticket OPS-311, IBAN DE89 3704 0044 0532 0130 00 or +33 6 12 34 56 78; "
    short = find_identifiers(said)
    many = 800

    found = find_identifiers(said * many)

    assert [one.key for one in found] == [one.key for one in short] * many
    assert all((said * many)[one.start : one.end] == one.text for one in found)

"""The parser of English: kinds of messages that it must read, or leave alone, one sentence each."""

import pytest

from mnestic.activities.clients.english.classes import ValueClasses
from mnestic.activities.clients.english.conversations import claims_of
from mnestic.activities.clients.english.lexicon import load_lexicon
from mnestic.activities.clients.english.parsing import load_pipeline, parse, parser_memory
from mnestic.activities.clients.english.values import Values
from mnestic.memory.knowledge.extraction import Turn
from tests.activities.clients.english.claims import AT, last_claims, said


@pytest.mark.parametrize(
    "text",
    [
        "I'm 1.68 m tall.",
        "I'm 3.5 hours behind.",
        "I'm 12,000 words in.",
        "My cat is 4.2 kg.",
        "I'm 40 minutes late.",
        "I turned 90 degrees.",
    ],
)
def test_what_is_measured_is_no_age(text: str) -> None:
    assert not [claim for claim in last_claims(text) if claim[2] == "age"]


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I work at O'Neill.", "employer", "O'Neill"),
        ("I live in St. Gallen.", "lives_in", "St. Gallen"),
        ("I work for the U.S. Navy.", "employer", "U.S. Navy"),
        ("I like Marks & Spencer's.", "likes", "Marks & Spencer's"),
        ("I live in Ürümqi.", "lives_in", "Ürümqi"),
        ("My favourite band is E.L.O.", "favourite_band", "E.L.O."),
        ("I enjoy slow-cooked food.", "likes", "slow-cooked food"),
    ],
)
def test_no_object_ends_inside_a_word(text: str, predicate: str, value: str) -> None:
    assert ("affirmed", "Ada", predicate, value) in last_claims(text)


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Rome I'd be late.",
        "I wish I lived in Rome.",
        "My aunt thinks I live in Rome.",
        "Do I live in Rome?",
        "do i live in rome or in oslo",
        "I might move to Rome.",
        "I was going to move to Rome.",
        "It's not true that I live in Rome.",
        "I never said I live in Rome.",
        "They want me to live in Rome.",
        "`I live in Rome.`",
        "> I live in Rome.",
        "She wrote: I live in Rome.",
        "None of us lives in Rome.",
        "My phone thinks I am from Oslo and that I live in Rome.",
        "I used to sing and live in Rome.",
        "It's not like I live in Rome.",
    ],
)
def test_what_is_not_stated_is_no_fact(text: str) -> None:
    assert not [claim for claim in last_claims(text) if claim[::2] == ("affirmed", "lives_in")]


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("I live in Rome.", "I don't live in Rome any more.", ("ended", "lives_in", "Rome")),
        ("I drink coffee.", "I've stopped drinking coffee.", ("ended", "drinks", "coffee")),
        ("I play the harp.", "I gave up the harp.", ("ended", "plays", "harp")),
        ("I like figs.", "I hate figs.", ("ended", "likes", "figs")),
        ("I work at Shell.", "I left Shell for BP.", ("affirmed", "employer", "BP")),
        ("We fly to Oslo in May.", "The trip is off.", ("ended", "plans", "trip")),
    ],
)
def test_an_end_or_a_change_is_understood(
    before: str, text: str, expected: tuple[str, str, str]
) -> None:
    kind, predicate, value = expected

    assert (kind, "Ada", predicate, value) in last_claims(before, text)


@pytest.mark.parametrize(
    ("before", "text", "wrong", "right"),
    [
        ("My sister is called Lina.", "Sorry, I meant Nina.", "Lina", "Nina"),
        ("My friends are Ben and Tim.", "I meant Jim, not Tim.", "Tim", "Jim"),
        ("I live in Ghent.", "Not Ghent, Genk.", "Ghent", "Genk"),
        ("I speak Dutch and Finnish.", "Oops, I meant Danish, not Finnish.", "Finnish", "Danish"),
    ],
)
def test_a_correction_reaches_the_message_before_it(
    before: str, text: str, wrong: str, right: str
) -> None:
    claims = last_claims(before, text)

    assert [claim for claim in claims if claim[0] == "retracted" and claim[3] == wrong]
    assert [claim for claim in claims if claim[0] == "corrected" and claim[3] == right]


def test_what_was_said_before_a_turn_tells_whom_a_pronoun_means() -> None:
    first = Turn(
        session_id="s", source_id="m0", speaker="Ada", content="My sister Eva called.", at=AT
    )
    turn = Turn(
        session_id="s",
        source_id="m1",
        speaker="Ada",
        content="She lives in Lima.",
        at=AT,
        before=(first,),
    )

    ((claim,),) = claims_of([turn])

    assert (claim.subject, claim.predicate, claim.object) == ("Eva", "lives_in", "Lima")


def test_where_two_can_be_meant_a_pronoun_means_nobody() -> None:
    assert not last_claims("My sister Eva called, and my aunt Ida did. She lives in Lima.") & {
        ("affirmed", name, "lives_in", "Lima") for name in ("Eva", "Ida", "Ida (aunt of Ada)")
    }


def test_a_span_points_into_the_message_as_it_was_written() -> None:
    text = "Guess what! im vegan and my birthday\u2019s on the 4th of May."

    (claims,) = said(text)

    spans = {each.predicate: text[each.span.start : each.span.end] for each in claims}
    assert spans["diet"].startswith("im vegan")
    assert "birthday\u2019s on the 4th of May" in spans["birthday"]


def test_the_parser_forgets_the_words_that_it_has_seen() -> None:
    said("I live in Qwertzuhausen.")

    assert "Qwertzuhausen" not in load_pipeline().vocab.strings


def test_a_tools_record_is_read_by_its_fields_and_no_sentence_in_it() -> None:
    (claims,) = said('{"name": "Mo", "city": "Bonn", "note": "I live in Rome"}', kind="tool_result")

    assert [(each.subject, each.object) for each in claims] == [("Mo", "Bonn")]


def test_each_class_that_a_frame_asks_for_is_known() -> None:
    lexicon = load_lexicon()
    with parser_memory():
        (parsed,) = parse(["word"])
        classes = ValueClasses(Values(parsed, lexicon.grammar), lexicon)
        asked = {slot.word_class.rstrip("!") for slot in lexicon.all_slots() if slot.name != "none"}
        asked |= {frames.needs for frames in lexicon.predicates.values() if frames.needs}

        assert [
            one for one in sorted(asked) if not isinstance(classes.fits(parsed.doc[0], one), bool)
        ] == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Kim's email is kim@x.example", ("affirmed", "Kim", "email", "kim@x.example")),
        ("The email of Kim is kim@x.example", ("affirmed", "Kim", "email", "kim@x.example")),
        ("The birthday of Kim is on 3 May.", ("affirmed", "Kim", "birthday", "3 May")),
        ("The version of Kestrel is 2.2.", ("affirmed", "Kestrel", "version", "2.2")),
        ("Kestrel's version is 3.2 now.", ("affirmed", "Kestrel", "version", "3.2")),
    ],
)
def test_an_attribute_belongs_to_whom_it_is_said_of(text: str, claim: tuple[str, ...]) -> None:
    assert last_claims(text) == {claim}


def test_what_is_left_somewhere_ends_no_employment() -> None:
    assert last_claims("I work at Brunel.", "Left my umbrella at Brunel again.") == set()


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I don't want to become a pilot anymore.", ("ended", "Ada", "wants", "become pilot")),
        ("I've quit chess btw.", ("ended", "Ada", "plays", "chess")),
    ],
)
def test_a_word_behind_an_object_is_no_part_of_it(text: str, claim: tuple[str, ...]) -> None:
    assert claim in last_claims(text)


def test_a_date_behind_its_weekday_is_the_date() -> None:
    claim = ("affirmed", "Ada's exam", "happens_on", "2026-04-04")

    assert last_claims("My exam is on Saturday, 4 April at 14:00.") == {claim}
    assert last_claims("My exam was moved from Friday 3 April to Saturday 4 April.") == {claim}


def test_an_occasion_is_told_apart_from_others_of_its_kind() -> None:
    physics = ("affirmed", "Ada's exam in physics", "happens_on", "2026-04-04")

    assert last_claims("My exam in maths is on 3 April.", "My exam in physics is on 4 April.") == {
        physics
    }
    assert last_claims("The match against the Ravens is on 4 April.") == set()


@pytest.mark.parametrize(
    ("text", "is_partner"),
    [
        ("My business partner Omar is in Berlin.", False),
        ("Omar is my tennis partner.", False),
        ("My lab partner Omar broke the scale.", False),
        ("My dance partner is Omar.", False),
        ("My partner Omar is in Berlin.", True),
        ("My life partner Omar is in Berlin.", True),
        ("My new partner is Omar.", True),
    ],
)
def test_a_partner_in_something_is_another_relation(text: str, is_partner: bool) -> None:
    assert any(claim[2] == "partner" for claim in last_claims(text)) is is_partner

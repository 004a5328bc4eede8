"""The parser of English: each general frame, and what it must leave alone."""

import asyncio

import pytest

from mnestic.activities.clients.english.conversations import claims_of
from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.english.parsing import load_pipeline
from mnestic.memory.knowledge.extraction import Turn
from tests.activities.clients.english.claims import AT, last_claims, said
from tests.extraction.reworded import facts_of, turns_of


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("my landlord is Mrs Duarte", ("Ada", "landlord", "Mrs Duarte")),
        ("The code of the cellar is 8120.", ("cellar", "code", "8120")),
        ("Ivo's squad number is 31.", ("Ivo", "squad_number", "31")),
        ("my brother's cat is called Mog", ("Ada's brother", "pet", "Mog")),
        ("Teal is my favourite colour.", ("Ada", "favourite_colour", "Teal")),
        ("Our wifi password changed, its now otter-61", ("Ada", "wifi_password", "otter-61")),
        ("Kim's email is kim@x.example", ("Kim", "email", "kim@x.example")),
        ("Kim's locker code: 5518", ("Kim", "locker_code", "5518")),
        ("The birthday of Kim is on 3 May.", ("Kim", "birthday", "3 May")),
        ("Kestrel's version is 3.2 now.", ("Kestrel", "version", "3.2")),
    ],
)
def test_a_noun_that_somebody_or_something_has(text: str, claim: tuple[str, ...]) -> None:
    assert ("affirmed", *claim) in last_claims(text)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I row to the island", ("Ada", "rows_to", "island")),
        ("I repair clocks", ("Ada", "repairs", "clocks")),
        ("We swim every Sunday", ("Ada", "hobby", "swimming")),
        ("The bins go out on Tuesdays.", ("bins", "goes_out_on", "Tuesdays")),
        ("I work at O'Neill.", ("Ada", "employer", "O'Neill")),
        ("I live in St. Gallen.", ("Ada", "lives_in", "St. Gallen")),
        ("I can't stand opera", ("Ada", "dislikes", "opera")),
        ("Everyone calls me Vic.", ("Ada", "preferred_name", "Vic")),
        ("She's not here, I'm a welder at Kone", ("Ada", "job_title", "welder")),
        ("I moved to Turku last week", ("Ada", "lives_in", "Turku")),
    ],
)
def test_a_verb_with_its_object(text: str, claim: tuple[str, ...]) -> None:
    assert ("affirmed", *claim) in last_claims(text)


@pytest.mark.parametrize(
    "text",
    [
        "I wish I lived in Rome.",
        "If I lived in Rome, I would sing.",
        "Do I live in Rome?",
        "My aunt says I live in Rome.",
        "I might move to Rome.",
        "I was going to move to Rome.",
        "I never said I live in Rome.",
        "I didn't move to Rome.",
        "Next year I'm moving to Rome.",
        "I want to live in Rome.",
        "Imagine I live in Rome.",
    ],
)
def test_what_is_not_stated_is_no_fact(text: str) -> None:
    assert not {claim for claim in last_claims(text) if claim[0] == "affirmed"}


@pytest.mark.parametrize(
    "text", ["I'm 1.82 m tall.", "I'm 20,000 steps in.", "I turned 90 degrees."]
)
def test_what_is_measured_is_no_age(text: str) -> None:
    assert not {claim for claim in last_claims(text) if claim[2] == "age"}


@pytest.mark.parametrize(
    ("before", "text", "claim"),
    [
        ("I live in Rome.", "I don't live in Rome any more.", ("ended", "lives_in", "Rome")),
        ("I drink coffee.", "I've stopped drinking coffee.", ("ended", "drinks", "coffee")),
        ("I play the harp.", "I gave up the harp.", ("ended", "plays", "harp")),
        ("I like figs.", "I hate figs.", ("ended", "likes", "figs")),
        ("I drive a red Skoda.", "sold the Skoda", ("ended", "owns", "red Skoda")),
        ("I row to the island.", "I no longer row to the island.", ("ended", "rows_to", "island")),
        ("I work at Shell.", "I left Shell for BP.", ("affirmed", "employer", "BP")),
    ],
)
def test_an_end_or_a_change_is_understood(before: str, text: str, claim: tuple[str, ...]) -> None:
    kind, predicate, value = claim

    assert (kind, "Ada", predicate, value) in last_claims(before, text)


@pytest.mark.parametrize(
    ("before", "text", "wrong", "right"),
    [
        ("My friends are Ben and Tim.", "I meant Jim, not Tim.", "Tim", "Jim"),
        ("I live in Ghent.", "Not Ghent, Genk.", "Ghent", "Genk"),
        ("My sister is called Mary.", "typo, she's called Marie", "Mary", "Marie"),
        ("The code of the cellar is 8120.", "Sorry, 8102.", "8120", "8102"),
    ],
)
def test_a_correction_reaches_the_message_before_it(
    before: str, text: str, wrong: str, right: str
) -> None:
    claims = last_claims(before, text)

    assert [claim for claim in claims if claim[0] == "retracted" and claim[3] == wrong]
    assert [claim for claim in claims if claim[0] == "corrected" and claim[3] == right]


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("i'm allergic to figs not nuts", "figs", "nuts"),
        ("I'm a welder not a plumber.", "welder", "plumber"),
        ("our desk is 118 not 181", "118", "181"),
        (
            "my niece's school is St. Ann and Park, she's allergic to figs not nuts lol",
            "figs",
            "nuts",
        ),
        ("I drink black tea, not green tea, and I like figs.", "black tea", "green tea"),
    ],
)
def test_of_a_contrast_only_the_denied_value_is_taken_back(
    text: str, right: str, wrong: str
) -> None:
    found = {(kind, value) for kind, _, _, value in last_claims(text)}

    assert ("corrected", right) in found
    assert {value for kind, value in found if kind == "retracted"} == {wrong}


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (
            "My boss is Priya.",
            "haha my boss Priya just left, guess who does it all. not me. Sam does",
        ),
        ("My sister is Eva.", "My sister Eva isn't here."),
        ("My friend is Ben.", "Ben is not my brother."),
    ],
)
def test_a_verb_that_is_denied_corrects_nothing(before: str, text: str) -> None:
    assert not {
        claim for claim in last_claims(before, text) if claim[0] in {"retracted", "corrected"}
    }


@pytest.mark.parametrize(
    ("texts", "active"),
    [
        (("I have a cat called Mia.", "sorry, Mio"), {"Mio", "cat"}),
        (("I have a cat called Mia.", "sorry, Mio", "I mean Mie"), {"Mie", "cat"}),
        (("I like Wham", "typo, Whem", "I mean Whim lol"), {"Whim"}),
        (("My locker code is 2210.", "sorry, 2201", "wait no, 2210 was right"), {"2210"}),
    ],
)
def test_a_correction_may_be_corrected(texts: tuple[str, ...], active: set[str]) -> None:
    turns = turns_of({"say": [(0, "Ada", text) for text in texts]})

    facts = facts_of(turns, claims_of(turns), EnglishExtractor())

    assert {fact.object for fact in facts if fact.status == "active"} == active
    assert {fact.subject for fact in facts if fact.status == "active"} <= {"Ada", *active}


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


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("locker code: 12", ("Ada", "locker_code", "12")),
        ("city: Oslo", ("Ada", "city", "Oslo")),
        ("Employer: Lidl", ("Ada", "employer", "Lidl")),
        ("favourite tea = green", ("Ada", "favourite_tea", "green")),
        ("note: buy milk", None),
        ("Tom: Lisbon", None),
        ("warning: overflow", None),
        ("topic: Re: picnic", None),
        ("mum: 0151 496 0930", ("Ada's mother", "phone", "0151 496 0930")),
        ("boss: ben@x.example", ("Ada's boss", "email", "ben@x.example")),
        ("dentist: 0151 496 0930", ("Ada", "dentist", "0151 496 0930")),
        ("locker code = 31#7*", ("Ada", "locker_code", "31#7*")),
        ("alarm pin: Kiwi5!", ("Ada", "alarm_pin", "Kiwi5!")),
        ("order number: 7720-4", ("Ada", "order_number", "7720-4")),
        ("deposit: 700 EUR per room, due in May", ("Ada", "deposit", "700 EUR per room")),
    ],
)
def test_a_label_with_a_value_is_what_its_speaker_has(
    text: str, claim: tuple[str, str, str] | None
) -> None:
    assert last_claims(text) == ({("affirmed", *claim)} if claim else set())


@pytest.mark.parametrize(
    "text",
    [
        "Name: Nils Holt\nPhone: 0151 496 0930\nBirthday: 9 May\nCity: Bonn",
        "Tenant\nAge: 64",
        "Hi Ada,\nmy new address is 9 Oak Rd.\nBest,\nNils",
        "Am 7.11. schrieb Nils: I live in Bonn",
        "I'm 52 next month.",
        "My colleague is French.",
        "We pay the dog walker 15 quid.",
    ],
)
def test_what_is_of_others_or_of_another_time_is_no_fact_of_the_speaker(text: str) -> None:
    assert last_claims(text) == set()


def test_the_words_of_a_claim_hold_its_object() -> None:
    text = "I play the harp and I love swimming"

    (claims,) = said(text)

    assert all(str(one.object) in text[one.span.start : one.span.end] for one in claims)


def test_who_moves_from_one_place_to_another_lives_in_the_other() -> None:
    found = last_claims("I live in Kiel.", "I've moved from Kiel to Bonn.")

    assert ("lives_in", "Bonn") in {(each[-2], each[-1]) for each in found}


def test_what_is_left_somewhere_ends_no_employment() -> None:
    assert last_claims("I work at Brunel.", "Left my umbrella at Brunel again.") == set()


def test_messages_that_nobody_waits_for_give_the_parser_back() -> None:
    """The thread cannot be interrupted, so it ends by itself."""
    turns = [
        Turn(session_id="s", source_id=f"m{n}", speaker="Ada", content=f"I live in City{n}.", at=AT)
        for n in range(3)
    ]
    checks = iter(range(4))

    def check() -> None:
        if next(checks) == 3:  # all are parsed, and none is read
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        claims_of(turns, check=check)

    assert len(claims_of(turns)) == 3


@pytest.mark.parametrize(
    "text", ["I gave up my job at Enel.", "I dropped my job at Enel.", "I quit my job."]
)
def test_the_end_of_a_job_ends_nothing_else(text: str) -> None:
    found = last_claims("I work at Enel and I play the harp. I like figs.", text)

    assert {claim[:3] for claim in found} == {("ended", "Ada", "employer")}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I no longer work at Enel, now at Eni.", "Eni"),
        ("I don't teach at Enel any more but at Eni.", "Eni"),
        ("I no longer drive the Fiat, now a Seat.", "Seat"),
        ("quit Enel, now at Eni", "Eni"),
    ],
)
def test_what_takes_the_place_of_an_end_has_not_ended(text: str, value: str) -> None:
    found = last_claims("I work at Enel. I drive a Fiat.", text)

    assert found
    assert value not in {claim[3] for claim in found}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("My brother Leo's girlfriend is a chef.", ("Leo's girlfriend", "job_title", "chef")),
        ("My friend Ida's mum is 71.", ("Ida's mother", "age", "71")),
        ("My sister Eva's bike is a Gazelle.", ("Eva", "bike", "Gazelle")),
        ("My son Tim's dog is called Mog.", ("Tim", "pet", "Mog")),
        ("My cousin Lia's coach is Mrs Holt.", ("Lia", "coach", "Mrs Holt")),
    ],
)
def test_what_a_named_relative_has_is_of_nobody_else(
    text: str, claim: tuple[str, str, str]
) -> None:
    assert last_claims(text) == {("affirmed", *claim)}


@pytest.mark.parametrize(
    "text",
    [
        "I don't have a cousin called Nils.",
        "I wish I had a son called Otto.",
        "We thought of calling the puppy Mog.",
        "We nearly called our son Otto.",
        "Should I call my cat Mio",
        "My husband wants to name our daughter Eva.",
        "Nils is not my brother.",
        "My cat isn't called Mio.",
    ],
)
def test_a_relation_that_is_not_stated_is_no_fact(text: str) -> None:
    assert not {claim for claim in last_claims(text) if claim[0] in {"affirmed", "corrected"}}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("My sister Eva can't come.", ("Ada", "sibling", "Eva")),
        ("I don't know where my cat Mio hides.", ("Ada", "pet", "Mio")),
        ("We called our son Otto.", ("Ada", "child", "Otto")),
        ("We got a puppy called Mog.", ("Ada", "pet", "Mog")),
    ],
)
def test_a_name_right_behind_ones_relative_is_taken_for_granted(
    text: str, claim: tuple[str, str, str]
) -> None:
    assert ("affirmed", *claim) in last_claims(text)

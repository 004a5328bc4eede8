"""The parser of English: who somebody is, where they live and work, and what only sounds like it."""

import pytest

from tests.activities.clients.english.claims import last_claims


@pytest.mark.parametrize(
    "text",
    [
        "Greta was moved from Project Osprey to Project Kite.",
        "I moved to Team Nightjar.",
        "I was moved to Procurement.",
        "I moved from Finance to Legal.",
        "We moved to Notion.",
        "We moved to Room Birch.",
    ],
)
def test_nobody_lives_where_work_goes_on(text: str) -> None:
    assert last_claims(text) == set()


def test_a_name_keeps_the_adjective_that_it_begins_with() -> None:
    assert last_claims("I moved to New Plymouth.") == {
        ("affirmed", "Ada", "lives_in", "New Plymouth"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "I moved the piano to Antwerp.",
        "We moved our archive to Frankfurt last week.",
        "I've relocated my workshop to Bonn.",
        "I moved all my books out of Ghent.",
        "I'm moving the piano to Antwerp in May.",
    ],
)
def test_who_moves_a_thing_lives_nowhere_else(text: str) -> None:
    assert last_claims(text) == set()


def test_who_wants_to_move_a_thing_wants_that() -> None:
    assert last_claims("I want to move my bees to Antwerp.") == {
        ("affirmed", "Ada", "wants", "move bees to Antwerp")
    }


@pytest.mark.parametrize("text", ["We moved house to Antwerp.", "I moved to Antwerp last week."])
def test_who_moves_lives_elsewhere(text: str) -> None:
    assert last_claims(text) == {("affirmed", "Ada", "lives_in", "Antwerp")}


@pytest.mark.parametrize(
    ("text", "firm"),
    [
        ("I was let go by Siemens in January.", "Siemens"),
        ("I got let go by Siemens.", "Siemens"),
        ("I've been let go from Siemens.", "Siemens"),
        ("Siemens let me go yesterday.", "Siemens"),
        ("I was let go.", None),
    ],
)
def test_who_is_let_go_works_there_no_longer(text: str, firm: str | None) -> None:
    assert last_claims(text) == {("ended", "Ada", "employer", firm)}


@pytest.mark.parametrize(
    "text",
    [
        "I was told to go by Siemens.",
        "I wasn't let go by Siemens.",
        "I was let go by the police.",
        "My aunt let me go home.",
        "They let me go to the concert.",
    ],
)
def test_who_may_go_keeps_name_and_work(text: str) -> None:
    assert not [claim for claim in last_claims(text) if claim[2] in {"employer", "preferred_name"}]


@pytest.mark.parametrize(
    "text",
    [
        "Email tess@moss.example about the bill.",
        "Contact Bram at bram@moss.example.",
        "Ring 0470 98 76 54 for a plumber.",
        "Remind me to call 0470 98 76 54.",
        "Text my landlord on 0470 98 76 54.",
        "Please message my aunt at tess@moss.example.",
    ],
)
def test_whom_others_are_told_to_reach_is_not_the_speaker(text: str) -> None:
    assert last_claims(text) == set()


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("Text me on 0470 98 76 54.", "phone"),
        ("You can always reach us at 0470 98 76 54.", "phone"),
        ("Please use my new address, ada@moss.example.", "email"),
        ("Mail: ada@moss.example", "email"),
    ],
)
def test_how_the_speaker_is_reached_is_a_fact(text: str, predicate: str) -> None:
    assert [claim[1:3] for claim in last_claims(text)] == [("Ada", predicate)]


def test_twins_are_children_and_a_twin_is_a_sibling() -> None:
    assert {claim[2:] for claim in last_claims("Our twins are Kai and Noor.")} == {
        ("child", "Kai"),
        ("child", "Noor"),
    }
    assert last_claims("My twin is Noor.") == {("affirmed", "Ada", "sibling", "Noor")}


@pytest.mark.parametrize(
    ("text", "who", "predicate", "value"),
    [
        ("My mother-in-law is a baker.", "Ada's mother-in-law", "job_title", "baker"),
        ("My brother in law lives in Bath.", "Ada's brother-in-law", "lives_in", "Bath"),
        ("My daughter-in-law is Noor.", "Ada", "in_law", "Noor"),
        ("My step-mother is a baker.", "Ada's stepmother", "job_title", "baker"),
        ("My half-brother is a baker.", "Ada's half-brother", "job_title", "baker"),
    ],
)
def test_a_compound_relation_is_one_of_its_own(
    text: str, who: str, predicate: str, value: str
) -> None:
    assert last_claims(text) == {("affirmed", who, predicate, value)}


@pytest.mark.parametrize(
    "text",
    [
        "My ex-wife is a baker.",
        "My great-uncle is a baker.",
        "My great aunt is a baker.",
        "My great-granddaughter is a baker.",
        "She is a mother-in-law.",
    ],
)
def test_a_relation_at_one_remove_is_not_the_near_one(text: str) -> None:
    assert last_claims(text) == set()


def test_an_in_law_has_a_name_and_facts() -> None:
    assert last_claims("My son-in-law Kai lives in Bath.") == {
        ("affirmed", "Ada", "in_law", "Kai"),
        ("affirmed", "Kai (son-in-law of Ada)", "lives_in", "Bath"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "My daughter started at Willow Lane.",
        "Our kid started at Willow Lane Kindergarten last week.",
        "I started at Willow Lane Academy.",
    ],
)
def test_a_pupil_has_no_employer(text: str) -> None:
    assert not [claim for claim in last_claims(text) if claim[2] == "employer"]
    assert ("affirmed", "Ada", "employer", "Siemens") in last_claims("I started at Siemens.")


@pytest.mark.parametrize(
    "text",
    [
        "We live in Bath, our daughter in Ghent.",
        "My parents live near Spa, my brother near Genk.",
        "I moved to Spa, my son to Genk.",
    ],
)
def test_a_place_beside_somebody_is_no_name(text: str) -> None:
    assert not [claim for claim in last_claims(text) if claim[2] in {"child", "sibling"}]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("The flight to Lima is on 4 April.", "flight to Lima"),
        ("My flight from Bath to Lima is on 4 April.", "Ada's flight from Bath to Lima"),
        ("My flight to Lima was moved to 4 April.", "Ada's flight to Lima"),
        ("The meeting with Noor is on 4 April.", "meeting with Noor"),
        ("My meeting with Kai is on 4 April.", "Ada's meeting with Kai"),
        ("The interview at Siemens is on 4 April.", "interview at Siemens"),
        ("My trip to Peru with Kai is on 4 April.", "Ada's trip to Peru with Kai"),
        ("The launch of Hydra is on 4 April.", "Hydra's launch"),
        ("My dentist appointment is on 4 April.", "Ada's dentist appointment"),
    ],
)
def test_an_occasion_keeps_what_tells_it_apart(text: str, subject: str) -> None:
    assert last_claims(text) == {("affirmed", subject, "happens_on", "2026-04-04")}

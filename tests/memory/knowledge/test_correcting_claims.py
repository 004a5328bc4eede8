"""What a message takes back of what the same person said just before it."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.corrections.correcting_claims import (
    SURE,
    UNSURE,
    amended_claims,
    correcting_claims,
)
from mnestic.memory.knowledge.corrections.signs import amendment_spans, may_correct
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.facts import Fact

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
Found = set[tuple[str, str, float]]


def fact(predicate: str, value: str, *, subject: str = "Nora") -> Fact:
    return Fact(
        id=f"{subject}/{predicate}/{value}",
        subject=subject,
        predicate=predicate,
        object=value,
        category="knowledge",
        cardinality="multi",
        status="active",
        confidence=0.9,
        valid_from=NOON,
        claims=("c",),
    )


CHILD, OTHER_CHILD = fact("child", "Ilse"), fact("child", "Piet")
TOWN, PLAYS = fact("lives_in", "Breda"), fact("plays", "harp")
AGE, SPEAKS = fact("age", "41"), fact("languages_spoken", "Danish")
WEDDING, BIRTHDAY = fact("wedding_date", "2026-06-03"), fact("birthday", "12 May")


def claim(predicate: str, value: str, *, text: str, subject: str = "Nora") -> Extracted:
    start = text.index("I ")
    return Extracted(
        subject=subject, predicate=predicate, object=value, span=Span(start=start, end=len(text))
    )


def corrected(
    text: str, *facts: Fact, own: tuple[Extracted, ...] = (), is_next: bool = True
) -> Found:
    found = correcting_claims(text, own, said=[facts], is_next=is_next)
    return {(one.kind, one.object or "", one.confidence) for one in found}


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("Not Ilse, Elsa.", CHILD, "Elsa"),
        ("no, not Ilse but Elsa", CHILD, "Elsa"),
        ("Oops. It is Elsa rather than Ilse.", CHILD, "Elsa"),
        ("Whoops, not the harp \u2013 the lute!", PLAYS, "lute"),
        ("I meant to say Tilburg.", TOWN, "Tilburg"),
        ("Correction: Tilburg", TOWN, "Tilburg"),
        ("Oh sorry, 14", AGE, "14"),
        ("No, it\u2019s Ilsa.", CHILD, "Ilsa"),
        ("Make that the lute.", PLAYS, "lute"),
        ("I mean Delft.", TOWN, "Delft"),
        ("Sorry - it should be Delft", TOWN, "Delft"),
        ("Actually, not Breda, Tilburg.", TOWN, "Tilburg"),
        ("I said Breda, but it's Tilburg.", TOWN, "Tilburg"),
        ("Or rather, Tilburg.", TOWN, "Tilburg"),
        ("*Bredal", TOWN, "Bredal"),
        ("Lute, not harp.", PLAYS, "lute"),
        ("I misspoke, 14.", AGE, "14"),
        ("Sorry, I meant the 4th.", WEDDING, "2026-06-04"),
        ("Correction: 28 May", WEDDING, "2026-05-28"),
        ("No, not the 12th, the 13th.", BIRTHDAY, "13 May"),
    ],
)
def test_a_value_takes_the_place_of_the_wrong_one(text: str, wrong: Fact, right: str) -> None:
    assert corrected(text, wrong) == {
        ("retracted", wrong.object, SURE),
        ("corrected", right, SURE),
    }


def test_of_several_values_the_named_one_goes() -> None:
    found = corrected("Sorry, Elsa, not Ilse.", OTHER_CHILD, CHILD)

    assert found == {("retracted", "Ilse", SURE), ("corrected", "Elsa", SURE)}


@pytest.mark.parametrize(
    "text",
    [
        "Strike that.",
        "Please ignore my last message",
        "I was only joking :)",
        "That\u2019s not true.",
    ],
)
def test_a_withdrawal_takes_back_all_of_the_last_message(text: str) -> None:
    assert corrected(text, CHILD, TOWN) == {
        ("retracted", "Ilse", SURE),
        ("retracted", "Breda", SURE),
    }


@pytest.mark.parametrize(
    ("text", "is_next"),
    [
        ("I meant the other one.", True),
        ("Correction: the fourth floor", True),
        ("That's wrong.", False),
    ],
)
def test_a_correction_that_is_not_understood_leaves_doubt(text: str, is_next: bool) -> None:
    assert corrected(text, TOWN, CHILD, is_next=is_next) == {
        ("retracted", "Breda", UNSURE),
        ("retracted", "Ilse", UNSURE),
    }


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, Karel!",  # a person who is spoken to
        "Sorry for the delay.",
        "I am not in Breda this week, by the way.",
        "No, thanks.",
        "Wait a moment.",
        "The harp is lovely.",
        "No, I'm not in Breda this week.",
        "I thought that was wrong of them.",
        "I mean, seriously.",
        "It should be fun!",
        "I meant to call you earlier.",
        "We found a typo in the contract.",
        "She says I was joking.",
        "I said Breda, and I like it.",
        "Breda, not far from Tilburg.",
        "Actually, Karel!",
    ],
)
def test_other_messages_take_nothing_back(text: str) -> None:
    assert corrected(text, TOWN, CHILD, PLAYS) == set()


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("Sorry, I play the lute.", True),
        ("I misspoke: I play the lute.", True),
        ("Sorry, I also play the lute.", False),
        ("Sorry for being late! I play the lute.", False),
        ("No, I play the lute.", False),
        ("I play the lute.", False),
    ],
)
def test_another_value_of_the_same_replaces_where_it_is_a_correction(text: str, goes: bool) -> None:
    found = corrected(text, PLAYS, TOWN, own=(claim("plays", "lute", text=text),))

    assert found == ({("retracted", "harp", SURE)} if goes else set())


def test_a_list_takes_the_place_of_the_values_that_it_does_not_repeat() -> None:
    found = corrected(
        "Scratch that, Danish, Dutch and Faroese.", SPEAKS, fact("languages_spoken", "Finnish")
    )

    assert found == {
        ("retracted", "Finnish", SURE),
        ("corrected", "Dutch", SURE),
        ("corrected", "Faroese", SURE),
    }


def test_what_is_known_of_a_wrong_name_is_known_of_the_right_one() -> None:
    pet, kind = fact("pet", "Tiger"), fact("is_a", "cat", subject="Tiger")

    found = correcting_claims("My bad, she's called Tigger.", (), said=[[pet, kind]], is_next=True)

    assert [(one.kind, one.subject, one.object) for one in found] == [
        ("retracted", "Nora", "Tiger"),
        ("corrected", "Nora", "Tigger"),
        ("retracted", "Tiger", "cat"),
        ("corrected", "Tigger", "cat"),
    ]


@pytest.mark.parametrize(
    ("text", "value", "right"),
    [
        ("I live in Breda. Actually no, Tilburg.", "Breda", "Tilburg"),
        ("I live in Breda - no wait, Tilburg.", "Breda", "Tilburg"),
        ("I live in Breda, sorry, Tilburg.", "Breda", "Tilburg"),
        ("I live in Breda (I mean Tilburg).", "Breda", "Tilburg"),
        ("I play the harp. Not the harp, the lute.", "harp", "lute"),
        ("I live in Breda. Sorry, Karel!", "Breda", None),
        ("I live in Breda, sorry Karel.", "Breda", None),
        ("I live in Breda, no kidding.", "Breda", None),
        ("I live in Breda, and I'm Dutch.", "Breda", None),
    ],
)
def test_a_message_may_correct_itself(text: str, value: str, right: str | None) -> None:
    own = Extracted(
        subject="Nora",
        predicate="p",
        object=value,
        span=Span(start=0, end=text.index(value) + len(value)),
    )

    claims = [amended_claims(text, (own,), part) for part in amendment_spans(text)]

    assert [one.object for found in claims for one in found or ()] == ([right] if right else [])


def test_a_value_behind_a_name_may_be_another_name() -> None:
    text = "Nora lives in Breda, no wait, Uma."
    own = Extracted(subject="Nora", predicate="p", object="Breda", span=Span(start=0, end=19))

    (part,) = amendment_spans(text)

    assert amended_claims(text, (own,), part) is None


def test_what_the_extractor_understood_is_left_to_it() -> None:
    text = "Not the harp. I play the lute."
    own = claim("plays", "harp", text=text).model_copy(update={"kind": "retracted"})

    assert corrected(text, PLAYS, own=(own,)) == set()


def test_most_messages_need_no_look_at_those_before() -> None:
    assert not may_correct("My niece starts school in Breda on Monday, and we will celebrate.")

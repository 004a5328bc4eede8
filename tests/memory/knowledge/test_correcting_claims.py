"""What a message takes back of what the same person said just before it."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.corrections.correcting_claims import (
    SURE,
    UNSURE,
    correcting_claims,
    may_correct,
)
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
AGE = fact("age", "41")


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


def test_what_the_extractor_understood_is_left_to_it() -> None:
    text = "Not the harp. I play the lute."
    own = claim("plays", "harp", text=text).model_copy(update={"kind": "retracted"})

    assert corrected(text, PLAYS, own=(own,)) == set()


def test_most_messages_need_no_look_at_those_before() -> None:
    assert not may_correct("My niece starts school in Breda on Monday, and we will celebrate.")

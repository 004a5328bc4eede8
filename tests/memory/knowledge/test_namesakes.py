"""Who is meant by a name that several have."""

import pytest

from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.subjects import NamingMessage, separate_namesakes
from mnestic.memory.language.described_names import find_described_names
from mnestic.memory.retrieval.possessive_references import own_relatives


@pytest.mark.parametrize(
    ("text", "subject", "reference"),
    [
        ("My brother Otto lives in Graz.", "Otto (brother of Lena)", "Lena's brother"),
        ("our little pup Otto is 2", "Otto (dog of Lena)", "Lena's dog"),
        ("Kurt's cousin Otto called.", "Otto (cousin of Kurt)", "Kurt's cousin"),
        ("I have to feed my cat, called Otto, first.", "Otto (cat of Lena)", "Lena's cat"),
        ("Otto, my uncle, has retired.", "Otto (uncle of Lena)", "Lena's uncle"),
        ("Otto, my uncle in Graz, has retired.", "Otto (uncle of Lena)", "Lena's uncle"),
        (
            "Otto, my uncle \u2013 the baker \u2013 has retired.",
            "Otto (uncle of Lena)",
            "Lena's uncle",
        ),
        ("I met Otto from logistics.", "Otto from logistics", "Otto from logistics"),
        ("Otto from HR called.", "Otto from HR", "Otto from HR"),
        ("Otto from the gym is back.", "Otto from gym", "Otto from gym"),
    ],
)
def test_a_description_beside_a_name_says_who_it_is(
    text: str, subject: str, reference: str
) -> None:
    (found,) = find_described_names(text, speaker="Lena")

    assert (found.name.casefold(), found.subject, found.reference) == ("otto", subject, reference)


@pytest.mark.parametrize(
    "text",
    [
        "Otto is from now on our driver.",
        "Otto moved from Graz to Linz.",
        "My brother lives in Graz.",
        "My brother and Otto came along.",
        "I heard it from Otto.",
        "My dog Otto chased my cat Otto.",
        "Sorry, my brother sings.",
        "Otto, my sister's husband, is here.",
        "It rained. Yesterday, my dog barked.",
    ],
)
def test_without_one_or_with_two_nobody_is_described(text: str) -> None:
    assert find_described_names(text, speaker="Lena") == ()


def test_a_question_describes_the_askers_own() -> None:
    assert own_relatives("How old is my dog Otto?") == {"otto (dog of "}
    assert own_relatives("How old is Kurt's dog Otto?") == frozenset()


def message(text: str, *claims: tuple[str, str, str], speaker: str = "Lena") -> NamingMessage:
    extracted = tuple(
        Extracted(subject=subject, predicate=predicate, object=value, span=Span(start=0, end=1))
        for subject, predicate, value in claims
    )
    return NamingMessage(name_key(speaker), extracted, find_described_names(text, speaker=speaker))


def subjects(*messages: NamingMessage, known: dict[str, set[str]] | None = None) -> list[str]:
    separated = separate_namesakes(messages, known=known or {}, speakers=())
    return [claim.subject for claims in separated for claim in claims]


DOG = message("My dog Otto is 7.", ("Otto", "age", "7"))
BROTHER = message("My brother Otto lives in Graz.", ("Otto", "lives_in", "Graz"))
COLLEAGUE = message("Otto from logistics is 50.", ("Otto", "age", "50"))


def test_each_described_one_is_apart_where_there_are_several() -> None:
    assert subjects(DOG, BROTHER, COLLEAGUE) == [
        "Otto (dog of Lena)",
        "Otto (brother of Lena)",
        "Otto from logistics",
    ]
    assert subjects(DOG, known={"otto": {"otto (brother of lena"}}) == ["Otto (dog of Lena)"]


def test_the_only_one_of_a_name_needs_no_description() -> None:
    later = message("Otto moved to Linz.", ("Otto", "lives_in", "Linz"))

    assert subjects(BROTHER, later) == ["Otto", "Otto"]
    assert subjects(BROTHER, known={"otto": {"otto (brother of lena"}}) == ["Otto"]


def test_somebody_who_speaks_is_not_a_relative_of_that_name() -> None:
    speaker = message("I live in Wels.", ("Otto", "lives_in", "Wels"), speaker="Otto")

    assert subjects(BROTHER, speaker) == ["Otto (brother of Lena)", "Otto"]


def test_a_bare_name_that_contradicts_a_pet_is_somebody_else() -> None:
    bare = message("Otto is 34.", ("Otto", "age", "34"))
    same = message("Otto is 7.", ("Otto", "age", "7"))

    assert subjects(DOG, bare) == ["Otto (dog of Lena)", "Otto"]
    assert subjects(DOG, same) == ["Otto", "Otto"]

"""Who is meant by a name that several have."""

from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.subjects import NamingMessage, separate_namesakes


def message(*claims: tuple[str, str, str], speaker: str = "Lena") -> NamingMessage:
    extracted = tuple(
        Extracted(subject=subject, predicate=predicate, object=value, span=Span(start=0, end=1))
        for subject, predicate, value in claims
    )
    return NamingMessage(name_key(speaker), extracted)


def test_a_relation_to_somebody_says_who_a_name_is() -> None:
    (found,) = message(("Lena", "sibling", "Otto"), ("Otto", "lives_in", "Graz")).described

    assert (found.name, found.subject, found.is_pet) == ("Otto", "Otto (sibling of Lena)", False)


def test_without_a_relation_or_with_two_nobody_is_described() -> None:
    assert message(("Otto", "lives_in", "Graz")).described == ()
    assert message(("Lena", "pet", "Otto"), ("Lena", "sibling", "Otto")).described == ()


def subjects(*messages: NamingMessage, known: dict[str, set[str]] | None = None) -> list[str]:
    separated = separate_namesakes(messages, known=known or {}, speakers=())
    return [claim.subject for claims in separated for claim in claims]


DOG = message(("Lena", "pet", "Otto"), ("Otto", "age", "7"))
BROTHER = message(("Lena", "sibling", "Otto"), ("Otto", "lives_in", "Graz"))
COLLEAGUE = message(("Kurt", "colleague", "Otto"), ("Otto", "age", "50"), speaker="Kurt")


def test_each_described_one_is_apart_where_there_are_several() -> None:
    assert subjects(DOG, BROTHER, COLLEAGUE) == [
        *("Lena", "Otto (pet of Lena)"),
        *("Lena", "Otto (sibling of Lena)"),
        *("Kurt", "Otto (colleague of Kurt)"),
    ]
    known = {"otto": {"otto (sibling of lena"}}
    assert subjects(DOG, known=known) == ["Lena", "Otto (pet of Lena)"]


def test_the_only_one_of_a_name_needs_no_description() -> None:
    later = message(("Otto", "lives_in", "Linz"))

    assert subjects(BROTHER, later) == ["Lena", "Otto", "Otto"]
    assert subjects(BROTHER, known={"otto": {"otto (sibling of lena"}}) == ["Lena", "Otto"]


def test_somebody_who_speaks_is_not_a_relative_of_that_name() -> None:
    speaker = message(("Otto", "lives_in", "Wels"), speaker="Otto")

    assert subjects(BROTHER, speaker) == ["Lena", "Otto (sibling of Lena)", "Otto"]


def test_a_bare_name_that_contradicts_a_pet_is_somebody_else() -> None:
    bare = message(("Otto", "age", "34"))
    same = message(("Otto", "age", "7"))

    assert subjects(DOG, bare) == ["Lena", "Otto (pet of Lena)", "Otto"]
    assert subjects(DOG, same) == ["Lena", "Otto", "Otto"]

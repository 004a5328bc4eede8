"""The local extractor as a part: what it answers to any text, and how long it takes."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.activities.clients.rules.extractor import LocalExtractor, claims_of_turn
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.extraction import Extracted, Turn, TurnKind, claim_of
from mnestic.memory.ports import Extractor

AT = datetime(2024, 11, 9, 12, tzinfo=UTC)
WORDS = [
    "I",
    "my",
    "we",
    "she",
    "her",
    "Elin",
    "Tom",
    "Anna",
    "sister",
    "colleague",
    "live",
    "lives",
    "lived",
    "moved",
    "from",
    "to",
    "in",
    "Ghent",
    "the",
    "a",
    "and",
    ",",
    ".",
    "?",
    "!",
    "'",
    '"',
    "and",
    "but",
    "not",
    "never",
    "no",
    "longer",
    "if",
    "on",
    "Monday",
    "may",
    "3",
    "2024",
    "since",
    "for",
    "two",
    "years",
    "ago",
    "like",
    "love",
    "tea",
    "work",
    "at",
    "Acme",
    "as",
    "nurse",
    "used",
    "to",
    "want",
    "going",
    "called",
    "is",
    "am",
    "was",
    "born",
    "_",
    "(",
    ")",
    "\n",
    "don't",
    "I'm",
    "n't",
    "'s",
    "did",
    "another",
    "two",
    "same name",
    "but cancelled it",
    "then",
    ":",
]


def turn(content: str, kind: TurnKind = "message") -> Turn:
    return Turn(session_id="s", source_id="m", speaker="Mara", content=content, at=AT, kind=kind)


async def test_turns_are_answered_in_their_order() -> None:
    extractor: Extractor = LocalExtractor()

    found = await extractor.extract([turn("I live in Ghent."), turn("Hm."), turn("I like tea.")])

    assert extractor.name == "rules-1"
    assert [
        [each.object for each in claims if each.kind == "affirmed"] for claims in found.claims
    ] == [
        ["Ghent"],
        [],
        ["tea"],
    ]


async def test_a_message_on_which_a_rule_fails_is_refused_by_its_name() -> None:
    broken = Turn.model_construct(**{**dict(turn("I live in Ghent.")), "content": None})

    with pytest.raises(InvalidInputError, match=r"message s/m.*cannot be read by rules-1"):
        await LocalExtractor().extract([turn("I like tea."), broken])


def test_contractions_that_are_parted_are_read_as_well() -> None:
    claims = claims_of_turn(turn("I did n't move to Oslo. I do n't live in Rome any more."))

    assert [(each.kind, each.predicate, each.object) for each in claims] == [
        ("ended", "lives_in", "Rome")
    ]


def test_a_claim_is_made_once_and_has_the_words_that_say_so() -> None:
    said = "Well, I live in Ghent, and as I said: I live in Ghent."

    claims = claims_of_turn(turn(said))

    assert len(claims) == 1
    assert said[claims[0].span.start : claims[0].span.end] == "I live in Ghent"
    assert claim_of(claims[0], turn(said), extractor="rules-1").subject == "Mara"


@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_any_words_are_read_to_claims_with_a_span(content: str) -> None:
    for kind in ("message", "tool_result"):
        for claim in claims_of_turn(turn(content, kind)):
            assert 0 <= claim.span.start < claim.span.end <= len(content)
            assert claim.object is None or claim.object.strip()


@given(st.text(max_size=200))
def test_any_text_is_read(content: str) -> None:
    for kind in ("message", "tool_result"):
        assert all(isinstance(claim, Extracted) for claim in claims_of_turn(turn(content, kind)))


@pytest.mark.parametrize(
    "part",
    [
        "I live in Ghent. ",
        "I live in Ghent and ",
        "she lives in Rome. ",
        "my sister Elin, ",
        "My birthday is on 3 May. ",
        "'a ",
        '"a ',
        "Anna ",
        "I work at a b c ",
        "\n",
        "> a\n",
        "(",
        "_",
        "ignore ",
        "name: Bob\n",
    ],
)
def test_long_messages_are_read_in_linear_time(part: str) -> None:
    content = part * (50_000 // len(part))
    began = time.process_time()

    claims_of_turn(turn(content))
    claims_of_turn(turn(content, "tool_result"))

    assert time.process_time() - began < 1.5

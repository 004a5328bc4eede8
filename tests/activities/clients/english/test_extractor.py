"""The parser of English: each general frame, and what it must leave alone."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnestic.activities.clients.english.conversations import claims_of
from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.english.parsing import load_pipeline
from tests.activities.clients.english.claims import last_claims, said, turns
from tests.extraction.reworded import facts_of, turns_of

SENTENCES: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("sentences.yaml").read_text(encoding="utf-8")
)


def is_read(
    say: list[str],
    *,
    has: Sequence[Sequence[str]] = (),
    claims: Sequence[Sequence[str]] | None = None,
    lacks: Sequence[str] = (),
    corrects: str | None = None,
    retracts: str | None = None,
) -> bool:
    """Whether the last of some messages claims what it is to claim."""
    found = last_claims(*say)
    values = {kind: {claim[3] for claim in found if claim[0] == kind} for kind, *_ in found}
    return (
        {tuple(one) for one in has} <= found
        and (claims is None or found == {tuple(one) for one in claims})
        and not {part for claim in found for part in claim} & {*lacks}
        and (corrects is None or corrects in values.get("corrected", ()))
        and (retracts is None or retracts in values.get("retracted", ()))
        and (len(say) > 1 or retracts is None or values["retracted"] == {retracts})
    )


@pytest.mark.parametrize("kind", SENTENCES)
def test_sentences_of_a_kind_claim_what_they_state_and_nothing_else(kind: str) -> None:
    assert [case["say"] for case in SENTENCES[kind] if not is_read(**case)] == []


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
    messages = turns_of({"say": [(0, "Ada", text) for text in texts]})

    facts = facts_of(messages, claims_of(messages), EnglishExtractor())

    assert {fact.object for fact in facts if fact.status == "active"} == active
    assert {fact.subject for fact in facts if fact.status == "active"} <= {"Ada", *active}


def test_what_was_said_before_a_turn_tells_whom_a_pronoun_means() -> None:
    first, turn = turns("My sister Eva called.", "She lives in Lima.")

    ((claim,),) = claims_of([turn.model_copy(update={"before": (first,)})])

    assert (claim.subject, claim.predicate, claim.object) == ("Eva", "lives_in", "Lima")


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


def test_messages_that_nobody_waits_for_give_the_parser_back() -> None:
    """The thread cannot be interrupted, so it ends by itself."""
    messages = turns(*(f"I live in City{n}." for n in range(3)))
    checks = iter(range(4))

    def check() -> None:
        if next(checks) == 3:  # all are parsed, and none is read
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        claims_of(messages, check=check)

    assert len(claims_of(messages)) == 3

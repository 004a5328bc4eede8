"""The parser of English: each general frame, and what it must leave alone."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnestic.activities.clients.english.conversations import claims_of
from mnestic.activities.clients.english.parsing import load_pipeline
from tests.activities.clients.english.claims import last_claims, said, turns

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

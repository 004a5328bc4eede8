"""The local extractor as a part: what it answers to any text, and how long it takes."""

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnestic.activities.clients.english.conversations import claims_of
from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.extraction import ExtractionInput, TurnKind, valid_claims

AT = datetime(2024, 11, 9, 12, tzinfo=UTC)
_WORDS = (
    "I my we she her Elin Tom sister colleague live lives moved from to in Ghent the and , . ? ! ' \" but "
    "not never no longer if on Monday may 3 2024 since for two years ago like love tea work at Acme as "
    "nurse used want going called is am was born _ ( ) don't I'm n't 's did another same name then : ; - "
    "@ # 1.92 %"
)
WORDS = [*_WORDS.split(" "), "\n"]


def turn(content: str, kind: TurnKind = "message", *, source_id: str = "m") -> ExtractionInput:
    return ExtractionInput(
        session_id="s", source_id=source_id, speaker="Mara", content=content, at=AT, kind=kind
    )


async def test_a_message_on_which_the_parser_fails_is_refused_by_its_name() -> None:
    broken = ExtractionInput.model_construct(**{**dict(turn("I live in Ghent.")), "content": None})

    with pytest.raises(InvalidInputError, match=r"message s/m.*cannot be read by english-"):
        await EnglishExtractor().extract([broken])


async def test_the_process_goes_on_while_a_message_is_parsed() -> None:
    extractor = EnglishExtractor()
    await extractor.extract([turn("I live in Ghent.")])  # loads the parser
    texts = [turn("I live in Ghent and like tea. " * 60, source_id=str(n)) for n in range(4)]
    extracting = asyncio.create_task(extractor.extract(texts))
    ticks = 0

    while not extracting.done():
        await asyncio.sleep(0)
        ticks += 1

    assert ticks > 20


@settings(max_examples=40)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join), max_size=4))
def test_the_claims_of_any_words_quote_these_words(contents: list[str]) -> None:
    turns = [turn(content, source_id=str(n)) for n, content in enumerate(contents)]

    for each, claims in zip(turns, claims_of(turns), strict=True):
        assert all(0 <= claim.span.start < claim.span.end <= len(each.content) for claim in claims)
        assert valid_claims(claims, each)[1] == ()


@settings(max_examples=60)
@given(st.text(max_size=200))
def test_any_text_is_read(content: str) -> None:
    for kind in ("message", "tool_result"):
        assert len(claims_of([turn(content, kind)])) == 1

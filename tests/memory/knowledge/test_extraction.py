"""What an extractor tells, and what of it can be kept."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.extraction import Extracted, ExtractionInput, valid_claims

SAID = "I live in Ghent. I like tea."
TURN = ExtractionInput(
    session_id="s1",
    source_id="m1",
    speaker="Mara",
    content=SAID,
    at=datetime(2026, 3, 2, tzinfo=UTC),
)
LIVES = Extracted(subject="Mara", predicate="lives_in", object="Ghent", span=Span(start=0, end=15))


def test_what_stands_in_the_message_is_kept_once() -> None:
    likes = Extracted(subject="Mara", predicate="likes", object="tea", span=Span(start=17, end=28))
    ended = Extracted(kind="ended", subject="Mara", predicate="employer", span=Span(start=0, end=6))

    again = LIVES.model_copy(update={"object": "ghent", "span": Span(start=2, end=15)})

    assert valid_claims([LIVES, likes, again, ended], TURN) == ((LIVES, likes, ended), ())


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"span": Span(start=17, end=29)}, "words"),
        ({"span": Span(start=5, end=5)}, "words"),
        ({"span": Span(start=9, end=3)}, "words"),
        ({"span": Span(start=15, end=17)}, "words"),  # a full stop and a space
        ({"kind": "deleted"}, "person"),
        ({"object": None}, "object"),
        ({"object": None, "kind": "corrected"}, "object"),
        ({"object": " "}, "name"),
        ({"subject": "x" * 1001}, "name"),
        ({"subject": " "}, "name"),
        ({"valid_from": datetime(9999, 12, 31, 23, 59, tzinfo=UTC)}, "dates"),
        ({"valid_to": datetime(1, 1, 1, tzinfo=UTC)}, "dates"),
        (
            {
                "valid_from": datetime(2026, 1, 2, tzinfo=UTC),
                "valid_to": datetime(2026, 1, 1, tzinfo=UTC),
            },
            "dates",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_kept_is_refused_and_the_rest_stays(wrong: dict[str, Any], why: str) -> None:
    kept, refused = valid_claims([LIVES.model_copy(update=wrong), LIVES], TURN)

    assert kept == (LIVES,)
    assert len(refused) == 1
    assert why in refused[0]
    assert "Ghent" not in refused[0]


@pytest.mark.parametrize(
    ("subject", "value"),
    [("notes", "Ghent"), ("Notes", "Ghent"), ("notes's sister", "Ghent"), ("Tom", "notes")],
)
def test_words_of_nobody_claim_nothing_about_who_speaks(subject: str, value: str) -> None:
    said = TURN.model_copy(update={"speaker": "notes"})
    about_nobody = LIVES.model_copy(update={"subject": subject, "object": value})
    about_tom = LIVES.model_copy(update={"subject": "Tom"})

    kept, refused = valid_claims([about_nobody, about_tom], said)

    assert kept == (about_tom,)
    assert len(refused) == 1
    assert "nobody is named" in refused[0]
    assert valid_claims([about_nobody], TURN) == ((about_nobody,), ())

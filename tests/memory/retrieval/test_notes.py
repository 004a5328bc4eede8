"""Notes: sentences that state a value that facts have replaced are left out."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.retrieval.notes import Note, NoteResults, names_in, without_replaced

SPRING = datetime(2026, 3, 1, tzinfo=UTC)


def fact(value: str, **fields: Any) -> Fact:
    given = {
        "id": value,
        "subject": "Kim",
        "predicate": "lives_in",
        "object": value,
        "category": "profile",
        "cardinality": "single",
        "status": "archived",
        "confidence": 0.9,
        "valid_from": SPRING,
        "claims": ("c",),
    }
    return Fact.model_validate(given | fields)


OLD, NOW = fact("Ghent"), fact("Oslo", status="active")


@pytest.mark.parametrize(
    ("path", "content", "left"),
    [
        ("Team.md", "Kim lives in Ghent. She likes tea.", " She likes tea."),
        ("people/Kim.md", "# Kim\n- lives in ghent\n- likes tea", "# Kim\n\n- likes tea"),
        ("Team.md", "Kim moved from Ghent to Oslo.", "Kim moved from Ghent to Oslo."),
        ("Team.md", "Jo lives in Ghent.", "Jo lives in Ghent."),
        ("Team.md", "Kimberley drove to Ghent.", "Kimberley drove to Ghent."),
        ("Team.md", "Kim reads the Ghenter Post.", "Kim reads the Ghenter Post."),
    ],
)
def test_a_sentence_with_a_replaced_value_is_left_out(path: str, content: str, left: str) -> None:
    found = NoteResults(notes=(Note(path=path, content=content),))

    told = without_replaced(found, [OLD, NOW])

    assert [note.content for note in told.notes] == [left]
    assert [one.path for one in told.skipped] == ([path] if left != content else [])
    alone = without_replaced(
        NoteResults(notes=(Note(path="Kim.md", content="Lives in Ghent."),)), [OLD]
    )
    assert alone.notes == ()
    assert "facts were replaced" in alone.skipped[0].why


@pytest.mark.parametrize(
    "other",
    [
        fact("Ghent", cardinality="multi"),
        fact("Ghent", status="active"),
        fact("Ghent", end="faded"),
        fact("Gh"),
    ],
)
def test_what_no_fact_has_replaced_stays(other: Fact) -> None:
    found = NoteResults(notes=(Note(path="Kim.md", content="Lives in Ghent. Gh."),))

    assert without_replaced(found, [other, NOW]) == found


def test_names_are_capitalised_words_and_the_names_of_notes() -> None:
    notes = [Note(path="people/Jo Berg.md", content="met Kim van Dam. The end")]

    assert names_in(notes) == ("Jo Berg", "Kim", "Kim van Dam", "Dam", "The")

"""An answer takes over what the question before it asked for."""

import pytest

from mnestic.activities.clients.english.answers import statement_of
from mnestic.activities.clients.english.conversations import claims_of
from mnestic.memory.knowledge.extraction import Turn
from tests.activities.clients.english.claims import AT


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Which phone do you use?", "A Fairphone 5.", "My phone is A Fairphone 5."),
        ("And where do you work?", "Enel, since May.", "I work at Enel, since May."),
        ("How old is Ida?", "12, nearly 13", "Ida is 12 years old."),
        ("What's your surname?", "Rossi", "My surname is Rossi"),
        ("Are you allergic to anything?", "Yes, celery.", "I am allergic to celery."),
        ("So you live in Bari?", "No, Lecce.", "I live in Lecce."),
        ("Is Ida married?", "Yes, to Tom.", "Ida is married to Tom."),
        ("Do you live in Bari?", "Yes!", "I live in Bari."),
        ("Do you live in Bari?", "No.", None),
        ("Where do you live?", "Why do you ask?", None),
        ("Where do you live?", "I'd rather not say.", None),
        ("Where do you live?", "Haha", None),
        ("Where do you live?", "ok, thanks!", None),
        ("Where do you live?", "No comment", None),
        ("Where do you live?", "Same as before", None),
        ("Where do you   live?", "kiel", "I live in kiel"),
    ],
)
def test_question_and_answer_are_one_statement(
    question: str, answer: str, statement: str | None
) -> None:
    assert statement_of(question, answer) == statement


def test_the_claim_points_at_the_answer() -> None:
    asked, answered = (
        Turn(session_id="s", source_id=f"m{n}", speaker=who, content=text, at=AT)
        for n, (who, text) in enumerate([("bot", "Where do you work?"), ("Ada", "At Enel.")])
    )

    (claim,) = claims_of([asked, answered])[1]

    assert (claim.subject, claim.predicate, claim.object) == ("Ada", "employer", "Enel")
    assert answered.content[claim.span.start : claim.span.end] == "At Enel."


def test_nobody_answers_himself() -> None:
    turns = [
        Turn(session_id="s", source_id=f"m{n}", speaker="Ada", content=text, at=AT)
        for n, text in enumerate(["Where do you work?", "Enel."])
    ]

    assert claims_of(turns)[1] == ()


@pytest.mark.parametrize("name", ["Sven", "Mick", "Drew"])
def test_an_answer_is_a_name_also_where_a_parse_takes_it_for_a_verb(name: str) -> None:
    turns = [
        Turn(session_id="s", source_id=f"m{n}", speaker=who, content=text, at=AT)
        for n, (who, text) in enumerate([("bot", "Who are you married to?"), ("Ada", name)])
    ]

    assert {claim.object for claim in claims_of(turns)[1]} <= {name}

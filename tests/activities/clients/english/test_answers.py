"""An answer takes over what the question before it asked for."""

from pathlib import Path

import yaml

from mnestic.activities.clients.english.answers import statement_of
from tests.activities.clients.english.claims import last_claims, said

ANSWERS = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text(encoding="utf-8"))


def test_question_and_answer_are_one_statement() -> None:
    assert [
        (question, answer)
        for question, answer, statement in ANSWERS
        if statement_of(question, answer) != statement
    ] == []


def test_the_claim_points_at_the_answer_of_somebody_else() -> None:
    ((claim,),) = said("bot: Where do you work?", "At Enel.")[1:]

    assert (claim.subject, claim.predicate, claim.object) == ("Ada", "employer", "Enel")
    assert "At Enel."[claim.span.start : claim.span.end] == "At Enel."
    assert last_claims("Where do you work?", "Enel.") == set()

"""A person that two verbs share, where the second verb looks like a noun."""

import pytest

from tests.activities.clients.english.claims import said


@pytest.mark.parametrize(
    ("text", "predicate", "value", "words"),
    [
        ("I live in Porto and work at Farfetch.", "employer", "Farfetch", "work at Farfetch"),
        ("We live in Lyon and work at Sanofi.", "employer", "Sanofi", "work at Sanofi"),
        ("I'm from Pisa and now work at Piaggio.", "employer", "Piaggio", "now work at Piaggio"),
        ("I moved to Aarhus last year and work at Vestas.", "employer", "Vestas", "work at Vestas"),
        ("I live in Cork and work as a welder.", "job_title", "welder", "work as a welder"),
        ("I live in Cork, and work for Musgrave.", "employer", "Musgrave", "work for Musgrave"),
    ],
)
def test_both_verbs_claim_and_quote_whole_words(
    text: str, predicate: str, value: str, words: str
) -> None:
    (claims,) = said(text)

    found = {(one.predicate, one.object): text[one.span.start : one.span.end] for one in claims}
    assert found[predicate, value] == words
    assert len(found) == 2


@pytest.mark.parametrize(
    "text",
    [
        "I used to live in Porto and work at Farfetch.",
        "I would love to live in Porto and work at Farfetch.",
        "I never wanted to live in Porto and work at Farfetch.",
        "I live between home and work at Farfetch.",
        "I live in Porto and the work at Farfetch is done.",
        "I live in Porto and miss work at Farfetch.",
        "If I live in Porto and work at Farfetch, I am happy.",
        "Do I live in Porto and work at Farfetch?",
    ],
)
def test_a_noun_or_a_verb_of_what_is_not_so_claims_no_work(text: str) -> None:
    (claims,) = said(text)

    assert not [one for one in claims if one.predicate == "employer" and one.kind == "affirmed"]

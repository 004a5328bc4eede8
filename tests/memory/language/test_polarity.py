"""Questions for what somebody does not do ask for the opposite."""

import pytest

from mnestic.memory.language.polarity import without_negation


@pytest.mark.parametrize(
    ("text", "positive"),
    [
        ("What does Wim not like?", "What does Wim dislike?"),
        ("What doesn't Wim like?", "What does Wim dislike?"),
        ("Which films did Wim and Jonna not enjoy?", "Which films did Wim and Jonna dislike?"),
        ("which drinks do I never like", "which drinks do I dislike"),
    ],
)
def test_what_somebody_does_not_do_is_the_opposite(text: str, positive: str) -> None:
    assert without_negation(text) == positive


@pytest.mark.parametrize(
    "text",
    [
        "What does Wim like?",
        "What doesn't Wim eat?",
        "Doesn't Wim like celery?",
        "I do not like celery.",
        "What does Wim like, if not celery?",
        "Who can Wim not stand?",
        "What did Wim say? I do not like to guess.",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert without_negation(text) == text

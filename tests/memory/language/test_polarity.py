"""Questions for what somebody does not do, and texts that say the contrary of what a question asks for."""

import pytest

from mnestic.memory.language.polarity import contradicts, polarity_of, without_negation


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
    ("text", "written_out"),
    [
        ("What doesn't Wim eat?", "What does Wim not eat?"),
        ("What can\u2019t my brother eat?", "What can my brother not eat?"),
        ("Which food cannot Wim have?", "Which food can Wim not have?"),
        ("Who won't come on Friday?", "Who will not come on Friday?"),
        ("What isn't Wim allowed to drink?", "What is Wim not allowed to drink?"),
        ("When doesn't the ferry run?", "When does the ferry not run?"),
    ],
)
def test_a_shortened_not_is_a_word_of_its_own(text: str, written_out: str) -> None:
    assert without_negation(text) == written_out


@pytest.mark.parametrize(
    "text",
    [
        "What does Wim like?",
        "Doesn't Wim like celery?",
        "I do not like celery.",
        "What does Wim like, if not celery?",
        "Who can Wim not stand?",
        "What did Wim say? I do not like to guess.",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert without_negation(text) == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What can't Wim eat?", "I eat porridge every day."),
        ("What can Wim not eat?", "Wim usually eats porridge."),
        ("What is Wim not allowed to eat?", "I ate a pear for lunch."),
        ("What is Wim allergic to?", "I eat pears a lot."),
        ("What must Wim avoid?", "We drink cider on Sundays."),
        ("What does Wim eat?", "I can't eat celery."),
        ("What does Wim eat?", "I'm not allowed to eat celery."),
        ("What does Wim eat?", "I'm allergic to celery."),
        ("What does Wim drink?", "I never really drink milk."),
        ("What does Wim drink?", "I drink no milk."),
        ("What can Wim ride?", "I can\u2019t ride a horse."),
        ("What can't Wim ride?", "I can ride a pony."),
        ("Which lamps are not working?", "The lamps in the hall are working."),
        ("Which lamps are working?", "The lamp in the hall isn't working."),
        ("What does Wim like?", "I hate opera."),
        ("What does Wim dislike?", "I love opera."),
        ("When does Wim not train?", "I train on Mondays."),
    ],
)
def test_a_text_that_says_the_contrary_contradicts_the_question(question: str, text: str) -> None:
    asked = polarity_of(question)

    assert asked is not None
    assert contradicts(text, asked)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What can't Wim eat?", "I can't eat celery."),
        ("What can't Wim eat?", "My doctor says I'm not allowed to have milk."),
        ("What can't Wim eat?", "I'm allergic to celery."),
        ("What can't Wim eat?", "I have a celery allergy."),
        ("What can't Wim eat?", "Eating celery makes me ill."),
        ("What can't Wim eat?", "If I eat celery, I feel sick."),
        ("What can't Wim eat?", "I eat everything except celery."),
        ("What does Wim eat?", "I eat porridge every day."),
        ("What does Wim eat?", "I don't eat anything but porridge."),
        ("What does Wim eat?", "I don't eat meat. I eat fish."),
        ("What does Wim eat?", "Do you not eat fish?"),
        ("What does Wim eat?", "I don't eat meat anymore."),
        ("What does Wim eat?", "The ferry does not run in winter."),
        ("What is Wim allergic to?", "I'm allergic to celery."),
        ("Which lamps are not working?", "The lamp in the hall is broken."),
        ("What does Wim like?", "I don't hate opera."),
        ("What advice does Wim give?", "I never give up."),
        ("What did Wim write?", "I couldn't have written it without Jonna."),
    ],
)
def test_a_text_that_answers_or_leaves_it_open_does_not_contradict(
    question: str, text: str
) -> None:
    asked = polarity_of(question)

    assert asked is not None
    assert not contradicts(text, asked)


@pytest.mark.parametrize(
    "text",
    [
        "Does Wim eat celery?",
        "celery",
        "When does Wim eat?",
        "What did Wim do?",
        "What allergies does Wim have?",
        "What does Wim eat for his allergy?",
        "",
    ],
)
def test_other_questions_have_no_polarity(text: str) -> None:
    assert polarity_of(text) is None

"""Which sentences of a message state something, and whose words they are."""

import pytest

from mnestic.activities.clients.messages.pasted import mask_pasted
from mnestic.activities.clients.messages.sentences import sentences_of
from mnestic.activities.clients.messages.voices import is_speakers_voice


def stated(text: str, *, speaker: str = "Mara") -> list[str]:
    masked = mask_pasted(text)
    sentences = sentences_of(masked)
    voices = is_speakers_voice(sentences, text=masked, speaker=speaker)
    return [
        text[each.start : each.end]
        for each, is_own in zip(sentences, voices, strict=True)
        if each.is_stated and is_own
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We basically accepted the offer.",
        "I live on Iffley Road.",
        "I got a mighty oak in my garden.",
        "Tom's update: the boiler is fixed.",
    ],
)
def test_a_word_of_doubt_counts_only_as_a_whole_word(text: str) -> None:
    assert stated(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Maybe I live in Ghent.",
        "I moved to Ghent or something.",
        "I moved to Ghent, hahahah.",
        "I live in Ghent? ",
        "He sold the car, Tom said.",
        "Remember to buy milk.",
        "Picture this: I live in Ghent.",
        "[11:30 PM] Tom: I live in Ghent.",
        "My brother: I live in Ghent.",
    ],
)
def test_what_the_speaker_does_not_state_is_left_out(text: str) -> None:
    assert stated(text) == []


def test_a_correction_without_a_clause_takes_back_the_sentence_before_it() -> None:
    assert stated("I have a cat. I am 31. Actually 32.") == ["I have a cat.", "Actually 32."]


def test_a_label_of_another_person_holds_to_the_end_of_its_line() -> None:
    text = "Tom: I sold my car. I bought a bike.\nI took the bus."

    assert stated(text) == ["I took the bus."]


def test_a_title_in_quotation_marks_is_no_quotation() -> None:
    assert mask_pasted('Our dog is called "Sir Barks".') == "Our dog is called  Sir Barks ."
    assert mask_pasted('She shouted "Go Away".') == "She shouted _________."

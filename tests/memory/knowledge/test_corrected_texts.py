"""Which messages put right a value of an earlier one, where nothing but their words is known."""

import pytest

from mnestic.memory.knowledge.corrections.corrected_texts import corrects_text


@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        ("The code of the boathouse is 4417.", "Sorry, 4471."),
        ("The code of the boathouse is 4417.", "*4471"),
        ("The code of the boathouse is 4417.", "4471, I meant."),
        ("Brunch is at eleven.", "Oops, half past eleven."),
        ("The oboe lesson costs 40 francs.", "No, 45 francs."),
        ("Our florist is Tamm.", "Not Tamm, Tamme."),
        ("Our florist is Tamm.", "Rask, not Tamm."),
        ("Our florist is Tamm.", "I meant Rask."),
        ("The bins go out on Monday.", "Sorry, Tuesday."),
        ("The ladder is in the left shed.", "My mistake, the right shed."),
        ("We need onions for the soup.", "I meant leeks."),
    ],
)
def test_a_value_takes_the_place_of_one_like_it(earlier: str, text: str) -> None:
    assert corrects_text(text, earlier, is_next=True)


@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        ("The code of the boathouse is 4417.", "Sorry, 4417."),
        ("The code of the boathouse is 4417.", "Sorry, 10 minutes."),
        ("The code of the boathouse is 4417.", "Sorry, I was asleep."),
        ("The code of the boathouse is 4417.", "Is it 4471?"),
        ("Is the code 4417?", "Sorry, 4471."),
        ("Our florist is Tamm.", "Not now, Ida."),
        ("Our florist is Tamm.", "Sorry, Ida."),
        ("Our florist is Tamm.", "I mean it!"),
        ("Our florist is Tamm.", "Sorry, 4471."),
        ("The soup needs salt.", "Sorry, the soup burnt."),
        ("The bins go out on Monday.", "Oops, the lid fell off."),
        ("The code is 4417. Ida brings the soup.", "Sorry, 4471."),
    ],
)
def test_what_only_sounds_like_a_correction_takes_no_place(earlier: str, text: str) -> None:
    assert not corrects_text(text, earlier, is_next=True)


def test_a_value_of_another_kind_takes_the_place_in_the_last_message_alone() -> None:
    assert not corrects_text("I meant leeks.", "We need onions for the soup.", is_next=False)

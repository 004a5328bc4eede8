"""Which later texts say what has become of something that an earlier one says."""

import pytest

from mnestic.memory.language.changes.change_words import stems_of
from mnestic.memory.language.changes.earlier_values import find_earlier_question
from mnestic.memory.language.changes.update_texts import UpdateText, requested_order
from mnestic.memory.language.changes.updates import Update, update_of


def update(ask: str, old: str, new: str, *predicates: str, speaker: str = "") -> Update | None:
    stems, states = stems_of(ask), frozenset(predicates)
    return update_of(
        UpdateText(old, query_stems=stems, predicates=states),
        UpdateText(new, query_stems=stems, predicates=states, speaker=speaker),
    )


@pytest.mark.parametrize(
    ("ask", "old", "new"),
    [
        ("Where does Rika work?", "I work at Fokker.", "resigned from fokker, it was time"),
        ("Where does Rika work?", "I work at Fokker.", "Big news: I finally quit Fokker!"),
        ("Who is Rika engaged to?", "I'm engaged to Bram.", "Bram and I split up."),
        ("Where is the dinner?", "The dinner is in Ghent.", "Not Ghent, Genk."),
        ("Which crew has Olga?", "Olga has the juniors.", "Olga was transferred from the juniors to the masters."),
        ("When is the regatta?", "The regatta is on 14 August.", "The regatta has been called off."),
        ("Who is our account manager?", "Els is our account manager.", "Els left, Joris is taking over."),
        ("Does Ana like sushi?", "Ana loves sushi.", "Ana has gone off sushi."),
        ("Does Ravi drink coffee?", "Ravi drinks four coffees a day.", "Ravi gave up coffee in January."),
        ("Where is the workshop?", "The workshop is in Ostend.", "The workshop is not in Ostend, it's in Knokke."),
        ("Which room is it?", "The meeting room is Oak.", "Elm, not Oak."),
    ],
)  # fmt: skip
def test_a_word_of_an_ending_beside_the_old_value_or_the_thing_is_an_update(
    ask: str, old: str, new: str
) -> None:
    assert update(ask, old, new) == "ended"


@pytest.mark.parametrize(
    ("ask", "old", "new"),
    [
        ("Where does Rika work?", "I work at Fokker.", "Left my umbrella at Fokker."),
        ("Where does Rika work?", "I work at Fokker.", "My brother quit Fokker."),
        ("Does Ana like sushi?", "Ana loves sushi.", "Bea has gone off sushi."),
        ("Does Ana like sushi?", "Ana loves sushi.", "Ana has gone off olives."),
        ("When is the concert?", "The concert is on Friday.", "I left the concert early."),
        ("Where does Ana live?", "Ana lives in Ghent.", "Ana left."),
        ("Where does Rika work?", "I work at Fokker.", "She quit Fokker, by the way."),
        ("Where does Rika work?", "I work at Fokker.", "The printer at Fokker died."),
        ("Who is Rika engaged to?", "I'm engaged to Bram.", "Bram and I sold the caravan."),
        ("Who is Rika engaged to?", "I'm engaged to Bram.", "Bram's parents got divorced."),
        ("When is the concert?", "The concert is on Friday.", "The match was called off, so we saw the concert on TV."),
        ("Where is the dinner?", "The dinner is in Ghent.", "Not sure about the dinner in Ghent, honestly."),
    ],
)  # fmt: skip
def test_a_word_of_an_ending_beside_something_else_updates_nothing(
    ask: str, old: str, new: str
) -> None:
    assert update(ask, old, new) is None


def test_a_speaker_ends_nothing_of_another_speaker() -> None:
    ask, old, new = "Where does Rika work?", "I work at Fokker.", "I quit Fokker."

    assert update(ask, old, new) == "ended"
    assert update(ask, old, new, speaker="joost") is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The boathouse code is 3317.", "The boathouse code is 8054."),
        ("The treasurer is Astrid.", "The treasurer is now Ville."),
    ],
)
def test_the_same_with_another_value_is_a_restatement(old: str, new: str) -> None:
    ask = "What is the boathouse code, and who is the treasurer?"

    assert update(ask, old, new) == "restated"


@pytest.mark.parametrize(
    ("ask", "old", "new"),
    [
        ("When is my birthday?", "My birthday is on 3 May.", "There is one slice left of my birthday cake."),
        ("Where is the office in York?", "The office in York is in Mill Street.", "The office in New York is in Pine Street."),
        ("How much is the Lisbon hotel?", "The Lisbon hotel costs 90 euros.", "The Porto hotel now costs 120 euros."),
        ("What does Rika like?", "I like tea.", "I like chess now."),
        ("Which room is mine?", "Room 4 is free.", "Room 7 is free."),
        ("How far did I run?", "I ran 5 km.", "I ran 8 km."),
        ("When is a workshop?", "There is a workshop at 10.", "There is a workshop at 15."),
        ("Who is the treasurer?", "The treasurer is Astrid.", "The treasurer is Ville."),
        ("What is Rika's code?", "My code is 3317.", "Her code is 8054."),
    ],
)  # fmt: skip
def test_a_text_about_something_else_updates_nothing(ask: str, old: str, new: str) -> None:
    assert update(ask, old, new) is None


def test_a_state_changes_in_other_words_than_it_was_said_in() -> None:
    old, new = "I live in Zwolle.", "finally relocated to Assen"

    assert update("Where does Rika live?", old, new, "lives_in") == "changed"
    assert update("What does Rika eat?", old, new, "eats") is None
    assert update("Where does Rika live?", old, "My sister moved to Assen.", "lives_in") is None
    assert update("Where does Rika live?", old, "Moved the sofa to the attic.", "lives_in") is None


@pytest.mark.parametrize(
    "new",
    [
        "We moved to Asana for project tracking.",
        "I moved to the Premium plan of the gym.",
        "We relocated to the sales team.",
    ],
)
def test_who_moves_to_a_tool_a_plan_or_a_team_lives_where_they_did(new: str) -> None:
    assert update("Where does Rika live?", "I live in Mons.", new, "lives_in") is None


@pytest.mark.parametrize(
    "text",
    [
        "What was our CRM before Pipedrive?",
        "Who used to be the lead?",
        "What was the old password?",
    ],
)
def test_some_questions_ask_for_what_was_so_before(text: str) -> None:
    assert find_earlier_question(text, is_about_past=True) is not None


@pytest.mark.parametrize(
    ("text", "is_about_past"),
    [
        ("How old is Kim?", False),
        ("Who is the lead?", False),
        ("What should I pack before the trip?", False),
        ("Was he five years old?", True),
    ],
)
def test_others_do_not(text: str, is_about_past: bool) -> None:
    assert find_earlier_question(text, is_about_past=is_about_past) is None


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("What is the last thing Wim lent to Jonna?", "latest"),
        ("What is the most recent offer?", "latest"),
        ("Who was the first person that Wim met?", "first"),
        ("What is Wim's last name?", None),
        ("What did Wim do last week?", None),
        ("What is the first name of Jonna?", None),
    ],
)
def test_some_questions_ask_for_the_latest_or_the_first_of_equals(
    text: str, order: str | None
) -> None:
    assert requested_order(text) == order


def test_what_is_closed_ends_nothing_else_of_it() -> None:
    asked = stems_of("What is our customer number at Alpenhof?")
    old, new = (
        UpdateText(text, query_stems=asked, names=stems_of("Alpenhof"))
        for text in ("The customer number at Alpenhof is 4471-B.", "Alpenhof is closed in August.")
    )

    assert update_of(old, new) is None

"""Topics: which texts speak of one, and what is left of those that do."""

import unicodedata

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.topic_names import LONGEST_TOPIC, content_name, parse_topic
from mnestic.memory.forgetting.topics import FORGOTTEN, Topic

STEMS = {
    "divorce": ["divorc"],
    "divorced": ["divorc"],
    "divorces": ["divorc"],
    "divorcee": ["divorce"],
}


def topic(text: str, *, copied: tuple[str, ...] = ()) -> Topic:
    return Topic(parse_topic(text), STEMS, copied=copied)


def content_words(text: str, stems: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    (name,) = parse_topic(text)
    return content_name(name, stems).words


def knowing(found: Topic, text: str) -> Topic:
    found.learn({word: STEMS.get(word, [word]) for word in found.unlearned(text)})
    return found


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("We fly to Paris.", True),
        ("PARIS, in May", True),
        ("paris/hotels_paris-2", True),
        ("That is Paris's mayor", True),
        ("My sister Parisa", False),
        ("comparison", False),
        ("", False),
    ],
)
def test_a_whole_word_is_meant_however_it_is_written(text: str, speaks: bool) -> None:
    assert topic("Paris").is_in(text) is speaks


@pytest.mark.parametrize("text", ["ZÜRICH", unicodedata.normalize("NFD", "Zürich"), "in Zürich!"])
def test_letters_are_the_same_however_they_are_composed(text: str) -> None:
    assert topic("Zürich").is_in(text)
    assert topic(unicodedata.normalize("NFD", "zürich")).is_in(text)
    assert not topic("Zürich").is_in("Zurich")


def test_sharp_s_is_two_letters_as_in_capitals() -> None:
    assert topic("Straße").is_in("HAUPT STRASSE")


def test_scripts_without_spaces_have_words_inside_words() -> None:
    assert topic("東京").is_in("来週東京に行きます")
    assert not topic("東京").is_in("来週京都に行きます")


def test_forms_of_a_word_are_meant_by_their_stem() -> None:
    text = "They divorced. A divorcee told of it."

    found = knowing(topic("divorce"), text)

    assert found.is_in("They divorced.")
    assert not found.is_in("A divorcee told of it.")


def test_forms_may_have_other_marks() -> None:
    found = Topic(parse_topic("haus"), {"haus": ["haus", "haus"]})
    stems = {"häuser": ("haus", "häuser"), "hausers": ("hausers", "hauser")}

    for text in ("Die Häuser", "Zwei Hausers"):
        found.learn({word: stems[word] for word in found.unlearned(text)})

    assert found.is_in("Die Häuser")
    assert not found.is_in("Zwei Hausers")


def test_words_that_say_nothing_in_the_topic_s_language_are_left_out() -> None:
    stems = {"der": ("der", ""), "auf": ("auf", ""), "urlaub": ("urlaub", "urlaub")}
    stems |= {"red": ("red", "red"), "hat": ("hat", "")}

    assert content_words("der urlaub auf", stems) == ("urlaub",)
    assert content_words("red hat", stems) == ("red", "hat")
    assert content_words("das haus", {"das": ("",), "haus": ("haus",)}) == ("haus",)
    with pytest.raises(InvalidInputError, match="any text"):
        content_words("der auf", stems)


def test_a_text_speaks_of_all_words_or_not_at_all() -> None:
    found = topic("the Project Falcon")

    assert found.is_in("Falcon is our project")
    assert found.is_in("falcon", "a project")
    assert not found.is_in("the project is late")
    assert not found.is_in("a falcon is a bird")


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("Ines Wolff met Karl Brandt.", False),
        ("Brandt is late, says Ines.", True),
        ("Ines Wolff met Ines Brandt.", True),
        ("ines brandt", True),
        ("Dr. Brandt and Ines", True),
        ("Monday Ines came, Brandt did not", True),
    ],
)
def test_a_proper_name_is_not_put_together_from_others(text: str, speaks: bool) -> None:
    assert topic("Ines Brandt").is_in(text) is speaks


def test_only_the_sentences_that_speak_of_it_are_struck() -> None:
    said = "Mara likes tea. She lives in Paris, Dr. Hall says! Her cat is old.\nParis again"

    assert topic("Paris").strike(said) == (
        f"Mara likes tea. {FORGOTTEN} Her cat is old.\n{FORGOTTEN}"
    )
    assert topic("Rome").strike(said) == said


def test_words_that_are_spread_over_sentences_go_with_each() -> None:
    said = "The project is late. The sun shines. Falcon is its name."

    assert topic("Project Falcon").strike(said) == f"{FORGOTTEN} The sun shines. {FORGOTTEN}"


def test_a_copy_of_a_text_that_has_not_the_words_speaks_of_it_too() -> None:
    found = topic("Paris", copied=("We fly to the French  capital in May.",))

    assert found.is_in("User: we fly to the French capital in May.")
    assert found.strike("Hello! We fly to the French capital in May. Bye.") == (
        f"Hello! {FORGOTTEN} Bye."
    )
    assert not found.is_in("We fly")


def test_a_short_text_is_no_copy_of_what_anybody_says() -> None:
    found = topic("Paris", copied=("Yes!",))

    assert found.is_in("yes!")
    assert not found.is_in("yes! I do")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("…?!", "no word"),
        ("🦅", "no word"),
        ("the and of", "any text"),
        ("x" * (LONGEST_TOPIC + 1), "1001 characters"),
        ("a\x00b", "NUL"),
        ("\ud800", "surrogate"),
    ],
)
def test_a_topic_that_means_nothing_is_refused(text: str, told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        parse_topic(text)


def test_stop_words_do_not_count() -> None:
    (name,) = parse_topic("the trip to Paris, the trip")

    assert name.words == ("trip", "paris")


def test_another_word_that_begins_alike_is_told_from_a_form() -> None:
    found = knowing(topic("divorce"), "divorced divorcee")

    assert found.is_like("A divorcee told of it.")
    assert not found.is_like("They divorced. A divorce.")


def test_in_other_scripts_a_few_letters_make_words_alike() -> None:
    found = topic("Надя")

    assert found.is_like("Надежда поёт")
    assert not found.is_like("Надя поёт")
    assert not found.is_like("Юлия поёт")


@pytest.mark.parametrize(
    ("name", "text", "speaks"),
    [
        ("Mark Stone", "Please mark the stone with chalk.", False),
        ("Mark Stone", "Mark the stone with chalk.", False),
        ("Mark Stone", "Mark's late again, says old Mr Stone.", True),
        ("Mark Stone", "i met mark stone today", True),
        ("Mark Stone", "Stone, Mark: 12 March", True),
        ("Mark Stone", '{"customer": "mark stone", "City": "Ghent"}', True),
        ("Will Cook", "I will cook tonight.", False),
        ("Will Cook", "Will cook for Lena on Friday.", False),
        ("Will Cook", "Who will cook?", False),
        ("Will Cook", "The cook is ill.", False),
        ("everything about Will Cook", "Will Cook has a new phone.", True),
        ("Rose Hill", "A rose grows on the hill.", False),
        ("Rose Hill", "We met at Rose Hill.", True),
        ("Sam Black", "Sam wore a black coat.", False),
        ("Ludwig van Beethoven", "we heard ludwig van beethoven", True),
        ("Sam Black", "Sam's surname is Black.", True),
        ("Project Falcon", "The project is called Falcon.", True),
        ("Project Falcon", "project falcon was moved", True),
    ],
)
def test_a_name_of_ordinary_words_is_no_row_of_them(name: str, text: str, speaks: bool) -> None:
    assert topic(name).is_in(text) is speaks

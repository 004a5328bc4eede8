"""Topics: which texts speak of one, and what is left of those that do."""

from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.topic_names import content_name, parse_topic
from mnestic.memory.forgetting.topics import FORGOTTEN, Topic
from tests.memory.tables import tables, wrong

RULES = tables(__file__)
STEMS = {"divorce": ["divorc"], "divorced": ["divorc"], "divorcee": ["divorce"]}


def topic(text: str, *, copied: tuple[str, ...] = ()) -> Topic:
    return Topic(parse_topic(text), STEMS, copied=copied)


def content_words(text: str, stems: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    (name,) = parse_topic(text)
    return content_name(name, stems).words


@pytest.mark.parametrize("rows", RULES.values(), ids=RULES)
def test_a_text_speaks_of_a_topic_by_its_words(rows: list[Any]) -> None:
    assert wrong(rows, lambda name, text: topic(name).is_in(text)) == []


def test_a_text_may_be_in_parts() -> None:
    assert topic("the Project Falcon").is_in("falcon", "a project")


def test_forms_of_a_word_are_meant_by_their_stem() -> None:
    found = topic("divorce")
    found.learn({word: STEMS.get(word, [word]) for word in found.unlearned("divorced divorcee")})

    assert found.is_in("They divorced.")
    assert not found.is_in("A divorcee told of it.")
    assert found.is_like("A divorcee told of it.")
    assert not found.is_like("They divorced. A divorce.")


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


def test_only_the_sentences_that_speak_of_it_are_struck() -> None:
    said = "Mara likes tea. She lives in Paris, Dr. Hall says! Her cat is old.\nParis again"
    spread = "The project is late. The sun shines. Falcon is its name."

    assert topic("Paris").strike(said) == (
        f"Mara likes tea. {FORGOTTEN} Her cat is old.\n{FORGOTTEN}"
    )
    assert topic("Rome").strike(said) == said
    assert topic("Project Falcon").strike(spread) == f"{FORGOTTEN} The sun shines. {FORGOTTEN}"


def test_a_copy_of_a_text_that_has_not_the_words_speaks_of_it_too() -> None:
    found = topic("Paris", copied=("We fly to the French  capital in May.", "Yes!"))

    assert found.is_in("User: we fly to the French capital in May.")
    assert found.strike("Hello! We fly to the French capital in May. Bye.") == (
        f"Hello! {FORGOTTEN} Bye."
    )
    assert not found.is_in("We fly")
    assert found.is_in("yes!")
    assert not found.is_in("yes! I do"), "what is short is a copy as a whole alone"


def test_in_other_scripts_a_few_letters_make_words_alike() -> None:
    found = topic("Надя")

    assert found.is_like("Надежда поёт")
    assert not found.is_like("Надя поёт")
    assert not found.is_like("Юлия поёт")

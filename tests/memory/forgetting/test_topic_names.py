"""Names of a topic: what is typed to have something forgotten, and what is looked for then."""

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.topic_names import covers, parse_topic
from mnestic.memory.forgetting.topics import Topic


def names(text: str) -> list[list[str]]:
    return [name.terms for name in parse_topic(text)]


def speaks(topic: str, text: str) -> bool:
    return Topic(parse_topic(topic), {}).is_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "Olena",
        "everything about Olena",
        "Everything you know about Olena",
        "please forget everything I told you about Olena",
        "anything related to Olena",
        "all mentions of Olena",
        "information about Olena",
        "whatever you remember about the Olena",
        "alles über Olena",
        "Alles, was du über Olena weißt",
        "tout ce que tu sais sur Olena",
        "todo lo que sabes sobre Olena",
        "alles wat je weet over Olena",
        "всё про Olena",
    ],
)
def test_words_of_a_command_are_no_part_of_a_topic(text: str) -> None:
    assert names(text) == [["olena"]]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Data on the Enterprise", ["data", "enterprise"]),
        ("Facts", ["facts"]),
        ("Drop dead date", ["date", "dead", "drop"]),
        ("information of Olena", ["information", "olena"]),
        ('"Everything about Eve"', ["eve", "everything"]),
        ("«Alles über Eva»", ["alles", "eva", "über"]),
        ("Everything Everywhere", ["everything", "everywhere"]),
    ],
)
def test_a_topic_that_only_looks_like_a_command_is_whole(text: str, terms: list[str]) -> None:
    assert names(text) == [terms]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Olena / Олена", [["olena"], ["олена"]]),
        ("Olena/Олена", [["olena"], ["олена"]]),
        ("Olena or Lena Koval", [["olena"], ["koval", "lena"]]),
        ("Olena oder Helene", [["olena"], ["helene"]]),
        ("Olena aka Lena", [["olena"], ["lena"]]),
        ("everything about Olena or everything about Lena", [["olena"], ["lena"]]),
        ("Olena / olena", [["olena"]]),
        ("Olena / ", [["olena"]]),
        ("AC/DC", [["ac", "dc"]]),
        ("input/output", [["input", "output"]]),
        ('"life or death"', [["death", "life"]]),
        ("ferry.example/a or OPS-311", [["url //ferry.example/a"], ["code ops311"]]),
    ],
)
def test_alternatives_are_names_of_one_topic(text: str, terms: list[list[str]]) -> None:
    assert names(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("ticket OPS-311", ["code ops311"]),
        ("the phone number +33 6 12 34 56 78", ["number +33612345678"]),
        ("Olena's e-mail olena@north.example", ["email olena@north.example", "olena"]),
        ("everything about order no. 88120", ["number 88120"]),
        ("room 412", ["short 412 room"]),
        ("olena@north.example", ["email olena@north.example"]),
    ],
)
def test_an_identifier_is_no_row_of_words(text: str, terms: list[str]) -> None:
    assert names(text) == [terms]


@pytest.mark.parametrize("text", ["the / of", "Olena or the", "or", "all of us"])
def test_a_name_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="topic"):
        names(text)


@pytest.mark.parametrize(
    ("topic", "text", "is_about_it"),
    [
        ("olena@north.example", "Mail OLENA@north.example today.", True),
        ("olena@north.example", "Mail bohdan@north.example today.", False),
        ("olena@north.example", "Mail olena.koval@north.example today.", False),
        ("olena@north.example", "Olena lives north, for example.", False),
        ("219-09-9999", "It is 219099999.", True),
        ("219-09-9999", "It is 219-09-9998, not 9999.", False),
        ("card 5500 0000 0000 0004", "She paid with 5500-0000-0000-0004.", True),
        ("+33 6 12 34 56 78", "Call 0033612345678.", True),
        ("+33 6 12 34 56 78", "Call +33 6 12 34 56 87.", False),
        ("ticket OPS-311", "ops-311 is done.", True),
        ("ticket OPS-311", "Ticket OPS-3110 and ticket OPS-312.", False),
        ("Olena / Олена", "Олена переїхала", True),
        ("Olena's card 5500000000000004", "5500 0000 0000 0004 is Olena's", True),
        ("Olena's card 5500000000000004", "5500 0000 0000 0004 is Bohdan's", False),
        ("Olena", "Mail olena@north.example today.", True),
    ],
)
def test_an_identifier_is_matched_whole_in_each_form(
    topic: str, text: str, is_about_it: bool
) -> None:
    assert speaks(topic, text) is is_about_it


def test_a_wider_topic_covers_a_narrower_one() -> None:
    wide, narrow = parse_topic("Olena / +33 6 12 34 56 78"), parse_topic("Olena Koval")

    assert covers(wide, narrow)
    assert covers(wide, parse_topic("0033612345678"))
    assert not covers(narrow, wide)

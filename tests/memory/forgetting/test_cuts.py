"""Cuts: which sentences go with a topic, and what is left where it stood."""

from typing import Any

import pytest

from mnestic.memory.forgetting.cuts import SentenceCut
from mnestic.memory.forgetting.follow_ups import refers_back
from mnestic.memory.forgetting.topic_names import parse_topic
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.knowledge.claims import Span
from tests.memory.tables import tables, wrong

RULES = tables(__file__)


def cut(topic: str, text: str) -> SentenceCut:
    return Topic(parse_topic(topic), {}).cut(text)


@pytest.mark.parametrize("rows", RULES.values(), ids=RULES)
def test_sentences_that_speak_of_a_topic_go(rows: list[Any]) -> None:
    assert wrong(rows, lambda topic, text: cut(topic, text).left) == []


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("We bake bread; Project Falcon starts.", "We bake bread [x]."),
        ("Project Falcon starts; I bake bread.", "[x] I bake bread."),
        ("I bake. Project Falcon starts. We rest.", "I bake. [x] We rest."),
    ],
)
def test_a_mark_stands_where_something_went(text: str, marked: str) -> None:
    assert cut("Project Falcon", text).marked("[x]") == marked


def test_what_is_left_stands_where_it_stood() -> None:
    text = "Ida comes. Project Falcon starts. I like tea."

    found = cut("Project Falcon", text)

    assert len(found.blanked) == len(text)
    assert found.blanked.index("tea") == text.index("tea")
    assert "Falcon" not in found.blanked
    assert found.sentences == ("Project Falcon starts.",)
    for words, is_left in {"tea": True, "Falcon": False, "comes. Project": False}.items():
        start = text.index(words)
        assert found.contains(Span(start=start, end=start + len(words))) is is_left
    assert not found.contains(None), "nobody knows where it stands"


@pytest.mark.parametrize(
    ("sentence", "to_person", "refers"),
    [
        ("It's late.", False, True),
        ("But then it starts.", False, True),
        ("She sings.", True, True),
        ("She sings.", False, False),
        ("Ida likes it.", True, False),
        ("", True, False),
    ],
)
def test_a_sentence_refers_back_by_its_first_word(
    sentence: str, to_person: bool, refers: bool
) -> None:
    assert refers_back(sentence, to_person=to_person) is refers

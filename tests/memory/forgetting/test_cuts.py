"""Cuts: which sentences go with a topic, and what is left where it stood."""

from typing import Any

import pytest

from mnestic.memory.forgetting.cuts import SentenceCut
from mnestic.memory.forgetting.follow_ups import refers_back
from mnestic.memory.forgetting.topic_names import parse_topic
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.spans import QuotedText
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def cut(topic: str, text: str) -> SentenceCut:
    return Topic(parse_topic(topic), {}).cut(text)


@pytest.mark.parametrize("rows", CASES["left"].values(), ids=CASES["left"])
def test_sentences_that_speak_of_a_topic_go(rows: list[Any]) -> None:
    assert wrong(rows, lambda topic, text: cut(topic, text).left) == []


def test_of_joined_clauses_that_claims_quote_those_that_speak_of_a_topic_go() -> None:
    def left(topic: str, text: str, quoted: list[str]) -> str:
        found = Topic(parse_topic(topic), {})
        spans = [QuotedText(text).find(words) for words in quoted]
        found.learn_claims({text: [span for span in spans if span is not None]})
        return found.cut(text).left

    assert wrong(CASES["claimed"], left) == []


def test_a_mark_stands_where_something_went() -> None:
    assert wrong(CASES["marked"], lambda text: cut("Project Falcon", text).marked("[x]")) == []


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


def test_a_sentence_refers_back_by_its_first_word() -> None:
    def refers(sentence: str, to_person: bool) -> bool:
        return refers_back(sentence, to_person=to_person)

    assert wrong(CASES["refers_back"], refers) == []

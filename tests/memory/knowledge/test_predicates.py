import sys
import unicodedata

import pytest
from pydantic import ValidationError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.predicates import check_predicate, predicate_of
from mnestic.memory.knowledge.prompt_facts import KnowledgeSelection


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("works_for", "works_for"),
        ("Works for", "works_for"),
        ("works-for!", "works_for"),
        ("ÜBER!", "über"),
        ("u\u0308ber", "über"),
        ("Heißt", "heißt"),
        ("Любит", "любит"),
        ("पसंद है", "पसंद_है"),
        ("住んでいる", "住んでいる"),
        ("يعيش في", "يعيش_في"),
        ("\uff37orks", "works"),
    ],
)
def test_words_of_any_script_name_a_predicate(words: str, name: str) -> None:
    assert predicate_of(words) == name
    assert check_predicate(name) == name
    assert KnowledgeSelection(predicates=(name,)).predicates == (name,)
    assert Extracted(subject="Ida", predicate=name, span=Span(start=0, end=1)).predicate == name


def test_a_predicate_keeps_every_letter_and_is_named_by_itself() -> None:
    letters = [
        one for one in map(chr, range(sys.maxunicode)) if unicodedata.category(one)[0] == "L"
    ]

    lost = [one for one in letters if predicate_of(f"x{one}x") in {"xx", "x_x"}]
    unstable = [one for one in letters if predicate_of(name := predicate_of(f"x{one}x")) != name]

    assert lost == ["\u2e2f"]  # a tilde, which identifiers leave out
    assert unstable == []


@pytest.mark.parametrize("words", ["", "!", "_", "2nd choice", "x" * 65])
def test_words_that_begin_with_no_letter_or_are_too_long_name_none(words: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a name"):
        predicate_of(words)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("Lives in", "lives_in"),
        ("lives in", "lives_in"),
        ("Über", "über"),
        ("u\u0308ber", "über"),
        ("_", "lives_in"),
        ("lives_in\n", "lives_in"),
    ],
)
def test_a_name_that_is_none_is_refused_with_one_that_is(name: str, instead: str) -> None:
    with pytest.raises(InvalidInputError, match=f"such as {instead}$"):
        check_predicate(name)
    with pytest.raises(ValidationError, match=f"such as {instead} "):
        KnowledgeSelection(predicates=(name,))

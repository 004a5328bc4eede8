"""The words of a question as an agent's memory has them, and how telling each is."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.retrieval.search import LexemeMatch, ResolvedTerms, Suggestions, Vocabulary
from mnestic.memory.retrieval.vocabulary import unknown_lexemes, vocabulary_of

ENTRIES = 1000
Parts = Sequence[Mapping[str, LexemeMatch]]


def known(words: Mapping[str, int | Parts], **given: Any) -> ResolvedTerms:
    """A memory in English that has words, each as a lexeme of its own with a number of entries, or in parts."""
    return ResolvedTerms(
        names={},
        words={
            word: [{"english": LexemeMatch(word, of)}] if isinstance(of, int) else of
            for word, of in words.items()
        },
        tags=frozenset(),
        settings={},
        now=datetime(2026, 3, 1, tzinfo=UTC),
        knowledge=1,
        ends_at=None,
        database="d",
        **{"languages": ("english",), "entries": ENTRIES, "lexemes": 9 * ENTRIES} | given,
    )


def lexemes_of(vocabulary: Vocabulary) -> list[tuple[str, ...]]:
    return [one.lexemes for one in vocabulary.query_lexemes]


def test_a_rarer_word_is_more_telling_and_comes_first() -> None:
    vocabulary = vocabulary_of(["boat", "ferry"], known({"boat": 400, "ferry": 3}))

    assert lexemes_of(vocabulary) == [("ferry",), ("boat",)]
    assert vocabulary.weights == (
        pytest.approx(math.log(1 + 997.5 / 3.5)),
        pytest.approx(math.log(1 + 600.5 / 400.5)),
    )
    assert vocabulary.average_length == 9


def test_a_word_that_no_entry_has_is_the_most_telling_and_is_not_known() -> None:
    (word,) = vocabulary_of(["zeppelin"], known({"zeppelin": 0})).query_lexemes

    assert (word.is_known, word.weight) == (False, pytest.approx(math.log(1 + ENTRIES)))


def test_a_misspelt_word_is_read_as_what_is_suggested_and_weighs_less() -> None:
    memory = known({"ferrz": 0})
    suggested = Suggestions(lexemes={"ferrz": {"ferri": 3}})

    vocabulary = vocabulary_of(["ferrz"], memory, misspellings=["ferrz"], suggested=suggested)

    (word,) = vocabulary.query_lexemes
    assert (word.lexemes, word.word, word.is_known) == (("ferri",), "", True)
    assert word.weight == pytest.approx(0.8 * math.log(1 + 997.5 / 3.5))
    assert vocabulary.misspelt == {"ferrz": "ferri"}
    known_word = vocabulary_of(
        ["ferrz"], known({"ferrz": 1}), misspellings=["ferrz"], suggested=suggested
    )
    assert (lexemes_of(known_word), known_word.misspelt) == ([("ferrz",)], {})


@pytest.mark.parametrize("slip", ["wich", "teh", "whcih"])
def test_a_function_word_with_a_slip_in_it_says_nothing(slip: str) -> None:
    vocabulary = vocabulary_of([slip, "ferry"], known({slip: 0, "ferry": 3}), misspellings=[slip])

    assert lexemes_of(vocabulary) == [("ferry",)]
    assert vocabulary.silent == {slip}


@pytest.mark.parametrize("languages", [("english",), ("english", "german")])
def test_a_quiet_word_is_asked_in_no_language_but_another_than_english(
    languages: tuple[str, ...],
) -> None:
    parts = [{name: LexemeMatch(f"would-{name}", 5) for name in languages}]

    vocabulary = vocabulary_of(
        ["would"], known({"would": parts}, languages=languages), stop_words=["would"]
    )

    assert lexemes_of(vocabulary) == ([("would-german",)] if "german" in languages else [])


def test_words_of_one_lexeme_are_asked_once() -> None:
    ferri = [{"english": LexemeMatch("ferri", 3)}]

    vocabulary = vocabulary_of(["ferry", "ferries"], known({"ferry": ferri, "ferries": ferri}))

    assert [one.word for one in vocabulary.query_lexemes] == ["ferry"]


@pytest.mark.parametrize(
    ("word", "stored"),
    [("buy", "bought"), ("bought", "buy"), ("eaten", "ate"), ("Drove", "drive")],
)
def test_a_verb_matches_its_irregular_forms_too(word: str, stored: str) -> None:
    memory = known({word: 0, stored: 3})

    (found,) = vocabulary_of([word], memory).query_lexemes

    assert (found.lexemes, found.is_known) == ((word, stored), True)
    assert found.weight == pytest.approx(math.log(1 + 997.5 / 3.5))
    in_german = known({word: 0, stored: 3}, languages=("german",))
    assert lexemes_of(vocabulary_of([word], in_german)) == []


def test_a_word_of_several_parts_is_none_by_itself() -> None:
    parts = [{"english": LexemeMatch("e", 90)}, {"english": LexemeMatch("4042", 1)}]

    vocabulary = vocabulary_of(["E-4042"], known({"E-4042": parts}))

    assert [(one.lexemes, one.word) for one in vocabulary.query_lexemes] == [
        (("4042",), ""),
        (("e",), ""),
    ]


def test_of_a_long_question_the_most_telling_words_are_asked_and_none_without_entries() -> None:
    words = {f"word{number}": number for number in range(1, 91)}

    vocabulary = vocabulary_of([*words], known(words))

    assert lexemes_of(vocabulary) == [(f"word{number}",) for number in range(1, 61)]
    assert vocabulary_of([*words], known(words, entries=0)) == Vocabulary()


def test_only_what_may_be_misspelt_and_no_entry_has_is_looked_for_again() -> None:
    memory = known({"ferrz": 0, "boaat": 0, "tide": 5})

    assert unknown_lexemes(
        [*memory.words], memory, misspellings=["ferrz", "tide"], stop_words=[]
    ) == {"ferrz"}

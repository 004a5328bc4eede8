"""Which texts say that something is different from before."""

import pytest

from mnestic.memory.language.changes.change_words import is_revision, other_forms, stem


@pytest.mark.parametrize(
    "text",
    [
        "The limit goes up to 250 requests.",
        "The rent has gone up again.",
        "Aiko approves them from now on.",
        "Use my new email, please.",
        "I gave up coffee.",
        "The code was changed to 4410.",
        "Das Passwort heißt jetzt Mondfinsternis7.",
        "Ya no vivo en Lima.",
        "Nous avons déménagé à Brest.",
    ],
)
def test_words_of_change_are_found_in_some_languages(text: str) -> None:
    assert is_revision(text)


@pytest.mark.parametrize(
    "text",
    [
        "The limit is 100 requests.",
        "I know the newspaper.",
        "",
        "Der Schlüssel hängt hier.",
        "Our office in New York is closed.",
        "Was often meant.",
        "There is one slice left.",
    ],
)
def test_what_only_tells_how_it_is_revises_nothing(text: str) -> None:
    assert not is_revision(text)


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("buy", {"bought"}),
        ("bought", {"buy"}),
        ("writing", {"write", "wrote", "written"}),
        ("written", {"write", "wrote"}),
        ("paint", set()),
    ],
)
def test_irregular_verbs_have_other_forms(word: str, others: set[str]) -> None:
    assert other_forms(word) == others


@pytest.mark.parametrize(
    ("word", "other"),
    [("swimming", "swims"), ("parties", "party"), ("planned", "plan"), ("shipment", "ships")],
)
def test_a_stem_is_that_of_each_regular_form(word: str, other: str) -> None:
    assert stem(word) == stem(other)


@pytest.mark.parametrize(("word", "other"), [("site", "sit"), ("wine", "win")])
def test_another_word_has_another_stem(word: str, other: str) -> None:
    assert stem(word) != stem(other)
    assert other_forms(word) == set()


@pytest.mark.parametrize("form", ["ate", "eating", "eaten"])
def test_the_forms_of_a_verb_have_a_stem_in_common(form: str) -> None:
    assert stem(form) == stem("eat")

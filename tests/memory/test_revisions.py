"""Which texts say that something is another than before."""

import time

import pytest

from mnestic.memory.revisions import changes_of, has_figure, is_instead, is_of_same, is_revision
from mnestic.memory.terms import terms_of


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
    ("new", "old", "lacking"),
    [
        ("The rate limit goes up to 250.", "The API rate limit is 100.", 1),
        ("The book club has moved to Thursdays.", "The book club meets on Mondays at the library.", 1),
        ("Rollo has a new vet, Dr Lutz.", "The vet of our dog Rollo is Dr Hahn.", 0),
        ("The new coach is Samira, she played for Poland for ten years.", "The junior coach is Ben.", 1),
        ("We have a new vet, Dr Lutz. She takes cards. It opened in May.", "Rollo's vet is Dr Hahn.", 1),
        ("Long debate, and cake. The fee was raised to 45 euros.", "The student fee is 30 euros.", 1),
        ("I have changed the wifi password, it is crocus, which nobody can spell.", "The guest wifi password is tulip.", 1),
    ],
)  # fmt: skip
def test_what_takes_the_place_of_what_was_said_is_of_the_same(
    new: str, old: str, lacking: int
) -> None:
    assert is_of_same(terms_of(new), terms_of(old), lacking=lacking, changes=changes_of(new))


@pytest.mark.parametrize(
    ("new", "old", "lacking"),
    [
        ("The alarm code of the attic has changed to 2222.", "The alarm code of the cellar is 1111.", 1),
        ("Bus line 7 now leaves at half past.", "Bus line 14 leaves at quarter past.", 1),
        ("The code has changed. It is 2222 for the attic.", "The code of the cellar is 1111.", 1),
        ("As of May it is 2222, the code of the attic.", "The code of the cellar is 1111.", 1),
        ("The code of the attic is 2222. We moved there.", "The code of the cellar is 1111.", 1),
        ("I got a new kayak for my birthday.", "My birthday is on 3 May.", 0),
        ("I got a new kayak for my birthday. I paddled with Leo now and then.", "My birthday is on 3 May.", 0),
        ("Rollo got a new leash.", "The vet of our dog Rollo is Dr Hahn.", 0),
    ],
)  # fmt: skip
def test_a_change_of_something_else_is_none_of_the_same(new: str, old: str, lacking: int) -> None:
    assert not is_of_same(terms_of(new), terms_of(old), lacking=lacking, changes=changes_of(new))


@pytest.mark.parametrize(
    ("old", "is_of_it"),
    [("The director is Aurelio.", True), ("The deputy director is Casimir.", False)],
)
def test_a_change_is_of_what_it_takes_the_place_of_one_for_one(old: str, is_of_it: bool) -> None:
    changes = changes_of("The new director is Birgitta, who came from Lyon and plays the cello.")

    assert is_instead(changes, terms_of(old)) == is_of_it


def test_what_changes_is_read_at_once_whatever_gaps_are_in_it() -> None:
    began = time.monotonic()

    changes = [changes_of(f"It has changed{gap * 900}to red.") for gap in " \t\u00a0"]

    assert len(set(changes)) == 1
    assert time.monotonic() - began < 0.05


def test_a_figure_is_told_by_its_digits() -> None:
    assert has_figure(terms_of("It is on 3 May."))
    assert not has_figure(terms_of("It is in May."))

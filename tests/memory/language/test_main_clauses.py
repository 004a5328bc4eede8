"""Main clauses of a sentence."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.main_clauses import split_clauses


def clauses(sentence: str) -> list[str]:
    return [sentence[one.start : one.end].strip() for one in split_clauses(sentence)]


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("My sister is a nurse and I bake bread.", ["My sister is a nurse", "I bake bread"]),
        ("Ida sings, but Otto plays drums!", ["Ida sings", "Otto plays drums"]),
        ("The key is lost; ask Ida.", ["The key is lost", "ask Ida"]),
        ("The car is old and the brakes are new", ["The car is old", "the brakes are new"]),
        ("I rest, so we stay, and he goes.", ["I rest", "we stay", "he goes"]),
        ("Ich backe, und meine Frau ist Ärztin.", ["Ich backe", "meine Frau ist Ärztin"]),
        ("J'habite ici mais il travaille à Lyon.", ["J'habite ici mais il travaille à Lyon"]),
        ("Ida vive en Quito y su hermano está en Lima.", ["Ida vive en Quito", "su hermano está en Lima"]),
        ("My key is lost, I live in Ghent, and my dog is sick.", ["My key is lost", "I live in Ghent", "my dog is sick"]),
        ("When my key was lost, I stayed.", ["When my key was lost, I stayed"]),
        ("I like tea, coffee, and milk.", ["I like tea, coffee, and milk"]),
        ("On Monday, I rest.", ["On Monday, I rest"]),
        ("Ida and Otto came.", ["Ida and Otto came"]),
        ("I met Ida and Otto in Ghent.", ["I met Ida and Otto in Ghent"]),
        ("Ida lives in Ghent and works in Bruges.", ["Ida lives in Ghent and works in Bruges"]),
        ("I like plums, pears and the apples from Spain.", ["I like plums, pears and the apples from Spain"]),
        ("She says (and I agree) that it rains.", ["She says (and I agree) that it rains"]),
        ('He said "I stay and you go" twice.', ['He said "I stay and you go" twice']),
        ("Call Ida and book the room.", ["Call Ida", "book the room"]),
        ("Write to Ida and then book the room.", ["Write to Ida", "then book the room"]),
        ("Could you call Ida and don't forget the key", ["Could you call Ida", "don't forget the key"]),
        ("First call Ida, then feed the cat.", ["First call Ida", "then feed the cat"]),
        ("Ida sang, then he came home.", ["Ida sang", "then he came home"]),
        ("Bitte ruf Ida an und schick den Brief.", ["Bitte ruf Ida an", "schick den Brief"]),
        ("Ida pays and Otto owns it.", ["Ida pays", "Otto owns it"]),
        ("Ida likes tea, Otto likes milk.", ["Ida likes tea", "Otto likes milk"]),
        ("If Ida sings, Otto leaves early.", ["If Ida sings, Otto leaves early"]),
        ("She rests in Ghent, Ida says.", ["She rests in Ghent, Ida says"]),
        ("The lift works: Ida called a man.", ["The lift works", "Ida called a man"]),
        ("The lift works \u2013 it was the fuse.", ["The lift works", "it was the fuse"]),
        ("Subject: the lift works.", ["Subject: the lift works"]),
        ("I like tea and book fairs.", ["I like tea and book fairs"]),
        ("Ida | 4 May | red", ["Ida", "4 May", "red"]),
        ("", [""]),
    ],
)  # fmt: skip
def test_a_clause_has_a_subject_of_its_own(sentence: str, parts: list[str]) -> None:
    assert clauses(sentence) == parts


@given(st.text(max_size=200))
def test_clauses_stand_one_after_the_other(sentence: str) -> None:
    found = split_clauses(sentence)

    assert found[0].joint == found[0].start == 0
    for one, other in pairwise(found):
        assert one.start <= one.end == other.joint <= other.start

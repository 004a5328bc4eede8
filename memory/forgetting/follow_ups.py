"""Follow-ups: clauses that speak of a topic by a pronoun, because the clause before them names it.

They stand apart from topics because here it matters who else may be meant by *she* or *it*; the words are data
(`follow_ups.yaml`).
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.forgetting.proper_names import name_rows
from mnestic.memory.language.function_words import function_words
from mnestic.memory.language.main_clauses import split_subject
from mnestic.memory.language.terms import words_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("follow_ups.yaml")


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    things: frozenset[str]
    persons: frozenset[str]
    joining: frozenset[str]
    others: frozenset[str]
    speakers: frozenset[str]
    copulas: frozenset[str]
    places: frozenset[str]


class Passage:
    """Clauses of a text, one after the other: whether the last one goes, and whom a pronoun after it means."""

    def __init__(self, is_named: Callable[[str], bool]) -> None:
        """Begins a text; `is_named` says whether a part of it names the topic."""
        self._is_named = is_named
        self._goes = self._is_subject = self._is_only = False

    def goes(self, clause: str, *, names_it: bool, is_joined: bool, continues: bool) -> bool:
        """Whether the next clause goes.

        Args:
            clause: The clause.
            names_it: Whether it speaks of the topic by itself.
            is_joined: Whether it is of the same sentence as the one before, and refers to it by any pronoun.
            continues: Whether it has the subject of the one before.
        """
        if names_it:
            self._goes = True
            self._is_subject, self._is_only = self._place_of_topic(clause)
        elif continues:
            self._goes = self._goes and self._is_subject
        else:
            to_person = self._is_subject or self._is_only or is_joined
            self._goes = self._goes and refers_back(clause, to_person=to_person)
        return self._goes

    def _place_of_topic(self, clause: str) -> tuple[bool, bool]:
        """Whether the topic is the subject of a clause that names it, and whether nobody else may be meant after it."""
        lists = _lists_of(clause)
        subject, rest = split_subject(clause)
        if self._is_named(subject):
            return True, True
        if any(not self._is_named(name) for name in _persons_in(rest, lists)):
            return False, False
        words = words_of(subject)
        is_speaker = any(one.speakers.intersection(words) for one in lists)
        return False, not words or is_speaker or self._is_who(rest, lists)

    def _is_who(self, rest: str, lists: Sequence[_Words]) -> bool:
        """Whether a clause goes on by saying that somebody is the topic: *is Tamsin*."""
        verb, *following = rest.split(maxsplit=2)
        is_copula = any(one.copulas.intersection(words_of(verb)) for one in lists)
        return is_copula and self._is_named(" ".join(following[:1]))


def refers_back(clause: str, *, to_person: bool) -> bool:
    """Whether a clause has a word that stands for what the one before it speaks of.

    Args:
        clause: The clause.
        to_person: Whether that may be a person; else *he*, *she* and *they* are somebody else.
    """
    return any(_refers(clause, words, to_person=to_person) for words in _lists_of(clause))


def _refers(clause: str, lists: _Words, *, to_person: bool) -> bool:
    words = words_of(clause)
    first = next((word for word in words[:3] if word not in lists.joining), "")
    if first in lists.things:
        return True
    if not to_person or not lists.persons.intersection(words):
        return False
    subject, _ = split_subject(clause)
    if lists.persons.intersection(words_of(subject)):
        return True
    is_other = any(word in lists.others for word in _until(words, lists.persons))
    return not is_other and not any(map(subject.rstrip().endswith, name_rows(subject)))


def _persons_in(text: str, lists: Sequence[_Words]) -> Iterator[str]:
    """The proper names in a text but those of places and times, as far as the word before tells."""
    for name in name_rows(text):
        before = words_of(text.partition(name)[0])[-1:]
        if not any(one.places.intersection(before) for one in lists):
            yield name


def _until(words: Sequence[str], ends: frozenset[str]) -> Iterator[str]:
    """The words before the first of some."""
    for word in words:
        if word in ends:
            return
        yield word


def _lists_of(text: str) -> tuple[_Words, ...]:
    """The words of the language that a text is in, and of those whose function words are not known; of all where none tells."""
    lists = read_word_lists(_FILE, _Words)
    words = words_of(text)
    counts = {name: sum(word in own for word in words) for name, own in function_words().items()}
    most = max(counts.values())
    return tuple(own for name, own in lists.items() if counts.get(name, most) == most)

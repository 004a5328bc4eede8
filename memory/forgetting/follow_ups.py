"""Follow-ups: statements that speak of a topic by a pronoun, because the one before them names it.

Here it matters who else may be meant by *she* or *it*; the words are data (`follow_ups.yaml`).
"""

import re
from collections.abc import Callable, Sequence
from itertools import dropwhile, takewhile
from pathlib import Path

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.forgetting.proper_names import is_one_name
from mnestic.memory.language.function_words import function_words
from mnestic.memory.language.terms import words_of
from mnestic.memory.language.word_forms import other_forms
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("follow_ups.yaml")
_SMALL = re.compile(r"(?<![\w'’])[^\W\d_A-Z]+(?![\w'’])")  # noqa: RUF001 (apostrophes of many kinds are meant)
_VERB = re.compile(r"\w{2,}(?:ed|[^su\W]s)")


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    things: frozenset[str]
    persons: frozenset[str]
    joining: frozenset[str]
    others: frozenset[str]
    speakers: frozenset[str]
    copulas: frozenset[str]


class Passage:
    """Statements of a text, one after the other: whether the last one goes, and whom a pronoun after it means."""

    def __init__(self, is_named: Callable[[str], bool]) -> None:
        """Begins a text; `is_named` says whether a part of it names the topic."""
        self._is_named = is_named
        self._goes = self._is_of_other = False

    def goes(self, statement: str, *, names_it: bool, is_joined: bool) -> bool:
        """Whether the next statement goes.

        Args:
            statement: The statement.
            names_it: Whether it speaks of the topic by itself.
            is_joined: Whether it is of the same sentence as the one before, and so about the same unless it says otherwise.
        """
        if names_it:
            self._goes, self._is_of_other = True, self._has_other_subject(statement)
        elif is_joined:
            self._goes = self._goes and not _stands_alone(statement)
        else:
            is_meant = refers_back(statement, to_person=not self._is_of_other)
            self._goes = self._goes and is_meant
        return self._goes

    def _has_other_subject(self, statement: str) -> bool:
        """Whether a statement that names the topic is of somebody else, whom a pronoun after it means: *Mara likes …*."""
        words = _words_for(statement)
        subject, verb, rest = _split_at_verb(statement, words)
        if not verb or self._is_named(subject):
            return False
        is_identity = verb in words.copulas and self._is_named(" ".join(rest.split()[:1]))
        is_somebody = is_one_name(subject) or words.persons.issuperset(words_of(subject))
        return is_somebody and bool(words_of(subject)) and not is_identity


def refers_back(statement: str, *, to_person: bool) -> bool:
    """Whether a statement has a word that stands for what the one before it speaks of.

    Args:
        statement: The statement.
        to_person: Whether that may be a person; else *he*, *she* and *they* are somebody else.
    """
    words = _words_for(statement)
    spoken = words_of(statement)
    if words.things.intersection(_opening(spoken[:3], words)):
        return True
    if not to_person or words.persons.isdisjoint(spoken):
        return False
    subject, _, _ = _split_at_verb(statement, words)
    if not words.persons.isdisjoint(words_of(subject)):
        return True
    before = takewhile(lambda word: word not in words.persons, spoken)
    return words.others.isdisjoint(before) and not is_one_name(subject)


def joins_clauses(word: str, clause: str, behind: str) -> bool:
    """Whether a word joins two clauses of which each stands without the other; where that is not certain, it does not."""
    words = _words_for(f"{clause} {behind}")
    return (
        word.casefold() in words.joining
        and all(_is_clause(one, words) for one in (clause, behind))
        and _stands_alone(behind)
    )


def _is_clause(statement: str, words: _Words) -> bool:
    """Whether a statement has a verb; whoever says *I* says what he does."""
    _, verb, _ = _split_at_verb(statement, words)
    return bool(verb) or not words.speakers.isdisjoint(words_of(statement)[:1])


def _stands_alone(statement: str) -> bool:
    """Whether a statement has a subject of its own, and no pronoun for what the one before it speaks of."""
    words = _words_for(statement)
    spoken = words_of(statement)
    if not (words.things | words.persons).isdisjoint(spoken):
        return False
    subject, verb, _ = _split_at_verb(statement, words)
    is_speaker = bool((words.speakers | words.others).intersection(_opening(spoken, words)))
    return is_speaker or bool(verb and is_one_name(subject))


def _opening(spoken: Sequence[str], words: _Words) -> list[str]:
    """The first word that does not only join a statement to the one before, if there is one."""
    return [*dropwhile(words.joining.__contains__, spoken)][:1]


def _split_at_verb(statement: str, words: _Words) -> tuple[str, str, str]:
    """What stands before the first word that may be a verb, that word, and the rest; all stands before it if there is none.

    Of English that is a word with the ending of the present or the past, or with an irregular form; of all languages a copula.
    """
    for match in _SMALL.finditer(statement):
        word = match[0]
        if word in words.copulas or _VERB.fullmatch(word) or other_forms(word):
            return statement[: match.start()], word, statement[match.end() :]
    return statement, "", ""


def _words_for(text: str) -> _Words:
    """The words of the language that a text is in, and of those whose function words are not known; of all where none tells."""
    lists = read_word_lists(_FILE, _Words)
    spoken = words_of(text)
    counts = {name: sum(word in own for word in spoken) for name, own in function_words().items()}
    most = max(counts.values())
    meant = [own for name, own in lists.items() if counts.get(name, most) == most]
    return _Words(
        **{
            field: frozenset().union(*(getattr(own, field) for own in meant))
            for field in _Words.model_fields
        }
    )

"""Predicates as sentences: a fact in words, and the words by which a question may ask for it."""

from datetime import UTC, datetime
from pathlib import Path

from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.language.word_forms import stems_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("predicate_sentences.yaml")
_ENDS = (".", "!", "?", "…", "。")


def sentence_of(fact: Fact, *, now: datetime) -> str:
    """A fact as a plain sentence, such as `Kim lives in Oslo.`; its object stands in it as it was given.

    Days are named where they matter: of a fact that begins on a later day, and of one whose end is known.
    """
    said = _form(fact.predicate).format(subject=fact.subject, object=fact.object)
    if fact.valid_from.astimezone(UTC).date() > now.astimezone(UTC).date():
        said += f" from {fact.valid_from.astimezone(UTC):%Y-%m-%d}"
    if fact.valid_to is not None:
        said += f" until {fact.valid_to.astimezone(UTC):%Y-%m-%d}"
    return said if said.endswith(_ENDS) else f"{said}."


def predicate_stems(predicate: str) -> frozenset[str]:
    """The stems of the words of a predicate, in its name and its sentence: *employ* and *work* of `employer`."""
    words = _form(predicate).format(subject="", object="")
    return stems_of(f"{words} {predicate.replace('_', ' ')}")


def _form(predicate: str) -> str:
    words = f"{{subject}} {predicate.replace('_', ' ')} {{object}}"
    forms: dict[str, str] = read_word_lists(_FILE, dict[str, str])["en"]
    return forms.get(predicate, words)

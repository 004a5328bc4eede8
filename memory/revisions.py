"""Revisions: texts that say that something is another than before, and what they say it of.

It stands alone because it is about languages, and only a help: what was learned as a fact is revised by facts.
"""

import re
from collections.abc import Iterable, Sequence

_BEGINNING = 1000  # characters that are looked at
_NEW = "new neu neue neuen neuer neues neuem nuevo nueva nuevos nuevas nouveau nouvelle nouveaux nouvelles"
_WORDS = f"""
    now nowadays anymore instead correction changed changes moved switched switches migrated replaced
    replaces update updated renamed upgraded raised increased reduced lowered extended postponed rescheduled
    quit stopped {_NEW}
    jetzt nun geändert umgezogen stattdessen verschoben ersetzt
    ahora cambió cambié cambiado mudó mudé mudado
    maintenant désormais changé déménagé remplacé
"""
_PHRASES = (
    *("no longer", "any more", "from now on", "as of", "goes up", "goes down", "went up", "went down", "took over"),
    *("takes over", "handed over", "gave up", "given up", "nicht mehr", "ab sofort", "ya no"),
)  # fmt: skip
_IS_NEW = frozenset(_NEW.split())
_OF_CHANGE = frozenset([*_WORDS.split(), *(word for phrase in _PHRASES for word in phrase.split())])
_ENDING = frozenset({"longer", "anymore", "stopped", "postponed", "mehr", "quit"})
_ANY = "|".join([*_PHRASES, *_WORDS.split()])
_MAY_CHANGE = re.compile(rf"\b(?:{_ANY})\b")  # in lower case, which takes a quarter of the time
_CHANGES = re.compile(
    rf"\b(?!(?-i:New) (?-i:[A-Z]))(?:{_ANY})\b", re.IGNORECASE
)  # of a name such as New York, "new" says nothing


def is_revision(text: str) -> bool:
    """Whether a text has a word by which something is told to be another than before."""
    said = text[:_BEGINNING]
    return _MAY_CHANGE.search(said.lower()) is not None and _CHANGES.search(said) is not None


def is_of_same(new: Sequence[str], old: Sequence[str], *, lacking: int) -> bool:
    """Whether a later text, which has a word of change, says it of what an earlier one is about.

    What is new has to be what the earlier one speaks of (a *new vet* is no *new leash*). Where it lacks words
    of the question that the earlier one has, it may put no more in the place of what that says than that says
    itself: *the code of the attic has changed to 2222* says nothing of *the code of the cellar is 1111*.

    Args:
        new: The terms of the later text, in their order.
        old: Those of the earlier one.
        lacking: How many words of the question the earlier one has and the later one lacks.
    """
    known = frozenset(old)
    is_new = [place for place, term in enumerate(new) if term in _IS_NEW]
    if is_new and _OF_CHANGE.isdisjoint(frozenset(new) - _IS_NEW):
        following = {new[place + 1] for place in is_new if place + 1 < len(new)}
        if following.isdisjoint(known):
            return False
    if not lacking:
        return True
    added = len(frozenset(new) - known - _OF_CHANGE)
    return added <= len(known - frozenset(new)) - lacking


def is_end(terms: Iterable[str]) -> bool:
    """Whether a text tells that something is so no longer, and no other time."""
    return not _ENDING.isdisjoint(terms)


def has_figure(terms: Iterable[str]) -> bool:
    """Whether a text tells a number, as those do that tell a time."""
    return any(term[0].isdigit() for term in terms)

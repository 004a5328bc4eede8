"""Revisions: texts that say that something is another than before, and what they say it of.

It stands alone because it is about languages, and only a help: what was learned as a fact is revised by facts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from mnestic.memory.date_words import MONTHS, WEEKDAYS
from mnestic.memory.sentences import split_sentences
from mnestic.memory.terms import terms_of

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
    *("no longer", "any longer", "any more", "from now on", "as of", "goes up", "goes down", "went up", "went down", "gone up", "gone down"),
    *("took over", "takes over", "handed over", "gave up", "given up", "nicht mehr", "ab sofort", "ya no"),
)  # fmt: skip
_IS_NEW = frozenset(_NEW.split())
OF_CHANGE = frozenset([*_WORDS.split(), *(word for phrase in _PHRASES for word in phrase.split())])
_ENDING = frozenset({"longer", "anymore", "stopped", "postponed", "mehr", "quit"})
FROM_ON = (  # "from June on"
    rf"from (?:then|today|tomorrow|(?:next|this) [a-z]+|(?:\d+ )?(?:{'|'.join([*MONTHS, *WEEKDAYS])})(?: \d+)?|\d{{4}})"
    r" on(?:wards?)?"
)
_ANY = "|".join([*_PHRASES, *_WORDS.split(), FROM_ON])
_MAY_CHANGE = re.compile(rf"\b(?:{_ANY})\b")  # in lower case, which takes a quarter of the time
_CHANGES = re.compile(
    rf"\b(?!(?-i:New) (?-i:[A-Z]))(?:{_ANY})\b", re.IGNORECASE
)  # of a name such as New York, "new" says nothing
# Where a sentence goes on to tell more of what it has told.
_MORE = re.compile(
    r",?\s+(?:and\s+)?(?:she|he|it|they|who|whose|which|because|elle|ella|sie|er)\b"
    r"|,\s+an?\b|\s+and\s+(?:has|had|have|is|was|will|can)\b",
    re.IGNORECASE,
)

Change = Sequence[Sequence[str]]  # the terms of its clauses, from where its sentence begins


def is_revision(text: str) -> bool:
    """Whether a text has a word by which something is told to be another than before."""
    said = text[:_BEGINNING]
    return _may_change(said) and _CHANGES.search(said) is not None


def _may_change(said: str) -> bool:
    return _MAY_CHANGE.search(said.lower()) is not None


def changes_of(text: str) -> tuple[Change, ...]:
    """What a text says with a word of change: each sentence that has one, by its clauses, and the sentence after it."""
    return tuple(_changes(split_sentences(text[:_BEGINNING])))


def _changes(sentences: Sequence[str]) -> Iterator[Change]:
    # Long gaps would take long to look at.
    spaced = [" ".join(sentence.split()) for sentence in sentences]
    for place, sentence in enumerate(spaced):
        if _may_change(sentence) and (match := _CHANGES.search(sentence)):
            clause, *more = _MORE.split(sentence[match.end() :])
            clauses = (sentence[: match.end()] + clause, *more, *spaced[place + 1 : place + 2])
            yield tuple(map(terms_of, clauses))


def is_of_same(
    new: Sequence[str], old: Sequence[str], *, lacking: int, changes: Sequence[Change] = ()
) -> bool:
    """Whether a later text, which has a word of change, says it of what an earlier one is about.

    What is new has to be what the earlier one speaks of (a *new vet* is no *new leash*). Where it lacks words
    of the question that the earlier one has, it may put no more in the place of what that says than that says
    itself: *the code of the attic has changed to 2222* says nothing of *the code of the cellar is 1111*.

    Args:
        new: The terms of the later text, in their order.
        old: Those of the earlier one.
        lacking: How many words of the question the earlier one has and the later one lacks.
        changes: What the later one says to have changed, if it lacks any.
    """
    known = frozenset(old)
    is_new = [place for place, term in enumerate(new) if term in _IS_NEW]
    if is_new and OF_CHANGE.isdisjoint(frozenset(new) - _IS_NEW):
        following = {new[place + 1] for place in is_new if place + 1 < len(new)}
        if following.isdisjoint(known):
            return False
    if not lacking:
        return True
    of_known = [change for change in changes if not known.isdisjoint(chain(*change))]
    added = min(len(_added(change, known)) for change in (*of_known, (new,)))
    return added <= len(known - frozenset(new)) - lacking


def is_instead(changes: Iterable[Change], old: Sequence[str]) -> bool:
    """Whether a change puts something in the place of all that an earlier text says and it does not.

    *The director is Birgitta now* does so with *the director is Aurelio*, but not with *the deputy director is Casimir*.
    """
    known = frozenset(old)
    for change in changes:
        said = frozenset(chain(*change))
        if not known.isdisjoint(said) and len(known - said) <= len(_added(change, known)):
            return True
    return False


def _added(change: Change, known: frozenset[str]) -> frozenset[str]:
    """What a change puts in the place of what is known; a clause after the one that tells it only tells more of it."""
    told: frozenset[str] = frozenset()
    for clause in change:
        told |= frozenset(clause)
        if told & known and (added := told - known - OF_CHANGE):
            return added
    return told - known - OF_CHANGE


def is_end(terms: Iterable[str]) -> bool:
    """Whether a text tells that something is so no longer, and no other time."""
    return not _ENDING.isdisjoint(terms)


def has_figure(terms: Iterable[str]) -> bool:
    """Whether a text tells a number, as those do that tell a time."""
    return any(term[0].isdigit() for term in terms)

"""Revisions: texts that say that something is another than before.

It stands alone because it is about languages, and only a help: who revises what is told by the words that two
texts have in common.
"""

# ruff: noqa: SIM905 (a word list reads best as text)

import re

_BEGINNING = 1000  # characters that are looked at
_WORDS = frozenset(
    """
    now nowadays new anymore instead actually correction changed changes moved switched switches migrated replaced
    replaces update updated renamed upgraded raised increased reduced lowered extended postponed rescheduled left
    quit stopped
    jetzt nun neu neue neuen neuer neues neuem geändert umgezogen stattdessen verschoben ersetzt
    ahora nuevo nueva nuevos nuevas cambió cambié cambiado mudó mudé mudado
    maintenant désormais nouveau nouvelle nouveaux nouvelles changé déménagé remplacé
    """.split()
)
_PHRASES = (
    *("no longer", "any more", "from now on", "as of", "goes up", "goes down", "went up", "went down", "took over"),
    *("takes over", "handed over", "gave up", "given up", "nicht mehr", "ab sofort", "ya no"),
)  # fmt: skip
_WORD = re.compile(r"\w+")


def is_revision(text: str) -> bool:
    """Whether a text has a word by which something is told to be another than before."""
    folded = text[:_BEGINNING].casefold()
    words = _WORD.findall(folded)
    return not _WORDS.isdisjoint(words) or any(phrase in folded for phrase in _PHRASES)

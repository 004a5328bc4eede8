"""Revisions: texts that say that something is another than before.

It stands alone because it is about languages, and only a help: who revises what is told by the words that two
texts have in common.
"""

import re

_BEGINNING = 1000  # characters that are looked at
_SIGNS = re.compile(
    r"""\b(?:
    now | nowadays | new | no\ longer | any\ ?more | instead | actually | correction | from\ now\ on | as\ of |
    chang(?:ed|es) | moved | switch(?:ed|es) | migrated | replac(?:ed|es) | updated? | renamed | upgraded |
    goes\ (?:up|down) | went\ (?:up|down) | raised | increased | reduced | lowered | extended |
    postponed | rescheduled | took\ over | takes\ over | handed\ over | left | quit | gave\ up | given\ up | stopped |
    jetzt | nun | neue[nmrs]? | geändert | umgezogen | nicht\ mehr | stattdessen | ab\ sofort | verschoben | ersetzt |
    ahora | ya\ no | nuev[oa]s? | cambi(?:ó|é|ado) | mud(?:ó|é|ado) |
    maintenant | désormais | nouve(?:au|lle|aux|lles) | changé | déménagé | remplacé
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def is_revision(text: str) -> bool:
    """Whether a text has a word by which something is told to be another than before."""
    return _SIGNS.search(text, 0, _BEGINNING) is not None

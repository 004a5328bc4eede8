"""Words of change: how texts say that something is different from before, and the patterns that take them apart.

They stand apart from revisions, which compare texts by them, because they are about languages.
"""

import re

from mnestic.memory.language.date_words import MONTHS, WEEKDAYS
from mnestic.memory.language.numbers import CARDINAL, ORDINAL

_BEGINNING = 1000  # characters that are looked at

# Words of change, in some languages.
_NEW = "new neu neue neuen neuer neues neuem nuevo nueva nuevos nuevas nouveau nouvelle nouveaux nouvelles"
_WORDS = f"""
    now nowadays anymore instead correction changed changes moved switched switches migrated replaced
    replaces update updated renamed upgraded raised increased reduced lowered extended postponed rescheduled
    quit stopped cancelled canceled scrapped transferred relocated reassigned promoted demoted shifted swapped revoked overturned {_NEW}
    jetzt nun geändert umgezogen stattdessen verschoben ersetzt
    ahora cambió cambié cambiado mudó mudé mudado
    maintenant désormais changé déménagé remplacé
"""
_PHRASES = (
    *("no longer", "any longer", "any more", "from now on", "as of", "goes up", "goes down", "went up", "went down", "gone up", "gone down"),
    *("took over", "takes over", "handed over", "gave up", "given up", "nicht mehr", "ab sofort", "ya no"),
    *("went over to", "gone over to", "went back to", "gone back to", "cut to", "cut down to", "cut from", "dropped to", "dropped from"),
    *("brought forward", "pushed back", "called off", "put off", "after all", "these days", "from here on", "turns out", "in favour of", "in favor of"),
)  # fmt: skip
IS_NEW = frozenset(_NEW.split())
OF_CHANGE = frozenset([*_WORDS.split(), *(word for phrase in _PHRASES for word in phrase.split())])
ENDING = frozenset(
    {
        "longer",
        "anymore",
        "stopped",
        "postponed",
        "mehr",
        "quit",
        "cancelled",
        "canceled",
        "scrapped",
        "revoked",
        "called",
    }
)
_FROM_ON = (  # "from June on"
    rf"from (?:then|today|tomorrow|(?:next|this) [a-z]+|(?:\d+ )?(?:{'|'.join([*MONTHS, *WEEKDAYS])})(?: \d+)?|\d{{4}})"
    r" on(?:wards?)?"
)
_ANY = "|".join([*_PHRASES, *_WORDS.split(), _FROM_ON])
_MAY_CHANGE = re.compile(rf"\b(?:{_ANY})\b")  # in lower case, which takes a quarter of the time
CHANGES = (
    re.compile(  # of a name such as New York, "new" says nothing, but for *New Wi-Fi password: …*
        rf"\b(?!(?-i:New) (?-i:[A-Z]))(?:{_ANY})\b|^\W*new\b(?=[^.:!?]{{1,60}}:)", re.IGNORECASE
    )
)
# Where a sentence goes on to say more of what it has named.
GOES_ON = re.compile(
    r",?\s+(?:and\s+)?(?:she|he|it|they|who|whose|which|because|elle|ella|sie|er)\b"
    r"|,\s+an?\b|\s+and\s+(?:has|had|have|is|was|will|can)\b",
    re.IGNORECASE,
)

# English clauses, and their values.
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = "|".join(WEEKDAYS)
_DATE = rf"(?:{ORDINAL} (?:of )?|\d{{1,2}} )?(?:{_MONTH})\b(?: (?:\d{{1,2}}\b(?!:)|{ORDINAL}))?(?:,? \d{{4}}\b)?|{_DAY}"
CLAUSES = re.compile(r"[,;:\u2013\u2014()]+(?!\d)|\s-\s|\b(?:because|but)\b")
BEGINS = re.compile(
    rf"\b(?:{_FROM_ON}|(?:as of|as from|starting|effective)(?: in| from| on)? (?:{_DATE}))\b",
    re.IGNORECASE,
)
ONSET = re.compile(  # when it began to be so is no value
    rf"{BEGINS.pattern}|\b(?:today|yesterday|this (?:week|month|year|morning)|recently|finally|again)\b",
    re.IGNORECASE,
)
NO_CHANGE = re.compile(  # what is added, asked, or may be
    r"\?|\b(?:also|too|as well|additional(?:ly)?|in addition|on top of|besides|another|second|both|extra|an? new"
    r"|if|whether|maybe|perhaps|would|could|might|should|(?-i:may))\b",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"\b(?:not|never|no|no longer|any ?more|stopped)\b|n['\u2019]t\b", re.IGNORECASE
)
# "I can't eat any more pizza" ends nothing.
NO_MORE = re.compile(r"\b(?:no longer|anymore)\b|\bany (?:more|longer)\W*$", re.IGNORECASE)
MANY = re.compile(  # of these there may be several, as of languages that somebody speaks
    r"\b(?:speaks?|supports?|includes?|offers?|accepts?|sells?|buys?|bought|follows?|manages?|manager|ha[sd]|have|owns?"
    r"|knows?|likes?|loves?|plays?|eats?|drinks?|reads?|visits?|visited|covers?|contains?|uses?)\b",
    re.IGNORECASE,
)
KINDS_OF_TIME = (
    re.compile(rf"\b(?:{_DAY})s?\b", re.IGNORECASE),
    re.compile(rf"\b(?:{_MONTH})\b", re.IGNORECASE),
    re.compile(
        rf"\b\d{{1,2}}[:.]\d\d|\b\d{{1,2}} ?[ap]m\b|\b(?:noon|midnight)\b"
        rf"|(?<=at )(?:half past |quarter (?:past|to) )?{CARDINAL}\b(?![:.]\d| ?[ap]m)",
        re.IGNORECASE,
    ),
)
TIME = re.compile(
    rf"\b(?:{_DATE}|(?:{_DAY})s?|noon|midnight|\d{{1,2}}[:.]\d\d(?: ?[ap]m)?|\d{{1,2}} ?[ap]m"
    rf"|(?<=at )(?:(?:half past|quarter (?:past|to)) )?{CARDINAL})\b",
    re.IGNORECASE,
)
SUFFIX = re.compile(r"(?:ments?|ions?|ing|ed|es|e|s)$")
TAKER = re.compile(
    r"^(?:(?:and|so)\s+)?(?P<name>[A-Z][\w'-]+)(?= (?:took|takes|has taken|will take) over\b)"
)
TOKEN = re.compile(r"[^\W_](?:[^\s,;!?()\"\u201c\u201d]*[^\W_])?")
JOINT = re.compile(r"\s*(?:(?:and|of|an?|the|per|&)\s+)*")
PREPOSITION = re.compile(
    r"\b(in|at|on|with|for|from|to|of|by)\s+(?:the\s+|an?\s+)?$", re.IGNORECASE
)
OWN = re.compile(r"\b(?:I|me|my|mine|I'm)\b", re.IGNORECASE)


def is_revision(text: str) -> bool:
    """Whether a text has a word by which something is said to be different from before."""
    beginning = text[:_BEGINNING]
    return may_change(beginning) and CHANGES.search(beginning) is not None


def may_change(text: str) -> bool:
    """Whether a text has the letters of a word of change, which is quickly told."""
    return _MAY_CHANGE.search(text.lower()) is not None

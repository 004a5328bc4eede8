"""Phrases: what of a clause's rest is the object, said as briefly as it is kept.

It stands alone because every pattern asks for objects, and a doubtful one is better left out.
"""

# ruff: noqa: SIM905 (word lists read best as text)

import re

from mnestic.activities.clients.rules.lexicon import NATIONALITIES, NOT_NAMES, PEOPLE

_STOP = re.compile(
    r"[,;:|()\u2013\u2014]|\s-\s|\b(?:with|for|at|in|on|from|because|since|so|when|while|whenever|that|which|who|to|than|as|by|"
    r"near|after|before|during|every|each|too|also|now|again|any ?more|any longer|either|instead|if|but|though|"
    r"although|without|about|very|really|a lot|lots|much|more|most|best|lately|these|those|all|around|along|out|"
    r"up|over|once|twice|(?:a|three|four|five|six|seven) (?:day|week|month|year|times)|per|and|or|together|"
    r"alone|often|daily|regularly|sometimes|especially|like|here|there|nowadays|never|not|until|everywhere|back|first|"
    r"last|so+|ve+ry+|mu+ch+|am|is|are|was|were|will|would|can|could|do|does|did|has|have|had|ever|well|though|anyway|honestly|"
    r"by the way|btw|lol|haha|please|right|after all|for sure|of course)\b",
    re.IGNORECASE,
)
_STOP_DOING = re.compile(
    r"[,;:|()\u2013\u2014]|\s-\s|\b(?:because|since|so|when|while|that|which|who|than|too|also|now|again|any ?more|"
    r"instead|nowadays|if|but|though|although|and|or|lately|these|every|each|after|before|during|as|am|is|are|was|were|"
    r"really|very|a lot|much|more|most|by the way)\b",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:an?|some|any|lots of|plenty of|loads of|a (?:lot|bit|little|couple|few) (?:of )?|a little|mostly|mainly|only|just|both|"
    r"really|the occasional|good|fresh|"
    r"(?:\w+ )?(?:cups?|mugs?|glass(?:es)?|bottles?|pints?|litres?|liters?|bowls?|pieces?|slices?|cans?|pots?) of)\s+",
    re.IGNORECASE,
)
_POINTING = frozenset(
    "the this that these those it its them they you your yours him his her hers he she me my mine us our ours their theirs we i "
    "neither nor no not what how why when where who which whatever everything anything something nothing everyone everybody "
    "someone somebody anyone one ones none both each to being such another other others same myself yourself em "
    "himself herself themselves".split()
)
_VAGUE = frozenset(
    "things thing stuff lot lots idea ideas way ways part parts time times fact look sound sounds point kind "
    "sort word option options choice choices version number answer place places day days people person moment moments feeling vibe more less much out".split()
)
_NOT_DOING = frozenset(
    "thing something anything nothing everything morning evening king ring spring string wedding being having "
    "seeing hearing getting knowing thinking making feeling giving taking keeping using going".split()
)
_GENERIC = re.compile(
    r"the (?:sea|seaside|ocean|beach|mountains|outdoors|rain|snow|sun|sunshine|countryside|forest|woods|cold|heat|quiet|"
    r"city|cinema|theatre|theater|gym|dark|winter|summer|autumn|spring|smell of \w+|colou?r \w+|taste of \w+|sound of \w+|"
    r"[A-Z]\w*(?: [A-Z]\w*)*)$"
)
_NARROWING = frozenset({"that", "which", "who"})  # "stories that end well" are not all stories
_EMPTY_DOING = frozenset(
    "being having seeing hearing getting knowing thinking making feeling giving taking keeping using going doing".split()
)
_SHARED = frozenset(
    "movies films books music games songs flavours flavors food shows stories novels dishes cuisine sports poetry "
    "art cheese wine tea".split()
)
_MOST_WORDS, _MOST_WORDS_DOING = 4, 5
_WORD = re.compile(r"[^\W_][\w'&+.-]*$")
_GAPPED = re.compile(rf"(?!(?i:{'|'.join(NATIONALITIES)})\b)[A-Z][a-z]+ [a-z]+$")
_MEALS = frozenset(
    "breakfast lunch dinner supper meals food healthy healthily well less enough early late dessert leftovers "
    "clean properly slowly alone nails dirt dust crow humble words".split()
)


def phrase(text: str) -> str | None:
    """The noun, or the doing, that a text begins with; None for one that points or is too long."""
    text = " ".join(text.split()).strip(" .,!?'\"")
    first = text.partition(" ")[0].casefold()
    is_doing = first.endswith("ing") and first not in _NOT_DOING
    stop = (_STOP_DOING if is_doing else _STOP).search(text)
    if stop and stop[0].casefold() in _NARROWING:
        return None
    if stop:
        text = text[: stop.start()].strip(" .,!?'\"")
    if _GENERIC.match(text):
        return text.removeprefix("the colour ").removeprefix("the color ").removeprefix("the ")
    text = _without_lead(text)
    most = _MOST_WORDS_DOING if is_doing else _MOST_WORDS
    return text if _names_something(text.split(), most=most) else None


def _names_something(words: list[str], *, most: int) -> bool:
    """Whether words stand for themselves: none of them points, hangs in the air, or says nothing."""
    if not 0 < len(words) <= most or not all(_WORD.match(word) for word in words):
        return False
    lows = [word.casefold() for word in words]
    is_cut = (
        lows[-1] in _DANGLING
        or lows[-1].endswith("'s")
        or "www" in lows
        or not {"a", "an"}.isdisjoint(lows[1:-1][-1:])
    )
    is_cut = is_cut or (lows[0].endswith("ing") and lows[1:2] == ["the"])
    is_pointing = lows[0] in _POINTING or not (_POINTING - {"the"}).isdisjoint(lows)
    is_empty = lows[0] in _EMPTY_DOING or not _VAGUE.isdisjoint((lows[0], lows[-1]))
    is_anybody = len(words) == 1 and lows[0] in PEOPLE | _MISSED
    return not (is_cut or is_pointing or is_empty or is_anybody)


_DANGLING = frozenset(
    "in on up out to with for of at into from by about over off the a an and there here".split()
)
_MISSED = frozenset("doing working trying hanging looking coming waiting staying starting".split())


def _without_lead(text: str) -> str:
    for _ in range(3):
        shorter = _LEADING.sub("", text, count=1)
        if shorter == text:
            break
        text = shorter
    return text


_FINITE = re.compile(
    r"\b(?:am|is|are|was|were|be|been|has|have|had|can|could|will|would)\b", re.IGNORECASE
)


def phrases(text: str) -> list[str]:
    """The objects that a list begins with, up to the first that is none."""
    head = re.split(
        r"[;:|()\u2013\u2014]|\s-\s|\b(?:but|because|although|though|so|when|while|since)\b",
        text,
        maxsplit=1,
    )[0]
    found: list[str] = []
    for part in re.split(r",\s*(?:and|or|as well as)\s+|,\s*|\s+(?:and|or|&|as well as)\s+", head):
        if found and _FINITE.search(part):
            break  # "I like Rome, better judgment be damned"
        item = phrase(part)
        if item is None or (found and _is_other(part, found[0], item)):
            break
        if item not in found:
            found.append(item)
        if _STOP.search(part.strip()) and not part.strip().casefold().startswith(
            ("a ", "an ", "some ")
        ):
            break
    head = found[-1].split()[-1].casefold() if found else ""
    if head in _SHARED and " " in found[-1] and not found[0].split()[0].endswith("ing"):
        return [item if " " in item or item.endswith("s") else f"{item} {head}" for item in found]
    return found


_ASIDES = frozenset(
    "too also then now especially not which only just but except rather remember mind however unfortunately sadly "
    "luckily thankfully please right sorry thanks honestly obviously apparently actually therefore hence though "
    "get buy bring give let tell call ask keep".split()
)


def _is_other(part: str, first: str, item: str) -> bool:
    """Whether a part after a comma goes on with something else, such as "too" or what is done."""
    if _GAPPED.match(item) and not first[0].isupper():
        return True  # "I like apples, Tom pears"
    if first.split(maxsplit=1)[0].endswith("ing") and not item.split(maxsplit=1)[0].endswith("ing"):
        return " " in first
    return part.strip().casefold().split(" ")[0] in _ASIDES


def food(text: str) -> list[str]:
    """What is eaten or drunk, of a list; no meals and no manners of eating."""
    return [item for item in phrases(text) if item.casefold().split()[0] not in _MEALS]


def proper_name(text: str) -> str | None:
    """A name of a person, place or organisation, without its article; None for what is no name."""
    plain = " ".join(text.split()).strip(" .,")
    words = plain.removeprefix("the ").split()
    if not words or words[0].casefold() in NOT_NAMES or not words[0][0].isupper():
        return None
    return plain.removeprefix("the ")


_POINTING_CLAUSE = re.compile(
    r"^[^,;.|]*\b(?:that|which|who|what|how|as|if|whatever)\b", re.IGNORECASE
)


def verb_phrase(text: str) -> str | None:
    """What is planned or wished, from its verb on; None where it points at something not named."""
    if _POINTING_CLAUSE.search(text):
        return None
    head = re.split(
        r"[,;:.!?|()_\u2013\u2014]|\s-\s|\b(?:because|since|so|when|while|but|before|after|although|if|that|which|who|as|"
        r"until|and|or|any ?more|any longer|really|someday|too|again|instead|for)\b",
        " ".join(text.split()),
        maxsplit=1,
    )[0].strip()
    words = head.split()
    if not 1 < len(words) <= 6 or not all(_WORD.match(word) for word in words):  # noqa: PLR2004
        return None
    if words[-1].casefold() in _DANGLING | _VAGUE or "'s" in head:
        return None
    if not (_POINTING - {"the", "my", "to", "our"}).isdisjoint(
        word.casefold() for word in words[1:]
    ):
        return None
    if words[0].casefold() in {
        "be",
        "know",
        "say",
        "see",
        "tell",
        "ask",
        "hear",
        "have",
        "do",
        "get",
        "make",
        "go",
        "thank",
        "start",
        "begin",
        "point",
        "mention",
        "add",
        "note",
        "share",
        "stress",
        "miss",
        "cry",
        "die",
        "scream",
        "lose",
        "fail",
        "regret",
        "need",
        "feel",
        "at",
        "just",
        "simply",
        "keep",
        "help",
    }:
        return None
    return re.sub(r"\b(?:my|our|the|a|an) ", "", head)

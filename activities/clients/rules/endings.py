"""Plans that came to nothing: told in the same sentence, or of the plan itself as in "the trip is off".

It stands apart because here the words after a clause, or before it, take back what the clause says.
"""

import re
from collections.abc import Iterable, Iterator

from mnestic.activities.clients.rules.lexicon import MEETINGS
from mnestic.activities.clients.rules.patterns import NAME, PLACE
from mnestic.activities.clients.rules.phrases import proper_name, verb_phrase
from mnestic.activities.clients.rules.verbs import GERUNDS
from mnestic.memory.knowledge.claims import ClaimKind, Span
from mnestic.memory.knowledge.extraction import Extracted

_INTENTIONS = ("plans", "wants")
_UNDONE = re.compile(
    r"\b(?:but|though|although|however|then|until|before|only)\b[^.;!?]{0,60}?\b(?:"
    r"cancel(?:l?ed|l?ing)?(?: (?:it|that|them|everything|again))?(?=\s*(?:$|[,.;!|]|because|since|as|again|after|when|due|last|yesterday|today))"
    r"|call(?:ed|ing)? (?:it|that|them|everything|the whole thing) off"
    r"|postpon(?:e|ed|ing) (?:it|that|them|everything)|put (?:it|that) off"
    r"|(?:fell|fallen|falls) through|came? to nothing|nothing came of it"
    r"|(?:drop|back|pull|chicken|opt)(?:p?ed)? out(?! of)"
    r"|turn(?:ed)? (?:it|that|them) down|withdr[ae]wn?(?=\s*(?:$|[,.;!]))"
    r"|(?:gave|given|give) (?:(?:it|that|them) )?up(?=\s*(?:$|[,.;!]|again|after))"
    r"|(?:sent|took|taken|brought|gave) (?:it|them|her|him) back|returned (?:it|them)\b"
    r"|(?:did|does|could|do)(?:n't| not) (?:happen|work out|go ahead|take place|end up|make it|go through|go\b)"
    r"|never (?:happened|did|went|made it|got (?:there|to|around)|materiali[sz]ed|worked out)"
    r"|changed (?:my|our) minds?|had second thoughts|decided (?:against it|not to)(?=\s*(?:$|[,.;!]))"
    r")",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:but|though|however|then|and|until)\b(?![^.;!?]{0,60}(?:\b(?:never|not)\b|n't\b))[^.;!?]{0,60}?\b(?:(?:hired|took|taken|had|let|wanted|asked|brought) (?:me|us) back"
    r"|(?:came|went|come|gone|moved|got|am|'m|are|'re|was) back|returned|"
    r"(?:took|taken) (?:it|that) back|withdr[ae]wn? (?:it|that|my|our|his|her|their)\b|talked (?:me|us|him|her|them) out of it|changed (?:my|our|his|her|their) minds?(?! about\b)|re-?joined|again\b|relapsed|started up again)",
    re.IGNORECASE,
)
_TRIP = r"(?:trip|holiday|vacation|journey|flights?|visit|weekend|travels)"
_IS_OFF = (
    r"(?: (?!but\b|and\b)[a-z]+| [A-Z][a-z]+){0,3}? (?:(?:is|was|are|were|got|has been|have been|had to be) (?:now |all |both |officially |sadly )?"
    r"(?:off(?! (?:to|the))|cancel(?:l?ed)|called off|dead|dropped|scrapped|postponed indefinitely|not happening|no longer happening)"
    r"|(?:is|are|was)(?:n't| not) (?:happening|going ahead|going to happen)|(?:fell|has fallen|have fallen) through"
    r"|(?:won't|will not) (?:happen|go ahead))\b"
)
_DROPPED = re.compile(
    rf"\b(?:[Tt]he|[Mm]y|[Oo]ur|[Tt]hat) (?:(?:plans? to )?move to (?P<home>{PLACE})"
    rf"|(?:plans? (?:for|to|of) (?:a |the |our )?)?(?:(?:go|travel|fly) to|{_TRIP} (?:to|in)|visit) (?P<goal>{PLACE})"
    rf"|plans? for (?P<where>{PLACE})|(?P<name>{PLACE}) {_TRIP}|plans? (?:to|for|of) (?P<deed>[a-z][a-z' -]{{2,40}}?)){_IS_OFF}"
)
_OFFERED = re.compile(
    rf"\b(?:[Tt]he|[Mm]y|[Tt]hat) (?P<name>{NAME}) (?:job|position|role|offer|gig|internship)(?: offer)?{_IS_OFF}"
)
_NO_WEDDING = re.compile(
    rf"\b(?:[Tt]he|[Oo]ur|[Mm]y) wedding(?={_IS_OFF}|'s (?:off|cancel(?:l?ed)|called off)\b)|\b(?:cancel(?:l?ed)|called off) (?:the|our) wedding\b(?! \w+ for\b)"
)
_CALLED_OFF = re.compile(
    rf"\b(?P<whose>[Tt]he|[Mm]y|[Oo]ur) (?P<noun>(?:[a-z-]+ ){{0,2}}?(?:{'|'.join(MEETINGS)})){_IS_OFF}"
)
_NO_PLACE = re.compile(rf"(?:\A|[.,;!] |\b(?:and|but|so) )(?P<name>{PLACE})(?={_IS_OFF})")
# What somebody says about a thing by its name alone: none of what was said of it is so.
_NEVER_SO = re.compile(
    r"\b(?:kidding|joking|lied|lying|wrong|mistaken|fibbing|messing with you|(?:forget|ignore|disregard) what (?:I|[Ww]e) said) about "
    rf"(?:(?:the|my|our|moving|going|living|working|being|flying|travelling|marrying|visiting|quitting|leaving|to|in|at|for|from|with) )*(?P<name>{NAME})"
    rf"|\b(?:I|[Ww]e) (?:actually )?meant [^,.;!?|]{{1,40}}, not (?:(?:in|at|to|for) )?(?P<other>{NAME})"
    rf"|\bnot (?:(?:in|at|to|for) )?(?P<third>{NAME}),? (?:I|[Ww]e) meant\b"
)
# What is in each sentence that these find; looking for them in every one takes time.
_OFF_SIGNS = (
    *(
        "off",
        "cancel",
        "dead",
        "dropped",
        "scrapped",
        "postponed",
        "happen",
        "going ahead",
        "through",
        "go ahead",
    ),
    *("decided against", "changed", "iven up", "gave up", "abandoned", "ruled out"),
)
_NEVER_SIGN = re.compile(
    r"ing about|lied about|wrong about|mistaken about|said about|with you about|meant"
)
_OF_ANYTHING = (
    "lives_in",
    "employer",
    "studies_at",
    "visited",
    "engaged_to",
    "married_to",
    "partner",
)
_DECIDED = re.compile(
    r"\b(?:I|[Ww]e)(?:'ve| have)?(?: just| both| now| finally)? (?:decided against|changed (?:my|our) minds? about|"
    r"g(?:a|i)ven? up on|(?:dropped|gave up|abandoned|scrapped) the (?:idea|plan|thought) of|ruled out) "
    r"(?P<doing>[a-z]+ing\b[^,.;!?|]{0,60})"
)
_GOING = re.compile(
    rf"(?:going|travelling|traveling|flying|driving) to (?P<goal>{PLACE})|visiting (?P<seen>{PLACE})"
)
_MOVING = re.compile(rf"(?:moving|relocating|emigrating) to (?P<home>{PLACE})")
_LEAD = r"(?:\A|[,;] |\b(?:and|but) )(?:(?:[Ww]hen|[Aa]fter|[Ss]ince|[Bb]ecause|[Ss]adly|[Uu]nfortunately),? )?(?:[Pp]oor (?:old )?|[Oo]ur )?"
_LOST = re.compile(
    rf"{_LEAD}(?P<said>(?P<name>{NAME})"
    r"(?: (?:has|had|have|just|sadly|suddenly|recently|finally|peacefully))*(?: died(?! laughing\b| inside\b| of (?:laughter|boredom|shame|embarrassment)\b)| passed (?:away|on))\b"
    r"|(?:I|[Ww]e)(?: (?:had to|have))? (?:put (?P<down>[A-Z][\w-]+) (?:down|to sleep)|sa(?:y|id) goodbye to (?P<gone>[A-Z][\w-]+))"
    r"(?=\s*(?:\Z|[.,;!]|and\b|but\b|because\b|last\b|yesterday\b|today\b|this\b)))"
)
_MOVED_OUT = re.compile(
    rf"{_LEAD}(?P<said>(?P<name>{NAME})"
    r"(?: (?:has|had|just|recently|finally))* moved out)(?! of (?!my\b|our\b)| (?:to|here)\b)\b"
)
_BASES = {gerund: lemma for lemma, gerund in GERUNDS.items()}


def undone(claims: Iterable[Extracted], sentence: str, *, start: int) -> Iterator[Extracted]:
    """The claims of a sentence without what its end takes back; a plan that it names is over.

    "I left Nokia, but they hired me back" tells of no end either.

    Args:
        claims: Of its clauses.
        sentence: Its text, masked.
        start: Where it begins in the message.
    """
    undone_at, back_at = (
        start + found.start() if (found := sign.search(sentence)) else None
        for sign in (_UNDONE, _BACK)
    )
    for claim in claims:
        begin = claim.span.start
        if claim.kind == "affirmed" and undone_at is not None and begin <= undone_at:
            if claim.predicate in _INTENTIONS:
                over = {"kind": "ended", "valid_from": None, "valid_to": None}
                yield claim.model_copy(update=over)
        elif claim.kind != "ended" or back_at is None or begin > back_at:
            yield claim  # of what one went back to, the end is none


def dropped_in(sentence: str, start: int, speaker: str) -> Iterator[Extracted]:
    """The plans, days and offers of the speaker that a sentence says are none any more."""
    if not any(sign in sentence for sign in _OFF_SIGNS):
        return
    for plan, match in _plans_dropped(sentence):
        yield from _over(plan, match, start=start, speaker=speaker)
    for match in _NO_WEDDING.finditer(sentence):
        yield _told("ended", "wedding_date", None, match, start=start, speaker=speaker)
    for match in _CALLED_OFF.finditer(sentence):
        of_speaker = f"{speaker}'s {match['noun']}"
        is_anybodys = match["whose"].casefold() == "the"
        for subject in (of_speaker, match["noun"]) if is_anybodys else (of_speaker,):
            yield _told("ended", "happens_on", None, match, start=start, speaker=subject)
    for match in _OFFERED.finditer(sentence):
        yield _told("ended", "employer", match["name"], match, start=start, speaker=speaker)
        yield _told("ended", "starts_work_on", None, match, start=start, speaker=speaker)


def _plans_dropped(sentence: str) -> Iterator[tuple[str | None, re.Match[str]]]:
    """How each plan is called, and the words that say so."""
    for match in _DROPPED.finditer(sentence):
        home, goal = match["home"], match["goal"] or match["name"] or match["where"]
        if home or goal:
            yield (f"move to {_plain(home)}" if home else f"trip to {_plain(goal)}"), match
        else:
            yield verb_phrase(match["deed"]), match
    for match in _NO_PLACE.finditer(sentence):
        if proper_name(match["name"]):
            yield from ((f"{deed} to {_plain(match['name'])}", match) for deed in ("trip", "move"))
    for match in _DECIDED.finditer(sentence):
        yield _plan_of(match["doing"]), match


def never_so(sentence: str, start: int, speaker: str) -> Iterator[Extracted]:
    """Of what is taken back by its name alone, as in "Just kidding about Paris": whatever was said of it."""
    for match in _NEVER_SO.finditer(sentence) if _NEVER_SIGN.search(sentence) else ():
        name = proper_name(match["name"] or match["other"] or match["third"])
        for predicate in _OF_ANYTHING if name else ():
            yield _told("retracted", predicate, name, match, start=start, speaker=speaker)
        for predicate in _INTENTIONS if name else ():
            for plan in (f"trip to {name}", f"move to {name}"):
                yield _told("retracted", predicate, plan, match, start=start, speaker=speaker)


def lost_in(sentence: str, start: int, speaker: str) -> Iterator[Extracted]:
    """Of those who died or moved out: the end of what the speaker had of them, if anything."""
    for sign, predicate in ((_LOST, "pet"), (_MOVED_OUT, "lives_with")):
        for match in sign.finditer(sentence):
            name = match["name"] or match["down"] or match["gone"]
            span = Span(start=start + match.start("said"), end=start + match.end("said"))
            yield Extracted(
                kind="ended", subject=speaker, predicate=predicate, object=name, span=span
            )
            if predicate == "lives_with":
                yield Extracted(
                    kind="ended", subject=name, predicate=predicate, object=speaker, span=span
                )


def _plan_of(doing: str) -> str | None:
    """How the plan is called of which a gerund tells."""
    if moving := _MOVING.match(doing):
        return f"move to {_plain(moving['home'])}"
    if going := _GOING.match(doing):
        return f"trip to {_plain(going['goal'] or going['seen'])}"
    verb, _, rest = doing.partition(" ")
    return verb_phrase(f"{_BASES[verb]} {rest}") if verb in _BASES else None


def _over(
    name: str | None, match: re.Match[str], *, start: int, speaker: str
) -> Iterator[Extracted]:
    if name is None:
        return
    for predicate in _INTENTIONS:
        yield _told("ended", predicate, name, match, start=start, speaker=speaker)
    if name.startswith("trip to "):
        yield _told("ended", "travel_date", None, match, start=start, speaker=speaker)


def _told(  # noqa: PLR0917 - what is over, as a claim is told
    kind: ClaimKind,
    predicate: str,
    value: str | None,
    match: re.Match[str],
    *,
    start: int,
    speaker: str,
) -> Extracted:
    span = Span(start=start + match.start(), end=start + match.end())
    return Extracted(kind=kind, subject=speaker, predicate=predicate, object=value, span=span)


def _plain(place: str) -> str:
    return place.removeprefix("the ").removeprefix("The ")

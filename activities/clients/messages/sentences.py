"""Which sentences of a message state something: no question, supposition, order, or what is taken back.

It stands before everything else, since what is left out here can never become a fact.
"""

# ruff: noqa: RUF001 (typographic marks are meant)

import re
from typing import NamedTuple

from mnestic.activities.clients.messages.genres import is_report
from mnestic.memory.language.sentences import split_sentences

_DOUBT = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|possibly|probably|presumably|allegedly|apparently|supposedly|reportedly|"
    r"rumou?rs?|might|may(?= (?:be|have|well|not|or)\b)|as though|or so|not sure|unsure|no idea|in theory|would have|could have|should have|almost|nearly(?! \w+ (?:days|weeks|months|years))|"
    r"according to|as the saying|they say|people say|so to speak|figuratively|metaphorically|feels? like|felt like|"
    r"lol|lmao|rofl|(?:ha){2,8}|(?:he){2,8}|in case|provided that|assuming|depending on|otherwise|ideally|someday|some day|one day|by the time|when I (?:grow up|retire|'m (?:old|rich|older|grown)|am (?:old|rich|older|grown))|"
    r"(?:when|once|as soon as|the day) (?:I|we)(?: finally)? (?:win|become|graduate|finish|earn|find|make|save|can afford|get (?:rich|married|promoted|my|the|a|an|old))\b|as long as|practically|basically a|oh,? sure|yeah,? (?:right|sure)|said no one|in my head|for (?:halloween|carnival|mardi gras|fancy dress|cosplay|the (?:school )?(?:play|nativity|costume party|masquerade))|could pass for|"
    r"(?:goes|went|is|are|was|were|'s|'re|be) (?:all |just |kind of )?like[,:]? (?=(?:I|I'm|I've|I'll|we|we're|my|our)\b))"
    r"|(?:\b(?:goes|went)|\b(?:reads?|says?|goes|ran|stated?)[,:]) (?=(?:I|I'm|I've|I'll|we|we're|my|our)\b)|\bobviously\b|"
    r"(?<=\w)(?:,| -| –| —|\.\.\.| …|…) ?(?:no,? (?:wait,? )?(?!(?:I|we|it|he|she|they|you|my|our|the|not|one|thanks|problem|matter)\b)\w|wait,? (?!for\b|until\b|till\b)\w|or rather\b|I mean,? (?!I\b|it\b|who\b|the\b)\w|make that\b|sorry, (?!I\b|but\b|for\b)\w)|\bif only\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?:\b(?:she|he|they|it|[A-Z][a-z]+) (?:said|says|told (?:me|us)|claims|claimed|thinks|thought|wrote)"
    r"|\b(?:said|says) (?:she|he|they|[A-Z][a-z]+))\W*$"
    r"|,['_]* (?:(?:his|her|their|the|an?|my|our|[A-Z][\w.]+) (?:[\w'-]+ ){0,4}?|she |he |they )(?:said|says|explained|replied|added|answered|exclaimed|shouted|wrote|claims|claimed|"
    r"insisted|joked|recalled|admitted|noted|whispered|yelled|laughed|sighed|muttered|told (?:me|us|him|her|them|reporters))\b"
)
_ALMOST_LENGTH = re.compile(
    r"\b(?:almost|nearly) (?:\w+ )?(?:days?|weeks?|months?|years?|\d+|[a-z]+ (?:months|years|weeks|days))\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:scratch that|never mind|nevermind|strike that|forget (?:(?:that|it)(?! (?:I|we|my|our|the|he|she|they)\b)|what I (?:just )?said(?! about\b))|that(?:'s| is| was) (?:not true|wrong|a lie|nonsense)|"
    r"on second thoughts?|(?:actually|wait|hmm|oh|er|um|no),? no\b(?! (?:longer|more|one))|I take (?:that|it) back|ignore (?:that(?! (?:I|we|my|our)\b)|what I (?:just )?said(?! about\b))|scrap that|disregard that|as if(?=\s*[.!…]*\Z))\b"
    r"|\b(?<![\w,;:] )(?:not|psych|sike|as if)\s*[.!…]+\s*\Z|\bsaid (?:no one|nobody) ever\b|\bscratch (?:all )?that\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\s*(?:please |kindly )?(?:(?:stop|quit) (?:saying|telling|thinking|pretending|assuming|writing)|forget|ignore|don'?t (?:say|tell|think|assume|write|believe)|remember|note|remind|assume|write|say|tell|repeat|answer|reply|act|treat|mark|set|update(?!s?:)|delete|save|store|make sure|don't forget|do not forget)\b",
    re.IGNORECASE,
)
_OWN_NOTE = re.compile(
    r"\s*(?:please )?(?:remember|note|don't forget|do not forget)(?: that)? (?=(?:I|I'm|I've|my)\b)",
    re.IGNORECASE,
)
# Words that put right what was just said, without a clause of their own: "Actually 32.", "No, Tuesday."
_MENDED = re.compile(
    r"\W*(?:(?i:actually|no|nope|sorry|oops|correction|edit|make (?:that|it)|I mean|I meant(?: to say)?|that should be|or rather|rather|wait|typo)[,:]? )+(?:(?:in|at|on|to|the|an?|it's) )*"
    r"(?:\d[\w.:/]*|[A-Z][\w'-]+|[a-z]+(?:teen|ty|th|st|nd|rd)\b(?:-[a-z]+)?|(?<=(?i:edit: to ))\w+|(?<=(?i:edit: ))\w+)(?: (?:of )?[A-Z\d][\w'-]*){0,2}(?=\W*\Z|[,;:(.]| -)"
)
_LONGEST = 1200
_ASKED = re.compile(r"[?？؟][\"'”’»)\]\s\W]*$")


_LEADS = (
    *(
        "ound out",
        "urns out",
        "urned out",
        "onfirmed",
        "eali",
        "iscovered",
        "oticed",
        "admit",
        "confess",
    ),
    *(
        "to say",
        "to announce",
        "to report",
        "to share",
        "to tell you",
        "to mention",
        "ust say",
        "know",
    ),
)
_LEAD_IN = re.compile(
    r"(?:\bI(?:'ve| have)? (?:just |recently |finally |also )?(?:found out|realised|realized|discovered|noticed)"
    r"|(?:^|(?<=[.!?;,\n] )|(?<=\band )|(?<=\bbut ))(?:the|my|our) [a-z]+(?: has| have)?(?: just| recently| finally| also)?"
    r" (?:found out|discovered|confirmed)"
    r"|\b(?:it |so it )?turn(?:s|ed) out|\bI(?:'m| am) (?:so |very |really |just )?(?:happy|glad|proud|sad|sorry|excited|thrilled|pleased)"
    r" to (?:say|announce|report|share|tell you)|\bI (?:must|have to|gotta) (?:say|admit|confess)"
    r"|\bI forgot to (?:say|mention|tell you)|(?<!do )(?<!did )(?<!if )\b(?:as )?you (?:already |may |probably )?know)"
    r",? (?:that )?(?=(?:I|I'm|I've|I'd|my|we|we're|we've|our)\b)",
    re.IGNORECASE,
)


class Sentence(NamedTuple):
    """Characters `start` up to `end` of the masked message, and whether they state something."""

    start: int
    end: int
    is_stated: bool


def mask_lead_ins(masked: str) -> str:
    """The message without what only leads up to what is so, such as "it turns out", place for place."""
    if not any(
        sign in masked for sign in _LEADS
    ):  # most have none, and looking for them all takes time
        return masked
    return _LEAD_IN.sub(lambda found: " " * len(found[0]), masked)


def sentences_of(masked: str) -> list[Sentence]:
    """The sentences of a masked message, in their order.

    None of them states anything when the message is told as a joke or a story, or gives orders to
    whoever reads it. One that is too long to be a sentence states nothing either.
    """
    is_serious = is_report(masked)
    found: list[Sentence] = []
    place = 0
    for text in split_sentences(masked):
        start = masked.index(text, place)
        place = start + len(text)
        back = _TAKEN_BACK.search(text)
        if back:
            found = [each._replace(is_stated=False) for each in found]
            found.append(Sentence(start, start + back.end(), is_stated=False))
            text, start = text[back.end() :], start + back.end()  # noqa: PLW2901 - what follows it
        if found and _MENDED.match(text):
            found[-1] = found[-1]._replace(is_stated=False)
        own = _OWN_NOTE.match(text)
        is_stated = is_serious and len(text) <= _LONGEST and _is_statement(text, is_own=bool(own))
        found.append(Sentence(start + (own.end() if own else 0), place, is_stated))
    return found


def _is_statement(text: str, *, is_own: bool) -> bool:
    if _ASKED.search(text) or _TOLD.search(text) or (_ORDER.match(text) and not is_own):
        return False
    return not _DOUBT.search(_ALMOST_LENGTH.sub("", text))

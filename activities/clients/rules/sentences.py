"""Which sentences of a message state something: no question, quotation, supposition, joke or order.

It stands before everything else, since what is left out here can never become a fact.
"""

# ruff: noqa: RUF001 (typographic marks are meant)

import re
from typing import NamedTuple

from mnestic.memory.sentences import split_sentences

_STRAIGHT = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " "})
_QUOTED = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*|\"[^\"\n]*(?:\"|$)|“[^”\n]*(?:”|$)|«[^»\n]*(?:»|$)|„[^“”\n]*(?:[“”]|$)"
    r"|(?<![\w'])'(?=\w)[^'\n]{0,80}(?:'\w[^'\n]{0,80}){0,4}'(?!\w)|‘[^\n']{0,300}'(?!\w)",
    re.MULTILINE,
)
_TITLE = re.compile(
    r"[\"“‘'«„]((?:[A-Z\d][\w-]*|of|the|to|and|in|a|de|la)(?: (?:[A-Z\d][\w-]*|of|the|to|and|in|a|de|la)){0,5})[\"”’'»“]\Z"
)
_BEFORE_TITLE = re.compile(r"(?:\b(?:called|named|is|titled)|\w's) *\Z", re.IGNORECASE)
_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules|messages|guidelines|context|above)\b"
    r"|\bsystem (?:prompt|message|override)\b|^[ \t]*(?:system|assistant|developer)\s*:|\byou are now\b|\bnew instructions?\b"
    r"|<\/?\s*(?:system|instructions?|memory)\b|\[/?(?:system|inst)\]|\b(?:store|save|write|add|record) (?:this |the following |that )?(?:\w+ )?(?:in|to|into) (?:your |the )?(?:long[- ]term )?memory\b"
    r"|\bjailbreak\b|\bdeveloper mode\b|\bas an ai\b",
    re.IGNORECASE | re.MULTILINE,
)
_JOKE = re.compile(
    r"(?<!not )(?<!no )(?<!aren't )\b(?:kidding|joking|pulling your leg|april fools?|just a joke|as a joke|was a joke|is a joke|for a laugh|sarcasm|sarcastic(?:ally)?|j/k|jk)\b(?! aside)"
    r"|(?:^|\s)/s(?:\s|$)|[😜🤪😝🙃]|\b(?:I|we) (?:lied|made (?:that|it|this) up|am making this up)\b|\bnot really true\b|\bnone of (?:that|this|it) is true\b",
    re.IGNORECASE,
)
_FICTION = re.compile(
    r"\b(?:imagine|suppose|supposing|pretend(?:ing)?|hypothetical(?:ly)?|role[- ]?play(?:ing)?|let's say|let us say|just say|say for example|in (?:my|a|the|an|this|that|some|another) (?:wildest )?(?:dreams?|novel|story|film|movie|game|book|play|script|song|poem|scenario|example|parallel|alternate|perfect|ideal|different)|"
    r"picture (?:this|me|us|it)|envision|visuali[sz]e|thought experiment|fantasi[sz]e|(?:ideal|dream|perfect|fantasy) \w+ ?:|"
    r"I (?:dreamt|dreamed)|had a dream|fictional|my character|the character|the main character|in another life|in a past life|once upon a time|"
    r"lyrics|the song goes|the poem|for example|for instance|such as when|translate|proofread|rewrite|paraphrase|summari[sz]e|draft)\b|\be\.g\."
    r"|\b(?<![\w,] )(?:let's |let us )?assum(?:e|ing)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|possibly|probably|presumably|allegedly|apparently|supposedly|reportedly|"
    r"rumou?rs?|might|may(?= (?:be|have|well|not|or)\b)|as though|or so|not sure|unsure|no idea|in theory|would have|could have|should have|almost|nearly(?! \w+ (?:days|weeks|months|years))|"
    r"according to|as the saying|they say|people say|so to speak|figuratively|metaphorically|feels? like|felt like|"
    r"lol|lmao|rofl|(?:ha){2,8}|(?:he){2,8}|in case|provided that|assuming|depending on|otherwise|ideally|someday|some day|one day|by the time|when I (?:grow up|retire|'m (?:old|rich|older|grown)|am (?:old|rich|older|grown))|"
    r"as long as|practically|basically a|oh,? sure|yeah,? (?:right|sure)|said no one|in my head|could pass for|"
    r"(?:goes|went|is|are|was|were|'s|'re|be) (?:all |just |kind of )?like[,:]? (?=(?:I|I'm|I've|I'll|we|we're|my|our)\b))"
    r"|(?:\b(?:goes|went)|\b(?:reads?|says?|goes|ran|stated?)[,:]) (?=(?:I|I'm|I've|I'll|we|we're|my|our)\b)|,? obviously\W*\Z|"
    r"(?<=\w)(?:,| -| –| —|\.\.\.| …|…) ?(?:no,? (?:wait,? )?(?!(?:I|we|it|he|she|they|you|my|our|the|not|one|thanks|problem|matter)\b)\w|wait,? (?!for\b|until\b|till\b)\w|or rather\b|I mean,? (?!I\b|it\b|who\b|the\b)\w|make that\b|sorry, (?!I\b|but\b|for\b)\w)|\bif only\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?:\b(?:she|he|they|it|[A-Z][a-z]+) (?:said|says|told (?:me|us)|claims|claimed|thinks|thought|wrote)"
    r"|\b(?:said|says) (?:she|he|they|[A-Z][a-z]+))\W*$"
)
_ALMOST_LENGTH = re.compile(
    r"\b(?:almost|nearly) (?:\w+ )?(?:days?|weeks?|months?|years?|\d+|[a-z]+ (?:months|years|weeks|days))\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:scratch that|never mind|nevermind|strike that|forget (?:that|it|what I (?:just )?said)|that(?:'s| is| was) (?:not true|wrong|a lie|nonsense)|"
    r"on second thoughts?|(?:actually|wait|hmm|oh|er|um|no),? no\b(?! (?:longer|more|one))|I take (?:that|it) back|ignore (?:that|what I (?:just )?said)|scrap that|disregard that|as if(?=\s*[.!…]*\Z))\b"
    r"|\b(?<![\w,;:] )(?:not|psych|sike|as if)\s*[.!…]+\s*\Z|\bsaid (?:no one|nobody) ever\b|\bscratch (?:all )?that\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\s*(?:please |kindly )?(?:remember|note|remind|assume|write|say|tell|repeat|answer|reply|act|treat|mark|set|update|delete|save|store|make sure|don't forget|do not forget)\b",
    re.IGNORECASE,
)
_OWN_NOTE = re.compile(
    r"\s*(?:please )?(?:remember|note|don't forget|do not forget)(?: that)? (?=(?:I|I'm|I've|my)\b)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\n.!?]|[.!?](?!\W?\Z)")  # the mark at the end still ends the sentence
_LONGEST = 1200
_ASKED = re.compile(r"[?？؟][\"'”’»)\]\s\W]*$")


_LEADS = (
    *("ound out", "urns out", "eali", "iscovered", "oticed", "to say", "to announce", "to report"),
    *("to share", "to tell you", "to mention", "ust say", "admit", "confess", "know"),
)
_LEAD_IN = re.compile(
    r"(?:\bI(?:'ve| have)? (?:just |recently |finally |also )?(?:found out|realised|realized|discovered|noticed)"
    r"|\b(?:it |so it )?turns out|\bI(?:'m| am) (?:so |very |really |just )?(?:happy|glad|proud|sad|sorry|excited|thrilled|pleased)"
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


def mask_quotes(content: str) -> str:
    """The message with straight apostrophes; what it quotes is blanked, place for place.

    A title, such as a name in quotation marks after "called", is not speech and stays. What only leads up to
    what the speaker says is so, such as "it turns out", goes.
    """
    masked = _QUOTED.sub(_masked, content.translate(_STRAIGHT))
    if not any(
        sign in masked for sign in _LEADS
    ):  # most have none, and looking for them all takes time
        return masked
    return _LEAD_IN.sub(lambda found: " " * len(found[0]), masked)


def _masked(match: re.Match[str]) -> str:
    quoted = match[0]
    title = _TITLE.match(quoted)
    if title and _BEFORE_TITLE.search(match.string, max(0, match.start() - 12), match.start()):
        return f" {title[1]} ".ljust(len(quoted))
    return _LETTER.sub("_", quoted)


def sentences_of(masked: str) -> list[Sentence]:
    """The sentences of a masked message, in their order.

    None of them states anything when the message is told as a joke or a story, or gives orders to
    whoever reads it. One that is too long to be a sentence states nothing either.
    """
    is_serious = not any(sign.search(masked) for sign in (_INJECTION, _JOKE, _FICTION))
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
        own = _OWN_NOTE.match(text)
        is_stated = is_serious and len(text) <= _LONGEST and _is_statement(text, is_own=bool(own))
        found.append(Sentence(start + (own.end() if own else 0), place, is_stated))
    return found


def _is_statement(text: str, *, is_own: bool) -> bool:
    if _ASKED.search(text) or _TOLD.search(text) or (_ORDER.match(text) and not is_own):
        return False
    return not _DOUBT.search(_ALMOST_LENGTH.sub("", text))

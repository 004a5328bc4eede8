"""Courtesies: what people say to be polite, to agree or to take their leave, and ask nothing of memory by it.

It stands alone because this is a list of words, and what becomes of a message that says no more is decided
by who reads it. English is understood, and what others begin a conversation with.
"""

import re
from collections.abc import Set as AbstractSet
from functools import cache

from mnestic.memory.language.function_words import stop_words
from mnestic.memory.language.terms import normalised, words_of

_MOST_WORDS, _MOST_CHARS = 16, 1000  # who says more, says something
_APOSTROPHES = re.compile("['’ʼ`´]")  # noqa: RUF001 (apostrophes of many kinds are meant)
_LINES = re.compile(r"\s*[\n\r\u2028\u2029]\s*")
# Behind these something else begins.
_STOPS = frozenset(".!:;-\N{EN DASH}\N{EM DASH}\N{HORIZONTAL ELLIPSIS}")
_FACES = re.compile(r"(?<!\w)(?:[:;=]['-]?[)(\]DPpOo3*/|]+|<3+|[xX]D+)(?!\w)")

_NICE = (
    "(?:nice|good|great|lovely|wonderful|pleasant|safe|fun|relaxing|beautiful|restful|fantastic|amazing|"
    "super|happy|merry|blessed|productive|fine)"
)
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TIME = (
    f"(?:day|morning|afternoon|evening|night|weekend|week|time|trip|journey|flight|holidays?|vacation|meal|"
    f"one|break|rest|summer|winter|christmas|easter|birthday|party|sleep|{_WEEKDAY})(?: ahead)?"
)
_PART = "(?:(?:rest|start) (?:of|to) (?:your|the) )"
_WHEN = f"(?:all|soon|later|then|there|around|again|tomorrow|tonight|next (?:week|time)|(?:on )?{_WEEKDAY})"
_FEAST = (
    f"(?:birthday|christmas|xmas|easter|year|anniversary|holidays?|hanukkah|diwali|eid|thanksgiving|weekend|"
    f"valentines(?: day)?|(?:mothers|fathers) day|{_WEEKDAY})"
)
_MUCH = "(?: (?:so|very|much|a lot|a bunch|a ton|a million|again|anyway|in advance|kindly))"
_KINDNESS = (
    "(?: for (?:that|this|it|everything|now|(?:all )?(?:of )?(?:your |the )?(?:quick |kind |great )?"
    "(?:help|support|time|info|information|update|reminder|answer|reply|tips?|advice|patience|effort|work)))"
)
_WISH = f"(?:a )?(?:very )?(?:happy|merry)(?: belated| new)? {_FEAST}"
# After these somebody may be called by their name, of whom one sees it; after the first two, by any word with a
# capital; after the first, and a wish for a feast, by any one word that ends what is said to them.
_GREETING = "hi|hello|hey|hiya|hallo|hola|bonjour|ciao|salut|servus|bye"
_CALLING = f"{_GREETING}|thanks|thx|cheers|danke|merci|gracias"
_ADDRESSING = (
    f"{_CALLING}|howdy|yo|greetings|welcome(?: back)?",
    "(?:good )?morning|good (?:day|afternoon|evening|night)|goodnight|gday",
    "bye(?: bye)?|goodbye|farewell|cya|ttyl|so long|take care(?: of yourself)?|tschüss|adios|au revoir",
    "sleep (?:well|tight)|sweet dreams|until (?:then|later|tomorrow|next time)",
    f"(?:see|talk to|speak to|catch) (?:you|ya|u)(?: {_WHEN})*",
    f"(?:many |a thousand )?(?:thanks|thank (?:you|u)|thx|thanx|ty|tysm|cheers){_MUCH}*{_KINDNESS}?",
    "danke(?: schön| dir)?|merci(?: beaucoup)?|(?:muchas )?gracias|grazie|obrigad[oa]",
    f"{_WISH}(?: to(?: you)?)?",
    "congratulations|congrats|well done|good (?:job|work|luck)|nice (?:job|work|one)|great (?:job|work)",
    "best wishes|best of luck|all the best|get well(?: soon)?|safe travels|bon (?:appetit|voyage)|bless you",
    f"(?:(?:i )?(?:hope|wish) you )?(?:have |had )?a (?:very |really )?{_NICE}(?: {_NICE})* {_PART}?{_TIME}",
    f"{_NICE} weekend|happy {_WEEKDAY}|have fun|enjoy(?: it| yourself| (?:your|the) {_TIME})?",
    "(?:(?:its|it is) )?(?:nice|good|great|lovely) to (?:meet|see|hear from|talk to) you",
    "how (?:are|r) (?:you|u|things)(?: doing)?(?: today)?|how do you do|hows it going|how is it going|sup",
    "whats up|i appreciate (?:it|that|this|your help)|much appreciated",
    "(?:(?:youre|you are|ur) )?(?:very |most )?welcome|(?:youre|you are) (?:the best|great|kind|a star)",
)
_PLAIN = (
    "yes|yeah|yea|yep|yup|ya|aye|sure(?: thing)?|of course|certainly|definitely|absolutely|indeed",
    "exactly|precisely|correct|true|right|agreed|i agree|deal|(?:thats|that is) (?:right|correct|true|it|all)",
    "no|nope|nah|no (?:thanks|thank you|need|problem|worries)|not (?:now|yet|today|at all|really)|never ?mind",
    "ja|nein|doch|oui|non|sí|si|maybe|perhaps|probably|i (?:think|hope|guess|suppose) so",
    "ok|okay|okey|kk?|okie dokie|alright|all right|fine|(?:very )?good|great|perfect|excellent|super|awesome",
    "cool|nice|lovely|wonderful|brilliant|amazing|fantastic|sweet|neat|noted|understood|done|got it|will do",
    "(?:(?:that|it|this) )?(?:sounds?|looks?) (?:good|great|fine|perfect|nice)(?: to me)?|roger(?: that)?",
    "(?:thats|that is|its|it is) (?:ok|okay|fine|good|great|perfect|cool|nice|lovely|wonderful|awesome)",
    "i see|makes sense|fair enough|go (?:ahead|on)|carry on|(?:please )?do (?:it|that|this|so)|please do",
    "lets (?:do (?:it|that|this)|go)|(?:please|pls|plz)|sorry|excuse me|pardon|my bad|no offen[cs]e",
    "my pleasure|dont mention it|any ?time|likewise|same (?:to you|here)|(?:and )?you too|to you(?: too)?|me too",
    "oops|wow|oh|ah+|aww*|ha(?:ha)+h?|he(?:he)+|lol|rofl|lmao|omg|hm+|mhm+|uh huh|um+|yay|phew|ugh|well",
)
_CALLED = "(?: (?:there|all|everyone|everybody|guys|folks|my friend|friends?|mate|buddy|dear|team|sir|again|back))*"
_ONE_OF_KIN = (
    "(?:(?:my|our) )?(?:dear(?:est)? )?(?:(?:grand|god|step)?(?:ma|pa|mother|father)|mum|mummy|mom|mommy|dad|daddy|"
    "gran|granny|nan|nana|grandad|granddad|aunt|auntie|aunty|uncle|cousin|sis|sister|bro|brother|son|daughter|"
    "love|honey|darling|sweetheart|sweetie|babe|dude|man|boss|doc)"
)
_KIN = f"(?: {_ONE_OF_KIN}(?: and {_ONE_OF_KIN})?)?"
# What has a feast in its name, and is looked for.
_OF_FEASTS = (
    "song|cake|card|party|gift|present|dinner|lunch|brunch|breakfast|speech|toast|invitation|list|message|mail|"
    "email|letter|text|post|video|playlist|music|tune|carol|poem|story|movie|film|banner|balloon|poster|flyer|"
    "photo|picture|surprise|trip|plan|table|menu|meal|tree|market|eve|egg|bunny|sweater|jumper|recipe|hour|deploy|"
    "ideas?|venue|budget|decoration|theme|games?|quiz|wish|wishes|photos"
)
# How a word is marked that may be a name: as one, or for its capital letter alone; and one that begins a sentence.
_SURE, _CAPITAL, _FIRST = "@", "^", "."
_NAME = rf"(?!{_WEEKDAY}\b)(?:[^\W\d]|-)+"
_ADDRESSED = (
    f"(?:(?:{'|'.join(_ADDRESSING)}){_CALLED}{_KIN}(?: @{_NAME})?|(?:{_CALLING}) \\^{_NAME}|"
    f"(?:{'|'.join(_PLAIN)}){_CALLED})"
)


@cache
def _courtesies(*, is_question: bool) -> re.Pattern[str]:
    """What is said, one after the other, with words that may be marked; made for the first message, as it takes a while."""
    phrases = (_ADDRESSED,) if is_question else (_ADDRESSED, _to_anybody())
    pattern = f"(?:(?:and |but |so )?(?:{'|'.join(phrases)})(?: |$))+"
    return re.compile(pattern.replace(" ", " [@^.]?"))


def _to_anybody() -> str:
    """A greeting and one word without a mark that is no function word, nor looks like several things, as "invoices" does."""
    others = f"{'|'.join(sorted(stop_words()))}|{_OF_FEASTS}"
    anybody = rf"(?<=\s)(?!(?:{others})\b)[^\W\d_]+(?<![^aious]s)"
    return f"(?:{_GREETING}|{_WISH}(?: to)?){_KIN} {anybody}"


def without_emoticons(text: str) -> str:
    """A text without faces made of signs, such as ":D", whose letters are no words."""
    return _FACES.sub(" ", text)


def has_letter_or_digit(word: str) -> bool:
    """Whether a word has a letter or a figure; marks alone are parts of an emoji."""
    return any(char.isalnum() for char in word)


def is_small_talk(text: str, *, names: AbstractSet[str] = frozenset()) -> bool:
    """Whether a text is nothing but courtesies, such as "good morning, Tom" or "ok, do that"; a blank one is none.

    The word after a greeting is a name where it begins with a capital letter, and either the word before it does
    not, or a comma parts them, or the greeting is one word such as "hi". "Morning standup" and "Welcome Package"
    are none: to look for a name finds nothing, and to look for no topic loses what is known of it.

    Args:
        text: What somebody says.
        names: Words, folded, by which those who speak are called, however they are written here.
    """
    if len(text) > _MOST_CHARS:
        return False
    is_question = "?" in normalised(text)  # who asks means the word itself: "Hello, Berlin?"
    words = _marked(without_emoticons(text), names, is_question=is_question)
    if not 0 < len(words) <= _MOST_WORDS:
        return False
    return _courtesies(is_question=is_question).fullmatch(" ".join(words)) is not None


def _marked(text: str, names: AbstractSet[str], *, is_question: bool) -> list[str]:
    """The words of a text, folded, with a mark before each that may be a name, or begins a sentence."""
    found: list[str] = []
    before, is_apart = ".", False
    for chunk in _LINES.sub(" . ", text).split():
        words = [
            word for word in words_of(_APOSTROPHES.sub("", chunk)) if has_letter_or_digit(word)
        ]
        if not words:
            is_apart = is_apart or chunk[-1] in _STOPS
            continue
        is_known = names >= {*words}
        is_first = before[-1] in ".!"
        is_capital = chunk.istitle() and not is_first
        if is_question or not (is_known or is_capital):
            is_apart = is_apart or before[-1] in _STOPS
            found += [_FIRST * (is_apart and bool(found)) + words[0], *words[1:]]
        else:
            is_sure = is_known or before.endswith(",") or not before.istitle()
            found.append((_SURE if is_sure else _CAPITAL) + "-".join(words))
        before, is_apart = chunk, False
    return found

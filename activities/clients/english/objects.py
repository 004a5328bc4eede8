"""Objects: what a token stands for in a fact, and the names that words give to predicates.

A fact may write a value otherwise than the message: "thirty-five" is 35.
"""

import re

from spacy.tokens import Token

from mnestic.activities.clients.english.clauses import ExtractionContext
from mnestic.activities.clients.english.trees import children, following, is_misread, lemma
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.predicates import predicate_of
from mnestic.memory.language.numbers import number_words

_AMOUNTS = frozenset({"cup", "glass", "bottle", "pint", "slice", "piece"})
_CONSUMED = frozenset({"eats", "drinks", "avoids"})
_WITHOUT_PHRASE = frozenset({"job_title", "plays", "lives_in"})
_IRREGULAR = {"have": "has", "be": "is", "do": "does", "go": "goes"}
_LONGEST_DOUBLED = 4  # letters of a verb whose last one is doubled: "swimming"


def object_of(token: Token, predicate: str, context: ExtractionContext) -> str:
    """The object that a token stands for, as facts of the predicate write it; "" for none."""
    values = context.values
    if predicate == "age":
        return values.number(token)
    if values.is_date(token):
        return _day_of(token, context) or ("" if predicate == "birthday" else values.text(token))
    if predicate in _CONSUMED and lemma(token) in _AMOUNTS and following(token, "of"):
        token = following(token, "of")[0]
    is_name = token.text[:1].isupper() and not token.is_sent_start
    if token.tag_ == "VB" and not is_name and not is_misread(token):
        things = (values.text(each) for each in children(token, "dobj"))
        return " ".join([gerund_of(token), *things])
    is_open = predicate not in context.lexicon.values or token.pos_ == "NOUN"
    text = values.text(token, with_phrase=is_open and predicate not in _WITHOUT_PHRASE)
    if predicate in _CONSUMED:
        text = re.sub(rf"^(?:\d+|{number_words().cardinal})\s+", "", text)
    return text if any(map(str.isalnum, text)) else ""


def _day_of(token: Token, context: ExtractionContext) -> str:
    """A day in ISO form, or as "9 November" if it comes every year."""
    for mention in context.parsed.dates:
        if mention.start <= token.idx < mention.end:
            period = mention.resolve(context.at, "future")
            if period is not None and period.unit == "day":
                is_yearly = mention.is_yearly
                return f"{period.start.day} {period.start:%B}" if is_yearly else str(period)
    return ""


def predicate_named(words: str) -> str:
    """The name that words give a predicate; "" if they cannot be one."""
    try:
        return predicate_of(re.sub(r"\bfavorite\b", "favourite", words))
    except InvalidInputError:
        return ""


def present_of(verb: Token) -> str:
    """A verb in the third person with its particle: "cycles", "wakes up"."""
    low = lemma(verb)
    ending = "es" if low.endswith(("s", "x", "z", "ch", "sh")) else "s"
    form = f"{low[:-1]}ies" if re.search(r"[^aeiou]y$", low) else f"{low}{ending}"
    particles = (child.lower_ for child in children(verb, "prt"))
    return " ".join([_IRREGULAR.get(low, form), *particles])


def gerund_of(verb: Token) -> str:
    """A verb as a noun: "swimming"."""
    low = lemma(verb)
    if verb.tag_ == "VBG":
        return verb.lower_
    if re.search(r"(?<![aeiou])[aeiou][bdgmnprt]$", low) and len(low) <= _LONGEST_DOUBLED:
        return f"{low}{low[-1]}ing"
    return f"{low[:-1]}ing" if re.search(r"[^e]e$", low) else f"{low}ing"

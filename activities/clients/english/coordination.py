"""Coordination: two main clauses that "and" or "but" joins become two sentences, place for place, also where one pronoun serves both.

It stands apart because it works on text, before the parse: a small parser reads each of them better alone. What
stands below a condition, a wish or a report stays in one sentence, since the first words decide about the last.
"""

import re
from functools import lru_cache

from mnestic.activities.clients.english.lexicon import Grammar, load_lexicon

_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")
# A remark without a verb: "no time". What "no" denies is in it, and not in the clause before.
_ASIDE = r"no (?!longer|more)[\w-]+(?: [\w-]+){0,2}\s*(?:[.!;\n]|\Z)"
_PERSON = re.compile(r"\W*(?:\w+ly,? )?(I|i|we|We)(?=['\u2019\s])")
_ADVERB = r"(?:now|also|still|currently|mostly|just)"
_PREPOSITION = r"(?:at|for|as|in|with|on|from|under)"
_OWN = r"(?:I|i|we|We)(?=['\s])(?!\s+(?:both|all)\b)"


def part_clauses(text: str) -> str:
    """The text with a full stop in the place of "and" or "but" between main clauses of a first person.

    Before a verb that a parser takes for a noun, the person stands in its place too: *I live in Turku.  I work at Nokia*.
    """
    return _SENTENCE.sub(lambda found: _parted(found[0]), text) if _joint().search(text) else text


def _parted(sentence: str) -> str:
    if "?" in sentence:
        return sentence
    place = 0
    parts: list[str] = []
    for joint in _joint().finditer(sentence):
        before = sentence[place : joint.start()]
        if _governing().search(before):
            break
        person = _person(before) if joint["shared"] else ""
        if person or (not joint["shared"] and (_verb().search(before) or joint[0] == ":")):
            size = len(joint[0])
            stop = f"{person} ".rjust(size - 1) if person else ""
            parts += [before, f".{stop}".ljust(size)]
            place = joint.end()
    return "".join([*parts, sentence[place:]])


def _person(before: str) -> str:
    """The pronoun of a clause that says what is so now; after a modal or an infinitive the next verb may be one of these."""
    found = _PERSON.match(before)
    return found[1] if found and _auxiliary().search(before) is None else ""


@lru_cache(maxsize=1)
def _auxiliary() -> re.Pattern[str]:
    """What a verb without an ending may belong to."""
    words = "|".join(sorted(map(re.escape, load_lexicon().grammar.auxiliaries)))
    return re.compile(
        rf"\b(?:{words})\b|n['\u2019]t\b|['\u2019](?:d|ll)\b|\bto\s+(?-i:[a-z])", re.IGNORECASE
    )


@lru_cache(maxsize=1)
def _verb() -> re.Pattern[str]:
    """What shows that the words before the joint are a clause, and no first of two subjects."""
    words = "|".join(sorted(_third_persons()))
    return re.compile(
        rf"\b(?:i|we|he|she|it|they|is|are|was|were|has|have|had|{words})\b|'(?:s|m|re|ve|d|ll)\b",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _joint() -> re.Pattern[str]:
    """Where a main clause begins: "and I", "but my sister is", "and my husband Per works"."""
    verbs = "|".join(sorted(_third_persons()))
    owned = (
        rf"(?:[Mm]y|[Oo]ur) (?:[\w-]+ ){{1,3}}?(?:is|are|was|were|has|had|isn't|aren't|{verbs})\b"
    )
    like_nouns = "|".join(sorted(load_lexicon().grammar.like_nouns))
    return re.compile(
        rf",?\s(?:and|but|so)\s+(?={_OWN}|{owned})|,(?=\s{_ASIDE})|:(?=\s(?:I|[Mm]y)[\s'])"
        rf"|(?P<shared>,?\s(?:and|but)\s)(?=(?:{_ADVERB} )?(?:{like_nouns}) {_PREPOSITION} )"
    )


def _third_persons() -> set[str]:
    """Verbs of frames as somebody else does them: "works", "lives"."""
    kinds = [frames.state for frames in load_lexicon().predicates.values()]
    return {f"{key}s" for verbs in kinds for key in verbs if key.isalpha() and key.islower()}


@lru_cache(maxsize=1)
def _governing() -> re.Pattern[str]:
    """Words below which a clause is no statement, or stands for when something else was."""
    return re.compile(rf"\b(?:{'|'.join(sorted(_words(load_lexicon().grammar)))})\b", re.IGNORECASE)


def _words(grammar: Grammar) -> frozenset[str]:
    forms = {
        f"{word}{end}"
        for word in grammar.irrealis | grammar.reports
        for end in ("", "s", "d", "ed", "ing")
    }
    return frozenset(forms | grammar.conditions | grammar.governing)

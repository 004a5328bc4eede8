"""Coordination: two main clauses that "and" or "but" joins become two sentences, place for place.

It stands apart because it works on text, before the parse: a small parser reads each of them better alone. What
stands below a condition, a wish or a report stays in one sentence, since the first words decide about the last.
"""

import re
from functools import lru_cache

from mnestic.activities.clients.english.lexicon import Grammar, load_lexicon

_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")
# A remark without a verb: "no time". What "no" denies is in it, and not in the clause before.
_ASIDE = r"no (?!longer|more)[\w-]+(?: [\w-]+){0,2}\s*(?:[.!;\n]|\Z)"
_OWN = r"(?:I|i|we|We)(?=['\s])(?!\s+(?:both|all)\b)"


def part_clauses(text: str) -> str:
    """The text with a full stop in the place of "and" or "but" between main clauses of a first person."""
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
        if _verb().search(before) or joint[0] == ":":
            parts += [before, ".".ljust(len(joint[0]))]
            place = joint.end()
    return "".join([*parts, sentence[place:]])


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
    return re.compile(
        rf",?\s(?:and|but|so)\s+(?={_OWN}|{owned})|,(?=\s{_ASIDE})|:(?=\s(?:I|[Mm]y)[\s'])"
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

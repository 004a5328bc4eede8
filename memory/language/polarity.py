"""Polarity: whether a question asks for what somebody does or does not do, and which of both a text says.

It stands alone because *not* carries no meaning by itself for words, vectors and predicates: *What does Gus not like?* would find
what he likes, and *What can Gus eat?* what he cannot. Verbs and their opposites are data, in `polarity.yaml`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.changes.change_words import stem
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("polarity.yaml")
_ASKS_FOR_ONE = re.compile(r"\W*(?:what|which|who|whom)\b", re.IGNORECASE)  # not for yes or no
_BEGINNING = 1000  # characters that are looked at
_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;]?")
_WORD = re.compile(r"[^\W\d_]+")
_NOTHING = re.compile(r"\s+(?:no|nothing|none|neither)\b", re.IGNORECASE)  # behind a verb
# Whom a question is about: a noun with its article or owner, a name, or one word.
_DETERMINER = "the|an?|my|our|your|his|her|its|their"
_SUBJECT = (
    rf"(?:(?:{_DETERMINER}|(?-i:[A-Z])[\w-]*['\u2019]s)\s+[\w-]+"
    r"|(?-i:[A-Z])[\w-]*(?:\s+(?:and\s+)?(?-i:[A-Z])[\w-]*){0,2}|[\w-]+)"
)


class _Verbs(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    same: frozenset[str]
    opposite: frozenset[str]


class QuestionPolarity(NamedTuple):
    """The verb of a question for what somebody does or, `is_negated`, does not do, and those with its meaning or the opposite."""

    verb: str
    is_negated: bool
    verbs: _Verbs


class _Polarity(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    opposites: dict[str, str]
    verbs: tuple[_Verbs, ...]
    contracted: dict[str, str]
    auxiliaries: tuple[str, ...]
    negations: tuple[str, ...]
    between: tuple[str, ...]
    subjects: tuple[str, ...]
    undecided: tuple[str, ...]
    no_verbs: tuple[str, ...]
    particles: tuple[str, ...]


class _Patterns(NamedTuple):
    """`question` matches a question up to its verb, `denied` and `affirmed` what is before a verb in a text."""

    question: re.Pattern[str]
    denied: re.Pattern[str]
    affirmed: re.Pattern[str]
    undecided: re.Pattern[str]
    particle: re.Pattern[str]
    opposites: Mapping[str, str]
    contracted: Mapping[str, str]
    no_verbs: frozenset[str]
    verbs: tuple[_Verbs, ...]


def without_negation(text: str) -> str:
    """A question for what somebody does not do as one for the opposite, or where no verb says that with *not* as a word.

    Other texts are left as they are.
    """
    patterns = _patterns()
    match = patterns.question.match(text)
    if match is None or not _is_negated(match):
        return text
    aux, verb = match["aux"].casefold(), match["verb"]
    opposite = patterns.opposites.get(verb.casefold()) if _ASKS_FOR_ONE.match(text) else None
    words = [
        patterns.contracted.get(aux, match["aux"]),
        match["subject"],
        None if opposite else "not",
        match["between"].strip(),
        opposite or verb,
    ]
    return f"{text[: match.start('aux')]}{' '.join(filter(None, words))}{text[match.end() :]}"


def polarity_of(question: str) -> QuestionPolarity | None:
    """The polarity of a question; None for a text that does not ask for one thing, or only asks when or where something is."""
    match = _patterns().question.match(question)
    if match is None or not (_is_negated(match) or _ASKS_FOR_ONE.match(question)):
        return None
    verb = match["verb"].casefold()
    if verb in _patterns().no_verbs:
        return None
    verbs = _verbs_of(verb)
    others = {word.casefold() for word in _WORD.findall(question)} - {verb}
    if not others.isdisjoint(verbs.same | verbs.opposite):
        return None  # "What does she eat for her allergy?"
    return QuestionPolarity(verb, _is_negated(match), verbs)


def contradicts(text: str, polarity: QuestionPolarity) -> bool:
    """Whether a text says only what somebody does, for a question for what they do not do, or the other way round.

    A text of which a sentence leaves both open does not contradict.
    """
    verbs, beginning = polarity.verbs, text[:_BEGINNING]
    if not _has_letters(beginning, verbs):
        return False
    asked = (polarity.verb in verbs.opposite) == polarity.is_negated
    said = set[bool]()
    for sentence in _SENTENCE.findall(beginning):
        of_sentence = {*_polarities(sentence, verbs)}
        if of_sentence and (sentence.endswith("?") or _patterns().undecided.search(sentence)):
            return False
        said |= of_sentence
    return said == {not asked}


def _polarities(sentence: str, verbs: _Verbs) -> Iterator[bool]:
    """Whether each verb of a sentence says that somebody does what the verbs mean, where that is plain."""
    patterns = _patterns()
    if not _has_letters(sentence, verbs):
        return
    for match in _WORD.finditer(sentence):
        word = match[0].casefold()
        is_same = (word if verbs.opposite else stem(word)) in verbs.same
        is_other = patterns.particle.match(sentence, match.end()) is not None
        if is_other or not (is_same or word in verbs.opposite):
            continue
        before = sentence[: match.start()]
        if patterns.denied.search(before) or _NOTHING.match(sentence, match.end()):
            yield not is_same
        elif not is_same or patterns.affirmed.search(before):
            yield is_same


def _has_letters(text: str, verbs: _Verbs) -> bool:
    """Whether a text has the letters of a verb, which is quickly told."""
    lowered = text.lower()
    return any(verb in lowered for verb in chain(verbs.same, verbs.opposite))


def _verbs_of(verb: str) -> _Verbs:
    """The group of a verb; of one without a group its stem."""
    known = (one for one in _patterns().verbs if verb in one.same or verb in one.opposite)
    return next(known, _Verbs(same=frozenset({stem(verb)}), opposite=frozenset()))


def _is_negated(match: re.Match[str]) -> bool:
    return bool(match["first"] or match["second"])


@cache
def _patterns() -> _Patterns:
    lists = [*read_word_lists(_FILE, _Polarity).values()]

    def either(name: str) -> str:
        return "|".join(word for one in lists for word in getattr(one, name))

    contracted = {short: aux for one in lists for short, aux in one.contracted.items()}
    short = "|".join(rf"{word}(?=n['\u2019]t)" for word in contracted)
    return _Patterns(
        question=_compiled(
            r"\W*(?:what|which|whom?|when|where|how|why)(?:\s+[\w'\u2019-]+){0,3}?\s+"
            rf"(?P<aux>{short}|{either('auxiliaries')})(?P<first>n['\u2019]t\b|\s?not\b)?"
            rf"(?:\s+(?P<subject>{_SUBJECT}))??(?:\s+(?P<second>not|never)\b)?"
            rf"(?P<between>(?:\s+(?:{either('between')})\b)*)\s+(?!(?:{_DETERMINER})\b)"
            r"(?P<verb>(?-i:[a-z])[a-z]+)\b"
        ),
        denied=_compiled(
            rf"(?:n['\u2019]t|\b(?:{either('negations')}))(?:\s+(?:{either('between')}))*\s+$"
        ),
        affirmed=_compiled(
            rf"(?:\b(?:{either('subjects')}|(?-i:[A-Z])[\w-]*)|['\u2019](?:m|re|s|ve|ll|d))"
            rf"(?:\s+(?:{either('between')}))*\s+$"
        ),
        undecided=_compiled(rf"\b(?:{either('undecided')})\b"),
        particle=_compiled(rf"\s+(?:{either('particles')})\b"),
        opposites={verb: other for one in lists for verb, other in one.opposites.items()},
        contracted=contracted,
        no_verbs=frozenset(word for one in lists for word in (*one.auxiliaries, *one.no_verbs)),
        verbs=tuple(verbs for one in lists for verbs in one.verbs),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)

"""The signs of a correction: by which words, and where, a message puts right what was said before.

They stand apart because a message is looked through for them long before anybody knows what it corrects.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.word_lists import read_word_lists

SHORT = 8  # words of a message that corrects without another sign
LONGEST_VALUE = 4  # words
DASHES, _APOSTROPHES = "\u2013\u2014-", "'\u2019"
_WORD = rf"[\w+](?:[\w{_APOSTROPHES}@+/-]|\.(?=\w))*+"
VALUE = rf"{_WORD}(?:\s+{_WORD}){{0,{LONGEST_VALUE - 1}}}"
VALUES = rf"{VALUE}(?:,\s*{VALUE}){{0,4}}"  # a list, whose last ones may have "and" between them
ENDS = rf"[\s,.:;!{DASHES}]*"
LAST = r"\s*[.!)]*\s*$"
_FILE = Path(__file__).with_name("correction_words.yaml")
_LONGEST_AMENDMENT = 16  # words


class CorrectionWords(DeferredModel):
    """The words of one language; the file says what they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    interjections: tuple[str, ...]
    leads: tuple[str, ...]
    denials: tuple[str, ...]
    meanings: tuple[str, ...]
    intentions: tuple[str, ...]
    asides: tuple[str, ...]
    withdrawals: tuple[str, ...]
    contradictions: tuple[str, ...]
    negations: tuple[str, ...]
    misnamings: tuple[str, ...]
    fillers: tuple[str, ...]
    pronouns: tuple[str, ...]
    additions: tuple[str, ...]
    times: tuple[str, ...]


class Signs(NamedTuple):
    """The words as expressions."""

    lead: re.Pattern[str]
    denial: re.Pattern[str]
    meaning: re.Pattern[str]
    aside: re.Pattern[str]
    withdrawal: re.Pattern[str]
    retreat: re.Pattern[str]
    contradiction: re.Pattern[str]
    star: re.Pattern[str]
    addition: re.Pattern[str]
    contrast: re.Pattern[str]
    exchange: re.Pattern[str]
    beginning: re.Pattern[str]
    amendment: re.Pattern[str]
    afterthought: re.Pattern[str]
    break_: re.Pattern[str]
    negation: str
    misnaming: str
    fillers: str
    pronouns: frozenset[str]
    times: frozenset[str]


class MarkedValue(NamedTuple):
    """A value, or a list of them, after a sign that it is the right one; of the `doubtful` kinds only a similar value is meant."""

    value: str
    doubtful: frozenset[str] = frozenset()


class Contrast(NamedTuple):
    """A value that a message negates after the right one, and where: ", not Breda"."""

    start: int
    end: int
    value: str


@cache
def signs() -> Signs:
    """The signs of English, read once."""
    words = read_word_lists(_FILE, CorrectionWords)["en"]
    fillers = rf"(?:{_any(words.fillers)}\s+)*"
    before = _any((*words.interjections, *words.leads, *words.denials))
    start = rf"(?:^|[.,;:!?(\n{DASHES}])[^\S\n]*(?:{before}{ENDS})*?"
    end = rf"(?=\s*(?:[.,;:!?)\n{DASHES}]|$))"
    negation = rf"{_any(words.negations)}\s+{fillers}"
    misnaming = rf"{_any(words.misnamings)}\s+{fillers}"
    meaning = rf"{_any(words.meanings)}(?!\s+{_any(words.intentions)})"
    retreat = rf"{_any(words.withdrawals)}(?=\s*[,.:;!{DASHES}])"
    sudden = rf"{_any((*words.leads, *words.denials))}(?=\s*[,.:;!{DASHES}])"
    mark = rf"(?:{before}{ENDS})*(?:{sudden}|{_any(words.asides)}|{meaning}|{retreat}){ENDS}"
    contrast = rf"\s*[,;{DASHES}]\s*{negation}{VALUE}"
    return Signs(
        lead=_compiled(rf"{start}{_any(words.leads)}{ENDS}"),
        denial=_compiled(rf"{start}{_any(words.denials)}{ENDS}"),
        meaning=_compiled(rf"{start}{meaning}{ENDS}"),
        aside=_compiled(rf"{start}{_any(words.asides)}{ENDS}"),
        withdrawal=_compiled(rf"{start}{_any(words.withdrawals)}"),
        retreat=_compiled(rf"{start}{retreat}{ENDS}"),
        contradiction=_compiled(rf"{start}{_any(words.contradictions)}{end}"),
        star=_compiled(rf"^\s*\*\s*(?={VALUE}\s*$)"),
        addition=_compiled(_any(words.additions)),
        contrast=_compiled(rf"(?<=\w)\s*[,;{DASHES}]\s*{negation}({VALUE})(?=\s*(?:[.!;)\n]|$))"),
        exchange=_compiled(rf"^\W*{fillers}{VALUE}{contrast}{LAST}"),
        beginning=_compiled(rf"^\W*(?:{before}{ENDS})*(?:{negation}|{misnaming})"),
        amendment=_compiled(
            rf"^\W*(?:(?:{mark})+{fillers}(?P<value>{VALUES})(?:{contrast})?"
            rf"|(?:{before}{ENDS})*(?:{negation}|{misnaming}){VALUE}\s*[,;{DASHES}]\s*{fillers}{VALUES}"
            rf"|{fillers}{VALUE}{contrast}){LAST}"
        ),
        afterthought=_compiled(
            rf"^\W*{fillers}(?P<value>{VALUE})\s*[,;.{DASHES}]\s*{_any((*words.leads, *words.meanings, *words.asides))}{LAST}"
        ),
        break_=_compiled(rf"\s*(?:[,;(]|\s[{DASHES}]|\u2014)\s*(?={mark})"),
        negation=negation,
        misnaming=misnaming,
        fillers=fillers,
        pronouns=frozenset(words.pronouns),
        times=frozenset(words.times),
    )


def _any(words: Iterable[str]) -> str:
    """An expression of any of the words, the longest first."""
    longest_first = sorted(words, key=len, reverse=True)
    patterns = [
        r"[\s,]+".join(re.escape(part).replace("'", f"[{_APOSTROPHES}]") for part in word.split())
        for word in longest_first
    ]
    return rf"\b(?:{'|'.join(patterns)})\b"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def may_correct(text: str) -> bool:
    """Whether a message may take back what was said before it; most do not, and nothing is read for them."""
    known = signs()
    marks = (known.lead, known.denial, known.meaning, known.aside, known.withdrawal, known.star)
    is_marked = any(mark.search(text) for mark in (*marks, known.contradiction))
    return is_marked or _is_bare(text)


def _is_bare(text: str) -> bool:
    """Whether a short message begins with a negation, or consists of two values: "Not Breda, Tilburg"."""
    is_short = len(text.split()) <= SHORT
    openings = (signs().beginning, signs().exchange)
    return is_short and any(opening.match(text) for opening in openings)


def is_amendment(text: str) -> bool:
    """Whether words name a right value with a sign that it is one, and say nothing else."""
    is_short = len(text.split()) <= _LONGEST_AMENDMENT
    return is_short and signs().amendment.match(text) is not None


def marked_values(text: str) -> Iterator[MarkedValue]:
    """The values at the end of a text, behind each sign that they are right: "I meant Tilburg", "oops, Marc"."""
    known = signs()
    marks = (
        (known.meaning, ()),
        (known.aside, ("words",)),
        (known.retreat, ("words", "name")),
        (known.lead, ("words", "name")),
        (known.denial, ("words", "name")),
        (known.star, ("words", "name")),
    )
    for mark, doubtful in marks:
        for found in mark.finditer(text):
            rest = text[found.end() :]
            values = re.match(rf"{known.fillers}({VALUES}){LAST}", rest, re.IGNORECASE)
            if values is not None:
                yield MarkedValue(values[1], frozenset(doubtful))


def without_signs(text: str) -> str:
    """The words without those at their beginning that say no more than that they put something right."""
    known = signs()
    for mark in (known.lead, known.denial, known.meaning, known.aside, known.retreat):
        text = text[max((found.end() for found in mark.finditer(text)), default=0) :]
    return text


def amendment_spans(text: str) -> tuple[Span, ...]:
    """Where a message puts right what it said before, as in "I live in Ghent. Actually no, Genk"."""
    found: list[Span] = []
    place = 0
    for sentence in split_sentences(text):
        start = text.index(sentence, place)
        is_first = not text[:place].strip()
        place = start + len(sentence)
        if not is_first and is_amendment(sentence):
            found.append(Span(start=start, end=place))
        elif (inside := _inside(sentence)) is not None:
            found.append(Span(start=start + inside.start, end=start + inside.end))
    return tuple(found)


def _inside(sentence: str) -> Span | None:
    """The amendment at the end of a sentence, without the mark that ends the sentence: ", I mean Andrea"."""
    for mark in signs().break_.finditer(sentence):
        if mark.start() and is_amendment(sentence[mark.end() :].rstrip(").! ")):
            return Span(start=mark.start(), end=len(sentence.rstrip(".! ")))
    return None


def contrast_spans(text: str) -> tuple[Span, ...]:
    """Where a message that corrects negates values after the right ones: *I live in Ghent, not Oslo*.

    Without them it says the same, and a parser does not take its verb for negated.
    """
    return tuple(Span(start=one.start, end=one.end) for one in contrasts(text))


def contrasts(text: str) -> list[Contrast]:
    """The values that a message that corrects negates after the right ones."""
    found = [Contrast(*one.span(), one[1]) for one in signs().contrast.finditer(text)]
    return found if found and may_correct(text) else []

"""Corrections: what a message takes back of what the same person said just before, where its extractor found nothing.

It stands apart from extraction because it holds for every extractor: it compares the words of a message with values that
are believed already. It is pure, and its words are data.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.language.word_lists import read_word_lists

SURE, UNSURE = (
    0.9,
    0.4,
)  # confidences: below one half a retraction leaves a fact, with less confidence
_FILE = Path(__file__).with_name("correction_words.yaml")
_ALIKE = 0.6  # share of letters from which a value may be a misspelling of another
_LONGEST_VALUE = 4  # words
_SHORT = 8  # words of a message that corrects without another sign
_DASHES, _APOSTROPHES = "\u2013\u2014-", "'\u2019"
_WORD = rf"[\w+](?:[\w{_APOSTROPHES}@+/-]|\.(?=\w))*"
_VALUE = rf"{_WORD}(?:\s+{_WORD}){{0,{_LONGEST_VALUE - 1}}}"
_ENDS = rf"[\s,.:;!{_DASHES}]*"
_EDGES = f" .,;:!?{_DASHES}"


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
    fillers: tuple[str, ...]
    additions: tuple[str, ...]


class _Signs(NamedTuple):
    """The words as expressions."""

    lead: re.Pattern[str]
    denial: re.Pattern[str]
    meaning: re.Pattern[str]
    aside: re.Pattern[str]
    withdrawal: re.Pattern[str]
    contradiction: re.Pattern[str]
    addition: re.Pattern[str]
    contrast: re.Pattern[str]
    negation: str
    fillers: str


class _Contrast(NamedTuple):
    """A value that a message negates after the right one, and where: ", not Breda"."""

    start: int
    end: int
    value: str


class _Replacement(NamedTuple):
    """A fact that is not so, and the value that is, if it is named."""

    wrong: Fact | Extracted
    right: str | None


@cache
def _signs() -> _Signs:
    words = read_word_lists(_FILE, CorrectionWords)["en"]
    fillers = rf"(?:{_any(words.fillers)}\s+)*"
    before = _any((*words.interjections, *words.leads, *words.denials))
    start = rf"(?:^|[.,;:!?(\n{_DASHES}])[^\S\n]*(?:{before}{_ENDS})*?"
    end = rf"(?=\s*(?:[.,;:!?)\n{_DASHES}]|$))"
    negation = rf"{_any(words.negations)}\s+{fillers}"
    return _Signs(
        lead=_compiled(rf"{start}{_any(words.leads)}{_ENDS}"),
        denial=_compiled(rf"{start}{_any(words.denials)}{_ENDS}"),
        meaning=_compiled(rf"{start}{_any(words.meanings)}(?!\s+{_any(words.intentions)}){_ENDS}"),
        aside=_compiled(rf"{start}{_any(words.asides)}{_ENDS}"),
        withdrawal=_compiled(rf"{start}{_any(words.withdrawals)}"),
        contradiction=_compiled(rf"{start}{_any(words.contradictions)}{end}"),
        addition=_compiled(_any(words.additions)),
        contrast=_compiled(rf"(?<=\w)\s*[,;{_DASHES}]\s*{negation}({_VALUE})(?=\s*(?:[.!;)\n]|$))"),
        negation=negation,
        fillers=fillers,
    )


def _any(words: Iterable[str]) -> str:
    """An expression of any of the words, the longest first."""
    longest_first = sorted(words, key=len, reverse=True)
    patterns = [
        r"\s+".join(re.escape(part).replace("'", f"[{_APOSTROPHES}]") for part in word.split())
        for word in longest_first
    ]
    return rf"\b(?:{'|'.join(patterns)})\b"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def may_correct(text: str) -> bool:
    """Whether a message may take back what was said before it; most do not, and nothing is read for them."""
    signs = _signs()
    marks = (signs.lead, signs.denial, signs.meaning, signs.aside, signs.withdrawal)
    is_marked = any(mark.search(text) for mark in (*marks, signs.contradiction))
    return is_marked or _is_bare_negation(text)


def contrast_spans(text: str) -> tuple[Span, ...]:
    """Where a message that corrects negates values after the right ones: *I live in Ghent, not Oslo*.

    Without them it says the same, and a parser does not take its verb for negated.
    """
    return tuple(Span(start=one.start, end=one.end) for one in _contrasts(text))


def _contrasts(text: str) -> list[_Contrast]:
    found = [_Contrast(*one.span(), one[1]) for one in _signs().contrast.finditer(text)]
    return found if found and may_correct(text) else []


def _contrasted(text: str, own: Sequence[Extracted]) -> tuple[Extracted, ...]:
    """The wrong values that stand beside right ones: *I live in Ghent, not Oslo*.

    They are wrong whatever was said before, so that nothing depends on which messages have come already.
    """
    return tuple(
        _retracted(
            claim, Span(start=claim.span.start, end=max(claim.span.end, one.end)), confidence=SURE
        ).model_copy(update={"object": one.value})
        for one in _contrasts(text)
        for claim in own
        if claim.object
        and claim.span.start < one.start
        and re.search(rf"\b{_loosely(claim.object)}$", text[: one.start], re.IGNORECASE)
        and name_key(claim.object) != name_key(one.value)
    )


def correcting_claims(
    text: str,
    own: Sequence[Extracted],
    *,
    said: Sequence[Sequence[Fact | Extracted]],
    is_next: bool,
) -> tuple[Extracted, ...]:
    """What a message corrects, beside what its extractor found.

    Args:
        text: The message.
        own: What the extractor found; if it corrects or ends something, nothing is added.
        said: The active facts behind each of the same person's last messages in the session, or what these claim, the
            latest first.
        is_next: Whether nobody has spoken since the latest of them.
    """
    # "Sorry, I live in Ghent, not Oslo" says of Oslo that it never was so, and not that it has ended.
    own = [one for one in own if one.kind != "ended" or not _is_negated(text, one.object or "")]
    if any(claim.kind != "affirmed" for claim in own) or not may_correct(text):
        return ()
    if named := _contrasted(text, own):
        return named
    span = Span(start=0, end=len(text))
    restated = {_key(one) for one in own if not _is_negated(text, one.object or "")}
    for facts in said:
        left = [fact for fact in facts if _key(fact) not in restated]
        if found := _understood(text, own, left):
            return tuple(claim for one in found for claim in _claims_of(one, span))
    latest = said[0] if said else ()
    if own or not latest:
        return ()
    confidence = _withdrawn(text, is_next=is_next)
    if confidence is None:
        return ()
    return tuple(_retracted(fact, span, confidence=confidence) for fact in latest)


def _key(fact: Fact | Extracted) -> tuple[str, str, str]:
    return name_key(fact.subject), fact.predicate, name_key(fact.object or "")


def _understood(
    text: str, own: Sequence[Extracted], facts: Sequence[Fact | Extracted]
) -> list[_Replacement]:
    """The facts that the message is known to correct: by another value of the same, or by their own values."""
    if own:
        topics = {_key(one)[:2] for one in own}
        negated = [
            _Replacement(fact, None)
            for fact in facts
            if _key(fact)[:2] in topics and _is_negated(text, fact.object or "")
        ]
        others = (fact for fact in facts if _has_other_value(text, own, fact))
        return negated or [_Replacement(fact, None) for fact in others]
    found = [one for fact in facts if (one := _negated(text, fact)) is not None]
    if found:
        return found
    one = _renamed(text, facts)
    return [] if one is None else [one]


def _has_other_value(text: str, own: Sequence[Extracted], fact: Fact | Extracted) -> bool:
    """Whether a claim of the message gives the same subject and predicate another value, as a correction."""
    signs = _signs()
    if signs.addition.search(text):
        return False
    strong = any(mark.search(text) for mark in (signs.meaning, signs.withdrawal))
    lead = signs.lead.search(text)
    for claim in own:
        if (name_key(claim.subject), claim.predicate) != _key(fact)[:2]:
            continue
        between = text[lead.end() : claim.span.start] if lead else "."
        if strong or re.search(r"[.!?\n]", between) is None:
            return True
    return False


def _negated(text: str, fact: Fact | Extracted) -> _Replacement | None:
    """A fact whose value the message negates: "not Breda, Tilburg", "Tilburg instead of Breda"."""
    signs, old = _signs(), fact.object or ""
    found = _negation(text, old)
    if found is None:
        return None
    rest = text[found.end() :]
    after = re.match(rf"{_ENDS}{signs.fillers}({_VALUE})\s*[.!]*\s*$", rest, re.IGNORECASE)
    before = re.search(rf"({_VALUE})[\s,;:{_DASHES}]*$", text[: found.start()])
    values = [_value(match[1], old) for match in (after, before) if match]
    return _Replacement(fact, next((value for value in values if value), None))


def _negation(text: str, value: str) -> re.Match[str] | None:
    """Where a text negates a value: "not Breda", and no "not in Breda this week"."""
    over = rf"(?=\s*(?:[.,;:!?{_DASHES}]|but\b|$))"
    pattern = rf"{_signs().negation}{_loosely(value)}{over}"
    return re.search(pattern, text, re.IGNORECASE) if value else None


def _is_negated(text: str, value: str) -> bool:
    return _negation(text, value) is not None


def _renamed(text: str, facts: Sequence[Fact | Extracted]) -> _Replacement | None:
    """The one fact that a value without the wrong one corrects: "I meant Tilburg", "oops, Marc"."""
    signs = _signs()
    # The kinds of values that have to be alike after each mark.
    marks = (
        (signs.meaning, ()),
        (signs.aside, ("words",)),
        (signs.lead, ("words", "name")),
        (signs.denial, ("words", "name")),
    )
    for mark, doubtful in marks:
        for found in mark.finditer(text):
            rest = text[found.end() :]
            said = re.match(rf"{signs.fillers}({_VALUE})\s*[.!]*\s*$", rest, re.IGNORECASE)
            fits = [one for fact in facts if said and (one := _fitting(fact, said[1]))]
            alike = [one for one in fits if _is_misspelt(one)]
            if len(fits) > 1 or (fits and _kind(fits[0].wrong.object or "") in doubtful):
                fits = alike
            if len(fits) == 1:
                return fits[0]
    return None


def _fitting(fact: Fact | Extracted, said: str) -> _Replacement | None:
    value = _value(said, fact.object or "")
    return None if value is None else _Replacement(fact, value)


def _is_bare_negation(text: str) -> bool:
    """Whether a short message begins with a negation, as "Not Breda, Tilburg" does."""
    is_short = len(text.split()) <= _SHORT
    return (
        is_short and re.match(rf"\W*(?:no\W+)?{_signs().negation}", text, re.IGNORECASE) is not None
    )


def _withdrawn(text: str, *, is_next: bool) -> float | None:
    """How sure it is that a message takes back the last one as a whole; None if it does not."""
    signs = _signs()
    if signs.withdrawal.search(text) or (is_next and signs.contradiction.search(text)):
        return SURE
    is_unclear = signs.meaning.search(text) and len(text.split()) <= _SHORT
    return UNSURE if is_unclear or signs.contradiction.search(text) else None


def _value(text: str, old: str) -> str | None:
    """A right value in place of an old one: of the same kind by its looks, and another."""
    signs = _signs()
    for mark in (signs.lead, signs.denial, signs.meaning, signs.aside):
        text = text[max((found.end() for found in mark.finditer(text)), default=0) :]
    fillers = re.compile(rf"^{signs.fillers}", re.IGNORECASE)
    value = fillers.sub("", text).strip(_EDGES)
    words = value.split()
    while words and _kind(words[0]) != _kind(old) and _kind(old) == "name":
        words = words[1:]  # "it is the town of Breda"
    value = " ".join(words)
    is_other = name_key(value) != name_key(old)
    return (
        value
        if words and len(words) <= _LONGEST_VALUE and is_other and _kind(value) == _kind(old)
        else None
    )


def _kind(value: str) -> str:
    """What a value is by its looks: an address, a number, a name or plain words."""
    if "@" in value:
        return "address"
    if any(map(str.isdigit, value)):
        return "number"
    return "name" if value[:1].isupper() else "words"


def _is_misspelt(one: _Replacement) -> bool:
    """Whether the wrong value may be a misspelling of the right one; numbers and addresses always may."""
    old, new = one.wrong.object or "", one.right or ""
    if _kind(old) in {"number", "address"}:
        return True
    return SequenceMatcher(None, old.casefold(), new.casefold()).ratio() >= _ALIKE


def _loosely(value: str) -> str:
    return r"\s+".join(map(re.escape, value.split()))


def _claims_of(one: _Replacement, span: Span) -> Iterator[Extracted]:
    yield _retracted(one.wrong, span, confidence=SURE)
    if one.right is not None:
        yield _retracted(one.wrong, span, confidence=SURE).model_copy(
            update={"kind": "corrected", "object": one.right}
        )


def _retracted(fact: Fact | Extracted, span: Span, *, confidence: float) -> Extracted:
    return Extracted(
        kind="retracted",
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        confidence=confidence,
        span=span,
    )

"""Corrections: a statement, or a value alone, that takes the place of what the same person said just before.

It compares claims with claims, and knows of words only the few that announce a correction.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from mnestic.activities.clients.english.lexicon import load_lexicon, pattern, without
from mnestic.activities.clients.english.repairs import Repaired, is_contrast
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.language.function_words import stop_words

_ALIKE = 0.5  # share of letters from which a value may be a misspelling of another
_LONGEST_VALUE = 5  # words
_LONGEST_TEXT = 9  # words that may say no more than a right value
_EDGES = " .,;:!?*-\u2013\u2014()\"'\n"
_NEGATED = re.compile(
    r"\b(?:not|isn't|never)\s+(?:(?:in|at|the|a|an|on|called)\s+)?(?P<value>[\w'-]+(?:[.@]\w[\w'-]*)*(?:\s(?-i:[A-Z\d])[\w'-]*){0,2})",
    re.IGNORECASE,
)
_RIGHT = re.compile(r"\s+(?:is|was)\s+(?:right|correct)\b.*\Z", re.IGNORECASE | re.DOTALL)
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?\n](?=\S)[^.!?\n]*)*[.!?\n]*\s*")
_CLAUSAL = re.compile(r"\b(?:and|I|I'm|we|you|he|she|it|they|is|are|was)\b")
_NUMBER = re.compile(r"\d[\d.:]*")


class _Denied(NamedTuple):
    """A value that a text denies, the words of the message among which it does, and whether it contrasts it with another."""

    value: str
    place: int
    sentence: range
    is_contrast: bool


class _Correction(NamedTuple):
    """What a text corrects: the right value, the wrong ones where they are named, and whether a word announces it."""

    right: str
    denied: tuple[_Denied, ...]
    is_cued: bool


def corrections_of(
    text: Repaired, own: Sequence[Extracted], before: Sequence[Sequence[Extracted]]
) -> tuple[Extracted, ...] | None:
    """The claims of a text that corrects earlier ones; None if it does not.

    Args:
        text: A message or a sentence of it.
        own: What it claims by itself.
        before: What the same person's last messages claim, the latest first.
    """
    if not text.text.strip():
        return None
    span = Span(start=text.places[0], end=text.places[-1])
    if before and takes_back(text.text) and not own:
        latest = [one for one in before[0] if one.kind != "ended"]
        remainder = _without_cues(text.text)
        if not remainder:
            return tuple(_retracted(one, span) for one in latest) or None
    correction = _correction_in(text)
    if correction is None:
        return None
    return _restated(own, before, correction) if own else _renamed(correction, before, span)


def may_correct(text: Repaired) -> bool:
    """Whether a text has a sign that it corrects something; `corrections_of` is None for others, whatever was claimed before."""
    return takes_back(text.text) or _correction_in(text) is not None


def takes_back(text: str) -> bool:
    """Whether a text begins with words that take back all that was said before it."""
    return text.strip().lower().startswith(tuple(load_lexicon().takebacks))


def _restated(
    own: Sequence[Extracted], before: Sequence[Sequence[Extracted]], correction: _Correction
) -> tuple[Extracted, ...] | None:
    """Statements that take the place of others with the same subject and predicate, or of a value that they deny."""
    made: list[Extracted] = []
    for claim in own:
        near = [one for one in correction.denied if _is_beside(one, claim)]
        if claim.kind == "affirmed" and name_key(claim.object or "") in {
            name_key(one.value) for one in near
        }:
            continue
        wrong = [one for said in before for one in said if _is_other_value(one, claim)]
        values = [one.value for one in near or correction.denied]
        wrong = [one for one in wrong if not values or any(_names(each, one) for each in values)]
        if not wrong and claim == _last_beside(near, own):
            wrong = [claim.model_copy(update={"object": near[0].value})]
        is_right = claim.kind == "affirmed" and bool(wrong)
        made += [_retracted(one, claim.span) for one in wrong[:1]] if is_right else []
        made.append(claim.model_copy(update={"kind": "corrected"}) if is_right else claim)
    return tuple(made) if made != list(own) else None


def _is_beside(denied: _Denied, claim: Extracted) -> bool:
    """Whether a claim stands in the sentence that denies a value."""
    return claim.span.start < denied.sentence.stop and denied.sentence.start < claim.span.end


def _last_beside(near: Sequence[_Denied], own: Sequence[Extracted]) -> Extracted | None:
    """The claim whose value one stands in contrast to: "I play the viola, not the lute"."""
    place = next((one.place for one in near if one.is_contrast), 0)
    before = (one for one in reversed(own) if one.kind == "affirmed" and one.span.start < place)
    return next(before, None)


def _is_other_value(old: Extracted, new: Extracted) -> bool:
    is_same_slot = (name_key(old.subject), old.predicate) == (name_key(new.subject), new.predicate)
    is_said = old.kind in {"affirmed", "corrected"}
    return is_said and is_same_slot and name_key(old.object or "") != name_key(new.object or "")


def _renamed(
    correction: _Correction, before: Sequence[Sequence[Extracted]], span: Span
) -> tuple[Extracted, ...] | None:
    """A value alone, in the place of the one claim that it can be of."""
    for said in before:
        known = [one for one in said if one.kind in {"affirmed", "corrected"} and one.object]
        chosen = _chosen(correction, known)
        if chosen is None:
            continue
        right = _right_value(chosen.object or "", correction.right)
        made = [_retracted(chosen, span)]
        if right:
            made.append(
                chosen.model_copy(update={"kind": "corrected", "object": right, "span": span})
            )
            about = [one for one in known if name_key(one.subject) == name_key(chosen.object or "")]
            made += [_retracted(one, span) for one in about]
            made += [_moved(one, right, span) for one in about]
        return tuple(made)
    return None


def _moved(claim: Extracted, right: str, span: Span) -> Extracted:
    """What is known of something whose name was wrong is so of the right one."""
    return claim.model_copy(update={"subject": right, "kind": "corrected", "span": span})


def _chosen(correction: _Correction, known: Sequence[Extracted]) -> Extracted | None:
    if correction.denied:
        wrong = correction.denied[0].value
        return next((one for one in known if _names(wrong, one)), None)
    fitting = [
        one
        for one in known
        if _kind_of(one.object or "") == _kind_of(correction.right)
        and name_key(one.object or "") != name_key(correction.right)
    ]
    alike = [one for one in fitting if _similarity(one.object or "", correction.right) >= _ALIKE]
    found = fitting if len(fitting) == 1 else alike
    return found[0] if len({one.object for one in found}) == 1 else None


def _names(words: str, claim: Extracted) -> bool:
    value = name_key(claim.object or "")
    return name_key(words) in {value, *value.split()}


def _right_value(old: str, new: str) -> str:
    """The right value: of "number 71" with another number, the same words."""
    number = _NUMBER.search(old)
    is_number = _NUMBER.fullmatch(new) is not None
    return old[: number.start()] + new + old[number.end() :] if number and is_number else new


def _similarity(old: str, new: str) -> float:
    return SequenceMatcher(None, old.casefold(), new.casefold()).ratio()


def _kind_of(value: str) -> str:
    if "@" in value:
        return "address"
    if any(map(str.isdigit, value)):
        return "number"
    return "name" if value[:1].isupper() else "words"


def _correction_in(text: Repaired) -> _Correction | None:
    """The values of a text with a sign that it corrects; a question or a long text has none."""
    stripped = text.text.strip()
    denied = tuple(_denied_in(text))
    is_cued = (
        _cue().match(stripped) is not None
        or stripped.startswith("*")
        or _trailing_cue().search(stripped) is not None
    )
    if stripped.endswith("?") or not (is_cued or denied):
        return None
    rest = pattern("contrast").sub("", stripped) if denied else stripped
    rest = _NEGATED.sub("", rest, count=1) if denied else rest
    is_short = len(rest.split()) <= _LONGEST_TEXT
    right = without(_without_cues(rest).strip(_EDGES), "value_lead").strip(_EDGES)
    right = re.split(r"[.;!\n]\s", right)[0].strip(_EDGES)
    right = without(re.split(r",\s*(?:but\s+)?", right)[-1], "value_lead").strip(_EDGES)
    right = _RIGHT.sub("", right)
    is_value = is_short and 0 < len(right.split()) <= _LONGEST_VALUE and not _CLAUSAL.search(right)
    return _Correction(right if is_value else "", denied, is_cued)


def _denied_in(text: Repaired) -> Iterator[_Denied]:
    """The values that a text denies, and no words that only point: "not me", "not here"."""
    contrasts = pattern("contrast").finditer(text.text)
    contrasted = {one.start("not"): one["denied"] for one in contrasts if is_contrast(one)}
    sentences = [one.span() for one in _SENTENCE.finditer(text.text)]
    sentence_ends = [end for _, end in sentences]
    for match in _NEGATED.finditer(text.text):
        value = contrasted.get(match.start(), match["value"]).strip(_EDGES)
        first = value.split(maxsplit=1)[0].lower() if value else ""
        if not first or first in load_lexicon().vague | load_lexicon().first_person | stop_words():
            continue
        start, end = sentences[bisect_right(sentence_ends, match.start())]
        sentence = range(text.places[start], text.places[end])
        place = text.places[match.start()]
        yield _Denied(value, place, sentence, is_contrast=match.start() in contrasted)


def _without_cues(text: str) -> str:
    while (found := _cue().match(text)) is not None and found.end():
        text = text[found.end() :]
    return _trailing_cue().sub("", text.strip(_EDGES)).strip(_EDGES)


@lru_cache(maxsize=1)
def _cue() -> re.Pattern[str]:
    words = "|".join(
        map(
            re.escape,
            sorted({*load_lexicon().cues, *load_lexicon().takebacks}, key=len, reverse=True),
        )
    )
    return re.compile(
        rf"\A\W*+(?!no\s+(?!wait))(?:{words})\b[\s,.:;!\u2013\u2014-]*", re.IGNORECASE
    )


@lru_cache(maxsize=1)
def _trailing_cue() -> re.Pattern[str]:
    words = "|".join(
        map(re.escape, sorted(load_lexicon().cues - {"no", "wait", "sorry"}, key=len, reverse=True))
    )
    return re.compile(rf"(?<=[,.;\s])(?:{words}|sorry)\W*\Z", re.IGNORECASE)


def _retracted(claim: Extracted, span: Span) -> Extracted:
    return Extracted(
        kind="retracted",
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.object,
        span=span,
    )

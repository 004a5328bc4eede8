"""Corrections: what a message takes back of what the same person said just before, where its extractor found nothing.

It stands apart from extraction because it holds for every extractor: it compares the words of a message with values that
are believed already. It is pure, and its words are data.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.corrections.right_values import (
    is_misspelt,
    kind_of,
    listed_values,
    means,
    right_values,
)
from mnestic.memory.knowledge.corrections.signs import (
    DASHES,
    ENDS,
    LAST,
    SHORT,
    VALUE,
    VALUES,
    amendment_spans,
    contrasts,
    marked_values,
    may_correct,
    signs,
)
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.facts import Fact

SURE, UNSURE = (
    0.9,
    0.4,
)  # confidences: below one half a retraction leaves a fact, with less confidence


class _Replacement(NamedTuple):
    """A fact that is not so, and the values that are, if they are named; or the other name of its subject.

    `is_negated` says whether the wrong value is named, too.
    """

    wrong: Fact | Extracted
    right: tuple[str, ...]
    subject: str = ""
    is_negated: bool = False


def _contrasted(text: str, own: Sequence[Extracted]) -> tuple[Extracted, ...]:
    """The wrong values that stand beside right ones: *I live in Ghent, not Oslo*.

    They are wrong whatever was said before, so that nothing depends on which messages have come already.
    """
    return tuple(
        _retracted(
            claim, Span(start=claim.span.start, end=max(claim.span.end, one.end)), confidence=SURE
        ).model_copy(update={"object": one.value})
        for one in contrasts(text)
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
    is_understood = any(claim.kind != "affirmed" for claim in own) or _is_amended(text, own)
    if is_understood or not may_correct(text):
        return ()
    if named := _contrasted(text, own):
        return named
    span = Span(start=0, end=len(text))
    restated = {_key(one) for one in own if not _is_negated(text, one.object or "")}
    for facts in said:
        left = [fact for fact in facts if _key(fact) not in restated]
        if found := _understood(text, own, left):
            found += _of_renamed(found, left)
            return tuple(claim for one in found for claim in _claims_of(one, span))
    latest = said[0] if said else ()
    if own or not latest:
        return ()
    confidence = _withdrawn(text, is_next=is_next)
    if confidence is None:
        return ()
    return tuple(_retracted(fact, span, confidence=confidence) for fact in latest)


def amended_claims(
    text: str, claims: Sequence[Extracted], part: Span
) -> tuple[Extracted, ...] | None:
    """The claims of a message with the right values, where a part of it corrects what stands before.

    Args:
        text: The message.
        claims: What it claims without the part.
        part: Where it corrects.

    Returns:
        None if nobody knows what the part corrects.
    """
    before = [
        one
        for one in claims
        if one.span.start < part.start and one.kind in {"affirmed", "corrected"} and one.object
    ]
    words = text[part.start : part.end]
    found = _understood(words, (), before) or _exchanged(text, before, part)
    said = text[: part.start]
    if not found or any(_may_name_subject(one, said) for one in found):
        return None
    found += _of_renamed(found, before)
    wrong = {id(one.wrong): one for one in found}
    return tuple(
        each
        for one in claims
        for each in (_amended(one, wrong[id(one)], part) if id(one) in wrong else [one])
    )


def _may_name_subject(one: _Replacement, said: str) -> bool:
    """Whether a right name may as well be that of whom a sentence names: "Ana works at Bolt, no wait, Uma"."""
    old = one.wrong.object or ""
    names = [
        value for value in one.right if kind_of(value) == "name" and not is_misspelt(old, value)
    ]
    is_named = re.search(rf"\b{_loosely(one.wrong.subject)}\b", said) is not None
    return bool(names) and is_named and not one.is_negated


def _is_amended(text: str, claims: Sequence[Extracted]) -> bool:
    """Whether a message has corrected itself, and so corrects no other."""
    parts = amendment_spans(text)
    return any(
        one.span.start < part.start and one.span.end == part.end for part in parts for one in claims
    )


def _exchanged(text: str, claims: Sequence[Extracted], part: Span) -> list[_Replacement]:
    """The claim whose value stands right before a part with another one."""
    words = text[part.start : part.end]
    said = text[: part.start].rstrip()
    beside = [
        one for one in claims if re.search(rf"\b{_loosely(one.object or '')}$", said, re.IGNORECASE)
    ]
    found = signs().amendment.match(words)
    value = found["value"] if found else None
    fits = [one for claim in beside if value and (one := _fitting(claim, value))]
    return fits if len(fits) == 1 else []


def _amended(claim: Extracted, by: _Replacement, part: Span) -> list[Extracted]:
    """A claim with the right values, by its words and those that correct them."""
    subject, span = by.subject or claim.subject, Span(start=claim.span.start, end=part.end)
    return [
        claim.model_copy(update={"subject": subject, "object": value, "span": span})
        for value in by.right
    ]


def _key(fact: Fact | Extracted) -> tuple[str, str, str]:
    return name_key(fact.subject), fact.predicate, name_key(fact.object or "")


def _understood(
    text: str, own: Sequence[Extracted], facts: Sequence[Fact | Extracted]
) -> list[_Replacement]:
    """The facts that the message is known to correct: by another value of the same, or by their own values."""
    if own:
        topics = {_key(one)[:2] for one in own}
        negated = [
            _Replacement(fact, ())
            for fact in facts
            if _key(fact)[:2] in topics and _is_negated(text, fact.object or "")
        ]
        others = (fact for fact in facts if _has_other_value(text, own, fact))
        return negated or [_Replacement(fact, ()) for fact in others]
    found = [one for fact in facts if (one := _negated(text, fact)) is not None]
    if found:
        return found
    return _renamed(text, facts)


def _has_other_value(text: str, own: Sequence[Extracted], fact: Fact | Extracted) -> bool:
    """Whether a claim of the message gives the same subject and predicate another value, as a correction."""
    known = signs()
    if known.addition.search(text):
        return False
    strong = any(mark.search(text) for mark in (known.meaning, known.withdrawal))
    lead = known.lead.search(text)
    for claim in own:
        if (name_key(claim.subject), claim.predicate) != _key(fact)[:2]:
            continue
        between = text[lead.end() : claim.span.start] if lead else "."
        if strong or re.search(r"[.!?\n]", between) is None:
            return True
    return False


def _negated(text: str, fact: Fact | Extracted) -> _Replacement | None:
    """A fact whose value the message negates: "not Breda, Tilburg", "Tilburg instead of Breda"."""
    old = fact.object or ""
    found = _negation(text, old)
    is_misnamed = found is None
    found = found or _negation(text, old, sign=signs().misnaming)
    if found is None:
        return None
    rest = text[found.end() :]
    after = re.match(rf"{ENDS}{signs().fillers}({VALUES}){LAST}", rest, re.IGNORECASE)
    before = re.search(rf"({VALUE})[\s,;:{DASHES}]*$", text[: found.start()])
    values = [right_values(after[1], old)] if after else []
    if before:
        values.append(right_values(before[1], old, is_first=_is_first(text, before.start(1))))
    right = next((each for each in values if each), ())
    return _Replacement(fact, right, is_negated=True) if right or not is_misnamed else None


def _negation(text: str, value: str, *, sign: str = "") -> re.Match[str] | None:
    """Where a text negates a value: "not Breda", and no "not in Breda this week"."""
    over = rf"(?=\s*(?:[.,;:!?{DASHES}]|but\b|$))"
    lead = sign or signs().negation
    found = re.search(rf"{lead}{_loosely(value)}{over}", text, re.IGNORECASE) if value else None
    if found is not None or kind_of(value) != "day":
        return found
    named = re.finditer(rf"{lead}({VALUE}){over}", text, re.IGNORECASE)
    return next((one for one in named if means(one[1], value)), None)


def _is_negated(text: str, value: str) -> bool:
    return _negation(text, value) is not None


def _is_first(text: str, place: int) -> bool:
    return not re.search(r"\w", text[:place])


def _renamed(text: str, facts: Sequence[Fact | Extracted]) -> list[_Replacement]:
    """The facts that values without the wrong ones correct: "I meant Tilburg", "oops, Marc"; of one subject and predicate."""
    for marked in marked_values(text):
        if others := _relisted(marked.value, facts):
            return others
        fits = [one for fact in facts if (one := _fitting(fact, marked.value))]
        if len(fits) > 1 or (fits and kind_of(fits[0].wrong.object or "") in marked.doubtful):
            fits = [one for one in fits if is_misspelt(one.wrong.object or "", one.right[0])]
        if len(fits) == 1:
            return fits
    return []


def _fitting(fact: Fact | Extracted, text: str) -> _Replacement | None:
    values = right_values(text, fact.object or "")
    return _Replacement(fact, values) if len(values) == 1 else None


def _relisted(text: str, facts: Sequence[Fact | Extracted]) -> list[_Replacement]:
    """The facts that a list takes the place of, where it names some of their values again: "Danish and Faroese"."""
    listed = listed_values(text)
    for topic in {_key(fact)[:2] for fact in facts}:
        known = [fact for fact in facts if _key(fact)[:2] == topic]
        again = {_key(fact)[2] for fact in known} & {name_key(value) for value in listed}
        wrong = [fact for fact in known if _key(fact)[2] not in again]
        new = ", ".join(value for value in listed if name_key(value) not in again)
        right = right_values(new, wrong[0].object or "") if again and wrong else ()
        if right:
            return [_Replacement(wrong[0], right), *(_Replacement(one, ()) for one in wrong[1:])]
    return []


def _of_renamed(
    found: Sequence[_Replacement], facts: Sequence[Fact | Extracted]
) -> list[_Replacement]:
    """What is known of something whose name was wrong is so of the right one: its kind, of a cat that is called otherwise."""
    names = {name_key(one.wrong.object or ""): one.right[0] for one in found if len(one.right) == 1}
    return [
        _Replacement(fact, (fact.object or "",), subject=names[name_key(fact.subject)])
        for fact in facts
        if name_key(fact.subject) in names and fact.object
    ]


def _withdrawn(text: str, *, is_next: bool) -> float | None:
    """How sure it is that a message takes back the last one as a whole; None if it does not."""
    known = signs()
    if known.withdrawal.search(text) or (is_next and known.contradiction.search(text)):
        return SURE
    is_unclear = known.meaning.search(text) and len(text.split()) <= SHORT
    return UNSURE if is_unclear or known.contradiction.search(text) else None


def _loosely(value: str) -> str:
    return r"\s+".join(map(re.escape, value.split()))


def _claims_of(one: _Replacement, span: Span) -> Iterator[Extracted]:
    wrong = _retracted(one.wrong, span, confidence=SURE)
    yield wrong
    for value in one.right:
        subject = one.subject or wrong.subject
        yield wrong.model_copy(update={"kind": "corrected", "subject": subject, "object": value})


def _retracted(fact: Fact | Extracted, span: Span, *, confidence: float) -> Extracted:
    return Extracted(
        kind="retracted",
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        confidence=confidence,
        span=span,
    )

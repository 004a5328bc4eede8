"""Corrections: what a message puts right of the messages before it, as in "Sorry, I meant Marie".

It stands apart because the words name the right value alone, or the wrong one with it; which fact was meant, the
earlier messages of the same speaker say.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted

_VALUE = r"(?:(?:in|at|on|to|the|an?|it's|it is) )*(?P<new>[\w+][\w'.@+-]*(?: (?:of )?[A-Z\d][\w'-]*){0,3})"
_OLD = r"(?:(?:in|at|on|to|the|an?) )*(?P<old>[\w+][\w'.@+-]*(?: [A-Z\d][\w'-]*){0,3})"
_LEAD = r"(?i:i (?:actually )?meant(?: to (?:say|write|type))?|make that|should (?:be|have been|read|say)|correction:?|actually,?|oops,?|sorry,?|no,? wait,?|typo[:,]?|rather,?)"
_PAIRS = (
    re.compile(rf"\b(?i:not) {_OLD},? (?:but |it's |it is |rather )?{_VALUE}"),
    re.compile(rf"(?:{_LEAD} )?{_VALUE},? (?:and )?(?i:not|rather than|instead of) {_OLD}"),
    re.compile(rf"{_OLD} should(?: have)? (?:be|been|read|say) {_VALUE}"),
)
_ALONE = re.compile(
    rf"\b{_LEAD} (?:(?i:that's|it's|it is|its|she's called|he's called|is) )?{_VALUE}(?=\s*(?:[.!?;,:)]|-|\Z))"
)
_AT_END = re.compile(rf"(?i:\b(?:it's|it is|that's|called|named|name is))\s+{_VALUE}\s*[.!]*\s*\Z")
_ENOUGH_ALIKE = 50  # of 100
_SHORT = 6  # words


class Correction(NamedTuple):
    """The right value, the wrong one if it is named, and the words that say so."""

    new: str
    old: str
    span: Span


def correction_in(text: str, *, is_marked: bool) -> Correction | None:
    """What a message corrects; only a marked one, such as "I meant …", may leave out what was wrong."""
    for pattern in _PAIRS:
        found = pattern.search(text)
        if found and (is_marked or _is_short(text)):
            return _correction(found)
    if not is_marked:
        return None
    found = _ALONE.search(text) or _AT_END.search(text)
    return _correction(found) if found else None


def _is_short(text: str) -> bool:
    return len(text.split()) <= _SHORT


def _correction(found: re.Match[str]) -> Correction:
    groups = found.groupdict()
    old = groups.get("old") or ""
    return Correction(
        groups["new"].strip(" .,"), old.strip(" .,"), Span(start=found.start(), end=found.end())
    )


def corrected_claims(
    correction: Correction, earlier: Sequence[Sequence[Extracted]]
) -> Iterator[Extracted]:
    """The claims that a correction puts right: of the latest message that has such a value.

    Args:
        correction: What was said.
        earlier: What the speaker's earlier messages claimed, the latest last.
    """
    for claims in reversed(earlier):
        wrong = _wrong(
            correction, [each for each in claims if each.kind in {"affirmed", "corrected"}]
        )
        if wrong is not None and wrong.object is not None:
            new = _replaced(wrong.object, correction)
            yield wrong.model_copy(
                update={
                    "kind": "retracted",
                    "span": correction.span,
                    "valid_from": None,
                    "valid_to": None,
                }
            )
            yield wrong.model_copy(
                update={"kind": "corrected", "object": new, "span": correction.span}
            )
            return
        if claims:
            return


def _replaced(value: str, correction: Correction) -> str:
    """The wrong value with its wrong part replaced, if only a part of it was named."""
    if correction.old and name_key(correction.old) != name_key(value):
        return re.sub(
            re.escape(correction.old), lambda _: correction.new, value, flags=re.IGNORECASE
        )
    return correction.new


def _wrong(correction: Correction, claims: Sequence[Extracted]) -> Extracted | None:
    if correction.old:
        named = [each for each in claims if name_key(correction.old) in name_key(each.object or "")]
        return named[0] if named else None
    alike = [
        each
        for each in claims
        if _shape(each.object or "") == _shape(correction.new)
        and name_key(each.object or "") != name_key(correction.new)
    ]
    if len(alike) == 1:
        return alike[0]
    ranked = sorted(alike, key=lambda each: ratio(each.object or "", correction.new), reverse=True)
    return (
        ranked[0]
        if ranked and ratio(ranked[0].object or "", correction.new) >= _ENOUGH_ALIKE
        else None
    )


def _shape(value: str) -> str:
    """What kind of value it is by its looks: an address, a number, a name or plain words."""
    if "@" in value:
        return "address"
    if any(map(str.isdigit, value)):
        return "number"
    return "name" if value[:1].isupper() else "words"

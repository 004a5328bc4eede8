"""Finds who speaks, and when, in a line that begins with a name as transcripts write it.

Every meeting tool writes that in its own form.
"""

import re
from typing import Literal, NamedTuple

from mnestic.starter.importers.speaker_words import is_name

_LONGEST_HEAD = 400  # characters in which the name and the time stand
_MARKS = r"(?:[*_`]|</?(?:b|strong|em|i)>){0,3}"
_SPACE = r"[ \t\u00a0\u202f]"
CLOCK = r"\d{1,3}[:h]\d\d(?::\d\d)?(?:[.,]\d{1,3})?(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\b\.?)?"
_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
_WHEN = rf"(?<!\d)(?:(?:[Tt]oday|[Yy]esterday) at )?(?:(?:{_DAY})(?:T|,?{_SPACE}{{1,3}}))?{CLOCK}(?:Z\b|[+-]\d\d:\d\d)?(?![\d:]*\d)"
_IN_BRACKETS = r"[^\[\]()\n]{0,40}?"
_BRACKETED_TIME = rf"[\[(]{_IN_BRACKETS}(?<!\d){CLOCK}{_IN_BRACKETS}[\])]"
_LETTER = r"[^\W\d_]"
_REST = r"[^\s:\uff1a()\[\]<>|,;!?\"#=*`~\u2013\u2014]{0,40}"
_NAME = rf"@?{_LETTER}{_REST}(?:(?:,? {_LETTER}| \d){_REST}){{0,6}}"
_PREFIX = rf"{_SPACE}{{0,3}}(?P<quote>(?:>{_SPACE}?){{0,3}})"
_PREFIX += rf"(?P<item>(?:[-*+\u2022]|\d{{1,3}}[.)]){_SPACE}{{1,3}})?"
_PREFIX += r"(?:[^\w\s!-/:-@\[-`{-~]{1,4} )?"  # a picture
_BEFORE = (
    rf"(?:(?P<before>{_BRACKETED_TIME}|{_WHEN}){_MARKS}"
    rf"{_SPACE}{{0,3}}(?:[-\u2013\u2014|\u00b7]{_SPACE}{{0,3}})?)"
)
_AFTER = rf"(?:{_SPACE}{{0,3}}[,\u00b7|\u2013\u2014-]?{_SPACE}{{0,3}}{_MARKS}(?P<after>{_BRACKETED_TIME}|{_WHEN}))"
# Such as (Guest), the target of a link, or an address.
_ASIDE = rf"(?:{_SPACE}?[\[(][^\[\]()\n:]{{1,40}}[\])]|\([^()\s]{{1,80}}\)|{_SPACE}?<[^<>\s@]{{1,60}}@[^<>\s]{{1,60}}>)?"
_COLON = rf"{_SPACE}?(?::{_MARKS}(?={_SPACE}|$)|\uff1a{_MARKS})"
_WHO = (
    rf"{_MARKS}(?:<(?P<nick>{_NAME})>|\[{{0,2}}(?P<name>{_NAME})\]{{0,2}}{_MARKS}{_ASIDE}{_MARKS})"
)
_DASH = rf"(?:{_SPACE}[-\u2013\u2014](?={_SPACE}))"
_END = rf"(?={_SPACE}|$)"
# A name in bold with a colon may have any words.
_BOLD = r"\*\*(?P<name>[^*:\n]{1,300}?)(?::\*\*|\*\*" + rf"{_SPACE}?:)(?={_SPACE}|$)"
_FORMS = (
    re.compile(
        rf"{_PREFIX}{_MARKS}{_BEFORE}?{_WHO}{_AFTER}?{_MARKS}{_COLON}"
        rf"(?:{_SPACE}{{0,3}}(?P<then>{_BRACKETED_TIME}))?"
    ),
    re.compile(rf"{_PREFIX}{_BOLD}"),
    re.compile(rf"{_PREFIX}{_MARKS}{_BEFORE}<(?P<name>{_NAME})>{_MARKS}"),
    re.compile(rf"{_PREFIX}\*\*(?P<name>{_NAME}){_ASIDE}(?:\*\*)?{_AFTER}(?:\*\*)?{_END}{_DASH}?"),
    re.compile(rf"{_PREFIX}(?:\*\*)?{_BEFORE}(?:\*\*)?(?P<name>{_NAME}){_ASIDE}\*\*{_END}{_DASH}?"),
)
_UNSURE_FORMS = (
    re.compile(rf"{_PREFIX}(?P<name>{_NAME}) (?P<after>{_BRACKETED_TIME}){_END}{_DASH}?(?=.)"),
    re.compile(rf"{_PREFIX}(?P<before>{_BRACKETED_TIME}) (?P<name>{_NAME}){_DASH}"),
    re.compile(rf"{_PREFIX}\*\*(?P<name>{_NAME}){_ASIDE}\*\*{_DASH}"),
)
_NAME_LINE = re.compile(rf"{_PREFIX}{_MARKS}(?P<name>{_NAME}){_MARKS}{_ASIDE}{_MARKS}:?{_MARKS}")
_NAME_AND_TIME = re.compile(
    rf"{_PREFIX}{_MARKS}{_BEFORE}?(?P<name>{_NAME}){_MARKS}{_ASIDE}{_AFTER}?{_MARKS}:?{_MARKS}"
)
_TIME_LINE = re.compile(rf"{_SPACE}{{0,3}}{_MARKS}(?:{_BRACKETED_TIME}|{_WHEN}){_MARKS}")
_TIME_FIRST = re.compile(rf"{_PREFIX}{_MARKS}(?:{_BRACKETED_TIME}|{_WHEN}(?={_SPACE}))")
_AROUND = " *@\u00a0"
_SENTENCE = re.compile(
    r".*[.!?\u2026\u3002\uff01\uff1f\u061f\u0964][\"'\u201d\u2019)*_]*|(?:\S+\s+){4,}\S.*",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\([\[\]()<>*_-])")

Evidence = Literal["certain", "likely", "possible", "unsure", "bare"]


class SpokenLine(NamedTuple):
    """A line with its speaker, its text, and its time if it has one.

    A line alone shows a speaker for certain where a time stands with a name in a form that nothing else has;
    a name before a colon is likely one where a sentence follows, and possible where less does. Others are unsure,
    until somebody is known to speak in the file. A bare one stands above a list or the like, and speaks if it
    comes again.
    `lines` is how many lines name the speaker and the time.
    """

    speaker: str
    when: str | None
    text: str
    evidence: Evidence
    begins_with_time: bool = False
    is_item: bool = False
    is_quoted: bool = False
    lines: int = 1


def find_spoken(line: str, following: str, beneath: str = "") -> SpokenLine | None:
    """The speaker of a line, or of the lines below it if it is only a name with a time.

    Args:
        line: Of Markdown, without its end.
        following: The line below.
        beneath: The next line that is not blank.
    """
    line = _ESCAPED.sub(r"\1", line[:_LONGEST_HEAD]) + line[_LONGEST_HEAD:]
    head = line[:_LONGEST_HEAD]
    for form in (*_FORMS, *_UNSURE_FORMS):
        match = form.match(head)
        if match is not None and is_name(_name_in(match), is_free="**" in match[0]):
            text = line[match.end() :].strip()
            words = text or following or ("**" in match[0] and beneath) or ""
            return _spoken(match, text, evidence=_evidence_of(match, words))
    return _find_above(head, following) if len(line) <= _LONGEST_HEAD else None


def find_in_heading(title: str) -> SpokenLine | None:
    """Who may speak below a heading that is a name, with or without a time."""
    match = _NAME_AND_TIME.fullmatch(title[:_LONGEST_HEAD])
    if match is None or not is_name(_name_in(match)):
        return None
    if _when_in(match) is not None:
        return _spoken(match, "", evidence="certain")
    return _spoken(match, "", evidence="likely" if title.rstrip("*_ ")[-1] == ":" else "unsure")


def begins_with_time(line: str) -> bool:
    """Whether a line begins with a time, as a turn of a transcript does."""
    return _TIME_FIRST.match(line[:_LONGEST_HEAD]) is not None


def is_item(line: str) -> bool:
    """Whether a line is an item of a list."""
    match = re.match(_PREFIX, line[:_LONGEST_HEAD])
    return match is not None and match["item"] is not None


def _find_above(line: str, following: str) -> SpokenLine | None:
    alone = _NAME_LINE.fullmatch(line)
    if alone is not None and is_name(_name_in(alone)) and _TIME_LINE.fullmatch(following):
        above = _spoken(alone, "", evidence="certain")
        return above._replace(when=following.strip(), lines=2)
    both = _NAME_AND_TIME.fullmatch(line)
    when = None if both is None else _when_in(both)
    if both is None or when is None or not is_name(_name_in(both)):
        return None
    is_in_brackets, is_full_name = when[0] in "[(", " " in _name_in(both)
    if both["before"] is not None:
        is_certain = is_in_brackets and is_full_name
    else:
        is_certain = is_in_brackets or is_full_name or when[-1] in ".mM"
    if not following.strip() and not (is_certain and both["before"] is None):
        return None
    if not is_certain and begins_with_time(following):
        return None  # lines of a schedule, such as `Breakfast 8:00`
    return _spoken(both, "", evidence="certain" if is_certain else "unsure")


def is_sentence(text: str) -> bool:
    """Whether a text reads like speech: it ends as a sentence does, or has five words or more."""
    return _SENTENCE.fullmatch(text.strip()) is not None


def _evidence_of(match: re.Match[str], words: str) -> Evidence:
    """The strength of the evidence that a name before or above a text is its speaker."""
    when, after = _when_in(match), match.groupdict().get("after")
    is_above = match.end() >= len(match.string.rstrip()) and "**" not in match[0]
    if when is None and is_above:
        return "unsure" if is_sentence(words) and not is_item(words) else "bare"
    if match.re in _UNSURE_FORMS or (when is None and "," in _name_in(match)):
        return "unsure"
    is_plain = after is not None and after[0] not in "[(" and "**" not in match[0]
    if when is not None and not is_plain:  # plain as in `Lunch 12:30: soup`
        return "certain"
    is_numbered = (match["item"] or "-")[0].isdigit()
    return "likely" if is_sentence(words) and not is_numbered else "possible"


def _spoken(match: re.Match[str], text: str, *, evidence: Evidence) -> SpokenLine:
    parts = match.groupdict()
    return SpokenLine(
        speaker=_name_in(match),
        when=_when_in(match),
        text=text,
        evidence=evidence,
        begins_with_time=parts.get("before") is not None,
        is_item=parts["item"] is not None,
        is_quoted=bool(parts["quote"]),
    )


def _name_in(match: re.Match[str]) -> str:
    group = "nick" if match.groupdict().get("nick") else "name"
    name = match[group].strip(_AROUND)
    is_slanted = match.string[: match.start(group)].endswith("_")
    return name.strip("_") if is_slanted else name


def _when_in(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    return parts.get("before") or parts.get("after") or parts.get("then")

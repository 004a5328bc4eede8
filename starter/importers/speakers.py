"""Decides which names before a colon, with a time or in headings are speakers of a Markdown file.

A line alone does not show it: `Plan: …` looks like `Mara: …`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from mnestic.starter.importers.markdown_lines import MarkdownLine
from mnestic.starter.importers.speaker_words import (
    begins_sentence,
    is_label,
    is_name,
    is_role,
)
from mnestic.starter.importers.spoken_lines import (
    SpokenLine,
    begins_with_time,
    find_in_heading,
    find_spoken,
    is_item,
)

_TWICE = 2
_YEAR = re.compile(r"\d{4}")  # a heading with a date begins a session
_WORD = re.compile(r"[\w.'\u2019-]+")


class SpokenTurns(NamedTuple):
    """The lines of a file that begin turns, by their numbers.

    `nameless` lines begin turns whose speaker is missing; `labelled` ones begin with a label, which is no part of
    the turns before it.
    """

    begin: Mapping[int, SpokenLine]
    nameless: frozenset[int] = frozenset()
    labelled: frozenset[int] = frozenset()


class _Heading(NamedTuple):
    parent: int  # the number of its line
    level: int
    number: int
    found: SpokenLine


def find_turns(
    lines: Sequence[MarkdownLine], *, properties: str = "", is_dialogue: bool = False
) -> SpokenTurns:
    """The lines that begin turns, with their speakers.

    A name speaks where a time stands with it, where it is a role, says a sentence, comes twice, or others
    speak beside it. A heading's name speaks where it comes twice below one heading in turn with others, or
    speaks elsewhere. A label never speaks.

    Args:
        lines: Of the file.
        properties: Of the file's front matter; who is named there is a person.
        is_dialogue: Somebody else is known to speak in the paragraphs that name nobody.
    """
    spoken = dict(_spoken_lines(lines))
    counts = Counter(_key(one.speaker) for one in spoken.values())
    labelled = {
        number
        for number, one in spoken.items()
        if _is_label(one, is_again=counts[_key(one.speaker)] >= _TWICE)
    }
    spoken = {number: one for number, one in spoken.items() if number not in labelled}
    named = {word.casefold() for word in _WORD.findall(properties)}
    evidence = _Evidence(counts, named, is_dialogue)
    if not evidence.shows_conversation(spoken.values()):
        spoken = {}
    names = {_key(one.speaker) for one in spoken.values()}
    spoken |= _speaking_headings(lines, known=names | named)
    if not spoken:
        return SpokenTurns({})
    return SpokenTurns(spoken, frozenset(_nameless(lines, spoken)), frozenset(labelled))


def _spoken_lines(lines: Sequence[MarkdownLine]) -> Iterator[tuple[int, SpokenLine]]:
    beneath = [""]  # of the lines from the last one up: the next text
    for line in reversed(lines):
        beneath.append(beneath[-1] if line.kind == "blank" else line.text * (line.kind == "text"))
    beneath.reverse()
    for line, following, next_text in zip_longest(lines, lines[1:], beneath[1:]):
        if line.kind == "text":
            below = following.text if following is not None and following.kind == "text" else ""
            found = find_spoken(line.text, below, next_text)
            if found is not None:
                yield line.number, found


def _is_label(one: SpokenLine, *, is_again: bool) -> bool:
    if one.evidence == "bare" and not is_again:
        return True
    is_certain = is_again or one.evidence == "certain"
    return is_label(one.speaker, is_certain=is_certain) or (
        one.evidence == "unsure" and begins_sentence(one.speaker)
    )


class _Evidence(NamedTuple):
    """The evidence that a file has speakers."""

    counts: Mapping[str, int]
    named: set[str]
    is_dialogue: bool

    def shows_conversation(self, spoken: Iterable[SpokenLine]) -> bool:
        """Whether one line certainly has a speaker, or several probably have."""
        lines = list(spoken)
        unsure = {
            _key(one.speaker)
            for one in lines
            if one.evidence == "unsure" and bool(one.text) == bool(one.when)
        }
        return len(unsure) >= _TWICE or any(map(self._speaks, lines))

    def _speaks(self, one: SpokenLine) -> bool:
        name = _key(one.speaker)
        if one.evidence == "certain" or self.counts[name] >= _TWICE:
            return True
        if one.evidence not in {"likely", "possible"}:
            return False
        is_known = is_role(one.speaker) or self.named.issuperset(name.split())
        is_speech = one.evidence == "likely" or (self.is_dialogue and bool(one.text))
        return is_known or (is_speech and is_name(one.speaker))


def _speaking_headings(
    lines: Sequence[MarkdownLine], *, known: set[str]
) -> Iterator[tuple[int, SpokenLine]]:
    groups: dict[tuple[int, int], list[_Heading]] = defaultdict(list)
    for heading in _named_headings(lines):
        groups[heading.parent, heading.level].append(heading)
    for headings in groups.values():
        names = [_key(heading.found.speaker) for heading in headings]
        alternate = _alternate(names) or (
            len(set(names)) > 1 and all(one.found.evidence == "likely" for one in headings)
        )
        for heading in headings:
            found = heading.found
            if alternate or found.when is not None or _key(found.speaker) in known:
                yield heading.number, found


def _alternate(names: Sequence[str]) -> bool:
    """Whether several speak in turn: one of them again, or in roles such as user and assistant."""
    different = set(names)
    is_again = len(names) > len(different) > 1
    return is_again or sum(map(is_role, different)) >= _TWICE


def _named_headings(lines: Iterable[MarkdownLine]) -> Iterator[_Heading]:
    above: list[tuple[int, int]] = [(0, 0)]
    for line in lines:
        if line.kind != "heading":
            continue
        while above[-1][0] >= line.level:
            above.pop()
        found = None if _YEAR.search(line.text) else find_in_heading(line.text)
        if found is not None and not is_label(found.speaker, is_certain=False):
            yield _Heading(above[-1][1], line.level, line.number, found)
        above.append((line.level, line.number))


def _nameless(lines: Iterable[MarkdownLine], spoken: Mapping[int, SpokenLine]) -> Iterator[int]:
    """Lines that begin with a time, as turns of this file do, but with no name."""
    forms = {(one.begins_with_time, one.is_item) for one in spoken.values()}
    is_open = False
    skipped = 0
    for line in lines:
        if line.kind in {"blank", "heading"}:
            is_open = line.number in spoken
        if line.kind != "text":
            continue
        if line.number in spoken:
            is_open, skipped = True, spoken[line.number].lines - 1
        elif skipped:
            skipped -= 1
        else:
            in_form = (True, is_item(line.text)) in forms
            if begins_with_time(line.text) and (in_form or not (is_open or is_item(line.text))):
                yield line.number
            is_open = True


def _key(name: str) -> str:
    return " ".join(name.casefold().split())

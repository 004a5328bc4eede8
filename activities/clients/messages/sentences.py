"""Which sentences of a message state something: no question, supposition, order, or what is taken back.

It stands before everything else, since what is left out here can never become a fact.
"""

# ruff: noqa: RUF001 (marks of other scripts are meant)

import re
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from mnestic.activities.clients.messages.genres import is_report
from mnestic.activities.clients.messages.patterns import Pattern
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("sentences.yaml")
_LONGEST = 1200
_ASKED = re.compile(r"[?？؟][\"'”’»)\]\s\W]*$")


class _Signs(BaseModel):
    """`sentences.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    doubt: Pattern
    reported: Pattern
    almost_length: Pattern
    taken_back: Pattern
    requests: Pattern
    own_notes: Pattern
    amendments: Pattern
    lead_ins: Pattern


class Sentence(NamedTuple):
    """Characters `start` up to `end` of the masked message, and whether they state something."""

    start: int
    end: int
    is_stated: bool


def mask_lead_ins(masked: str) -> str:
    """The message without what only leads up to what is so, such as "it turns out", place for place."""
    return _signs().lead_ins.sub(lambda found: " " * len(found[0]), masked)


def sentences_of(masked: str) -> list[Sentence]:
    """The sentences of a masked message, in their order.

    None of them states anything when the message is a joke or a story, or gives orders to
    whoever reads it. One that is too long to be a sentence states nothing either.
    """
    is_serious = is_report(masked)
    signs = _signs()
    found: list[Sentence] = []
    place = 0
    for text in split_sentences(masked):
        start = masked.index(text, place)
        place = start + len(text)
        back = signs.taken_back.search(text)
        if back:
            found = [each._replace(is_stated=False) for each in found]
            found.append(Sentence(start, start + back.end(), is_stated=False))
            text, start = text[back.end() :], start + back.end()  # noqa: PLW2901 - what follows it
        if found and signs.amendments.match(text):
            found[-1] = found[-1]._replace(is_stated=False)
        own = signs.own_notes.match(text)
        is_stated = is_serious and len(text) <= _LONGEST and _is_statement(text, is_own=bool(own))
        found.append(Sentence(start + (own.end() if own else 0), place, is_stated))
    return found


def _signs() -> _Signs:
    signs: _Signs = read_word_lists(_FILE, _Signs)["en"]
    return signs


def _is_statement(text: str, *, is_own: bool) -> bool:
    signs = _signs()
    if _ASKED.search(text) or signs.reported.search(text):
        return False
    if signs.requests.match(text) and not is_own:
        return False
    return not signs.doubt.search(signs.almost_length.sub("", text))

"""Whose words a sentence is: the speaker's, or those of somebody whom a label before them names.

It stands apart because a label, such as "Tom:" or "Here is his bio:", speaks for what comes after it, and
not only for its own sentence.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from mnestic.activities.clients.messages.sentences import Sentence
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("voices.yaml")
_WORD = re.compile(r"[^\W_]+(?:[&+.-][^\W_]+)*|'[^\W_]+|_+|[^\w\s]")
_NEAR = 8  # words within which a first person after a label is the label's
_LONGEST_LABEL = 8


class _Labels(BaseModel):
    """`voices.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first_person: frozenset[str]
    headings: frozenset[str]
    own: frozenset[str]
    others: frozenset[str]


def is_speakers_voice(sentences: Sequence[Sentence], *, text: str, speaker: str) -> Iterator[bool]:
    """Whether the speaker says each sentence of a message.

    Args:
        sentences: Those of the text, in their order.
        text: The whole message, with straight apostrophes; a label holds up to the end of its line, one
            that stands alone up to an empty line.
        speaker: Who wrote the message.
    """
    labels: _Labels = read_word_lists(_FILE, _Labels)["en"]
    until = -1
    for sentence in sentences:
        words = list(_WORD.finditer(text, sentence.start, sentence.end))
        if not words:
            yield True
            continue
        label = _label(words)
        if label is not None and not _is_own(words[:label], speaker, labels=labels):
            follows = words[label + 1 : label + 1 + _NEAR]
            if not follows or any(_low(word) in labels.first_person for word in follows):
                until = _end(text, words[label].end(), alone=not follows)
                yield False
                continue
        elif label is not None:
            until = -1
        yield words[0].start() >= until


def _low(word: re.Match[str]) -> str:
    return word[0].lower()


def _label(words: Sequence[re.Match[str]]) -> int | None:
    """Where the colon of a label stands; none in a time of day, nor late in a sentence."""
    for index, word in enumerate(words[: _LONGEST_LABEL + 1]):
        if word[0] == ":" and index and not _is_clock(word):
            return index
    return None


def _is_clock(colon: re.Match[str]) -> bool:
    """Whether a colon stands between digits, as in "10:30"."""
    before, after = colon.start() - 1, colon.end()
    return colon.string[before : before + 1].isdigit() and colon.string[after : after + 1].isdigit()


def _is_own(words: Sequence[re.Match[str]], speaker: str, *, labels: _Labels) -> bool:
    lows = [_low(word) for word in words]
    if name_key(" ".join(word[0] for word in words)) == name_key(speaker):
        return True
    if not labels.others.isdisjoint(lows):
        return False
    return lows[-1] in labels.headings or not labels.own.isdisjoint(lows)


def _end(text: str, place: int, *, alone: bool) -> int:
    end = text.find("\n\n" if alone else "\n", place)
    return len(text) if end < 0 else end

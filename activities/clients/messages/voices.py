"""Whose words a sentence is: the speaker's, or those of somebody whom a label before them names.

It stands apart because a label, such as "Tom:" or "Here is his bio:", speaks for what comes after it, and
not only for its own sentence.
"""

# ruff: noqa: SIM905 (word lists read best as text)

from collections.abc import Iterator, Sequence

from mnestic.activities.clients.rules.lexing import Word
from mnestic.memory.knowledge.claims import name_key

_FIRST = frozenset({"i", "my", "we", "our", "me", "us"})
_NEAR = 8  # words within which a first person after a label is the label's
_LONGEST_LABEL = 8
# What one's own words come after, the last word before the colon.
_HEADINGS = frozenset(
    "update updates news correction confession edit reminder fact facts status secret listen me myself thing "
    "things context note notes record background introduction intro deal truth point admission disclosure "
    "clear short breaking ps today yesterday tonight again also plus so well ok okay yes no yeah all hi hello hey "
    "dear profile summary details info bio answer answers data likes dislikes hobbies work family home "
    "question reason problem issue plan plans goal result warning disclaimer answer spoiler true "
    "laugh worry panic what not anyone anybody".split()
)
_OWN = frozenset({"i", "we", "there"})
_ANOTHERS = frozenset(
    "his her their your 's he she they said says wrote writes reads replied replies explained asked answered added recalled sang sings goes quote caption lyrics".split()
)


def is_speakers_voice(
    sentences: Sequence[Sequence[Word]], *, text: str, speaker: str
) -> Iterator[bool]:
    """Whether the speaker says each sentence of a message.

    Args:
        sentences: The words of each, in their order.
        text: The whole message; a label holds up to the end of its line, one that stands alone up to an
            empty line.
        speaker: Who wrote the message.
    """
    until = -1
    for words in sentences:
        if not words:
            yield True
            continue
        label = _label(words)
        if label is not None and not _is_own(words[:label], speaker):
            follows = words[label + 1 : label + 1 + _NEAR]
            if not follows or any(word.low in _FIRST for word in follows):
                until = _end(text, words[label].end, alone=not follows)
                yield False
                continue
        elif label is not None:
            until = -1
        yield words[0].start >= until


def _label(words: Sequence[Word]) -> int | None:
    """Where the colon of a label stands; none in a time of day, nor late in a sentence."""
    for index, word in enumerate(words[: _LONGEST_LABEL + 1]):
        if word.low == ":" and index and not words[index - 1].low.isdigit():
            return index
    return None


def _is_own(label: Sequence[Word], speaker: str) -> bool:
    lows = [word.low for word in label]
    if name_key(" ".join(word.text for word in label)) == name_key(speaker):
        return True
    if not _ANOTHERS.isdisjoint(lows):
        return False
    return lows[-1] in _HEADINGS or not _OWN.isdisjoint(lows)


def _end(text: str, place: int, *, alone: bool) -> int:
    end = text.find("\n\n" if alone else "\n", place)
    return len(text) if end < 0 else end

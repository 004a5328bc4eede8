"""Notes: what a person has written down beside memory, such as in an Obsidian vault.

The sources of notes, which are stores, and those who put notes before a message share these values and nothing else.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from pydantic import ConfigDict

from mnestic.memory.canonical import check_text, storable
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.language.sentences import cut_text, split_sentences

LONGEST_NOTE = 500  # characters of it in a prompt
MOST_TAGGED = 20  # notes
_MOST_NAMES = 500  # that are looked for among the subjects of facts
_NAME = re.compile(r"[^\W_][\w'\u2019-]*")
_NAME_WORDS = 3
_SHORTEST_VALUE = 3  # characters; a shorter one stands in sentences about other things


class NoteSelection(DeferredModel):
    """Selects notes: some by their paths in the vault, and those with a tag if one is given."""

    model_config = ConfigDict(frozen=True)

    paths: tuple[str, ...] = ()
    tag: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it selects none."""
        return not self.paths and not self.tag


class Note(DeferredModel):
    """A note: its path in the vault, and its beginning."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    path: str
    content: str


class SkippedNote(DeferredModel):
    """A selected note that is left out, and why."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    path: str
    why: str


class NoteResults(DeferredModel):
    """The selected notes, those by path first, then the tagged, the newest first."""

    model_config = ConfigDict(frozen=True)

    notes: tuple[Note, ...] = ()
    skipped: tuple[SkippedNote, ...] = ()


def check_path(path: str) -> None:
    """Refuses a note whose name cannot be shown.

    Raises:
        InvalidInputError: the path is no text, as of a file whose name is not UTF-8.
    """
    try:
        check_text(path, what="path")
    except InvalidInputError as error:
        raise InvalidInputError(what=storable(path), why=f"has a name that {error.why}") from None


def excerpt(text: str) -> str:
    """The beginning of a note: about `LONGEST_NOTE` characters, cut at a sentence's end.

    Where that would leave less than half of them, such as a heading alone, it is cut after a word.
    """
    return cut_text(text, LONGEST_NOTE, least_chars=LONGEST_NOTE // 2)


def select_notes(
    named: Sequence[str], tagged: Sequence[str]
) -> tuple[tuple[str, ...], tuple[SkippedNote, ...]]:
    """Selects notes, each once: those by path, then the tagged up to the limit.

    Args:
        named: The selected paths.
        tagged: Paths of the notes with the tag, those that changed last first.

    Returns:
        The paths, and what says how many are left out.
    """
    others = [path for path in tagged if path not in named]
    chosen = tuple(dict.fromkeys((*named, *others[:MOST_TAGGED])))
    if len(others) <= MOST_TAGGED:
        return chosen, ()
    why = f"have the tag too; the {MOST_TAGGED} that changed last are told"
    return chosen, (SkippedNote(path=f"{len(others) - MOST_TAGGED} notes", why=why),)


def names_in(notes: Iterable[Note]) -> tuple[str, ...]:
    """What may be the name of a fact's subject: the names of the notes, and capitalised words in a row."""
    found: dict[str, None] = {}
    for note in notes:
        found[PurePosixPath(note.path).stem] = None
        for sentence in split_sentences(note.content):
            found |= dict.fromkeys(_capitalised(sentence))
    return tuple(found)[:_MOST_NAMES]


def without_replaced(results: NoteResults, facts: Iterable[Fact]) -> NoteResults:
    """The notes without sentences that state what a fact of one value has replaced.

    Args:
        results: The notes.
        facts: What is and was believed of the subjects that they name (`names_in`).
    """
    values = _ReplacedValues(facts)
    notes, skipped = [], [*results.skipped]
    for note in results.notes:
        content = note.content
        for sentence in split_sentences(content):
            if values.has(sentence, path=note.path):
                content = content.replace(sentence, "", 1)
        if content != note.content:
            why = "has sentences whose facts were replaced"
            skipped.append(SkippedNote(path=note.path, why=why))
        if content.strip():
            notes.append(note.model_copy(update={"content": content}))
    return NoteResults(notes=tuple(notes), skipped=tuple(skipped))


class _ReplacedValues:
    """Values that facts had, with those that are in their place."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._replaced: list[Fact] = []
        self._current: dict[tuple[str, str], list[str]] = {}
        for fact in facts:
            if fact.status == "active" or fact.end == "faded":  # which nothing has replaced
                self._current.setdefault(_topic(fact), []).append(fact.object)
            elif fact.cardinality == "single" and len(fact.object) >= _SHORTEST_VALUE:
                self._replaced.append(fact)

    def has(self, sentence: str, *, path: str) -> bool:
        """Whether a sentence of a note states a replaced value, and not the current one."""
        return any(
            _states(sentence, fact, path=path)
            and not any(_has(sentence, value) for value in self._current.get(_topic(fact), ()))
            for fact in self._replaced
        )


def _topic(fact: Fact) -> tuple[str, str]:
    return name_key(fact.subject), fact.predicate


def _capitalised(sentence: str) -> Iterator[str]:
    """Up to three words in a row, of which the first and the last are capitalised."""
    words = _NAME.findall(sentence)
    for start, word in enumerate(words):
        for end in range(start + 1, min(start + _NAME_WORDS, len(words)) + 1):
            if word[0].isupper() and words[end - 1][0].isupper():
                yield " ".join(words[start:end])


def _states(sentence: str, fact: Fact, *, path: str) -> bool:
    """Whether a sentence of a note has the value of a fact, and names its subject, or the note does."""
    is_about = name_key(PurePosixPath(path).stem) == name_key(fact.subject)
    return _has(sentence, fact.object) and (is_about or _has(sentence, fact.subject))


def _has(sentence: str, text: str) -> bool:
    """Whether a sentence has a text, as whole words, in any case."""
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", sentence, re.IGNORECASE) is not None

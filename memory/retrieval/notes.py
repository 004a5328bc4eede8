"""Notes: what a person has written down beside memory, such as in an Obsidian vault.

It stands alone because the sources of notes, which are stores, and those who put notes before a message
share these values and nothing else.
"""

from collections.abc import Sequence

from pydantic import ConfigDict

from mnestic.memory.canonical import check_text, storable
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.language.sentences import cut_text

LONGEST_NOTE = 500  # characters of it in a prompt
MOST_TAGGED = 20  # notes


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
